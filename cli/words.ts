import { Command, type Option } from 'commander';
import { clusterCommand } from './command-context';

/** Words of other tools, and the command that does the same. */
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

/** The command of this word in another tool. */
export const synonymOf = (word: string): string | undefined =>
  Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : undefined;

const leading: readonly Option[] = clusterCommand('any').options;

/** The words with the options of the cluster behind the command, where other programs for kubectl take them before it as well. */
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

/** `version`, beside the option of the same name. */
export function versionCommand(version: string, print: (text: string) => void): Command {
  return new Command('version')
    .summary('print the version of this program')
    .description('Prints the version of this program, which is that of the operator that it belongs to.')
    .action(() => print(version));
}
