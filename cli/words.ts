import { Command, type Option } from 'commander';
import { clusterCommand } from './command-context';

/** Words of other tools, with the command that does the same here. */
const SYNONYMS: Readonly<Record<string, string>> = {
  reconcile: 'sync',
  refresh: 'sync',
  annotate: 'sync',
  get: 'status',
  describe: 'status',
  tree: 'status',
  check: 'doctor',
  lint: 'validate',
  unsuspend: 'resume',
  pause: 'suspend',
  import: 'export',
  log: 'logs',
};

/** The command for a word of another tool; undefined if there is none. */
export const synonymOf = (word: string): string | undefined =>
  Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : undefined;

const leading: readonly Option[] = clusterCommand('any').options;

/**
 * Moves cluster options that precede the command behind it. Other kubectl programs accept them in both
 * places.
 */
export function commandFirst(words: readonly string[]): readonly string[] {
  let at = 0;
  while (at < words.length) {
    const [flag = '', value] = words[at]!.split('=', 2);
    const option = leading.find(({ short, long }) => flag === short || flag === long);
    if (option) at += value === undefined ? 2 : 1;
    else if (/^-n.+/.test(flag) || flag === '-A' || flag === '--all-namespaces') at += 1;
    else break;
  }
  const [command, ...rest] = words.slice(at);
  if (command === undefined || command.startsWith('-')) return words;
  return [command, ...words.slice(0, at), ...rest];
}

/** The command `version`, in addition to the option of that name. */
export function versionCommand(version: string, print: (text: string) => void): Command {
  return new Command('version')
    .summary('print the version of this program')
    .description('Prints the version of this program, which is that of the operator that it belongs to.')
    .action(() => print(version));
}
