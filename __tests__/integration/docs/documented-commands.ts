import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sourceFiles } from '../../unit/repository/sources';

export interface DocumentedCommand {
  /** `docs/tutorial.md` */
  readonly page: string;
  readonly command: string;
  /** The lines that the page shows below it; empty: it shows none. */
  readonly output: string;
}

export const repository = join(__dirname, '..', '..', '..');

/** Every command that README and the pages of docs/ tell a reader to run, in the order of each page. */
export function documentedCommands(): readonly DocumentedCommand[] {
  const pages = [...sourceFiles('*.md')].filter(([page]) => /^(README|CONTRIBUTING|docs\/)/.test(page));
  return pages.flatMap(([page, text]) => commandsOf(page, text));
}

/** The commands under a heading of a page, without those under its subheadings. */
export function commandsUnder(page: string, heading: string): readonly string[] {
  const text = readFileSync(join(repository, page), 'utf8');
  const section = text.split(/^(?=#+ )/m).find((part) => /^#+ (.*)/.exec(part)?.[1] === heading);
  if (section === undefined) throw new Error(`${page} has no heading ${heading}`);
  return commandsOf(page, section).map(({ command }) => command);
}

/**
 * In a block of another kind, such as yaml, nothing is run. A block without a prompt is the output of the one before
 * it.
 */
export function commandsOf(page: string, text: string): readonly DocumentedCommand[] {
  const commands: { page: string; command: string; output: string }[] = [];
  for (const [, indent, language, indented] of text.matchAll(/^( *)```(\w+)\n([^]*?)^ *```/gm)) {
    // In an item of a list.
    const block = indented!.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    const isSession = language === 'console';
    if (!isSession && !['sh', 'bash', 'shell'].includes(language!)) continue;
    for (const line of block.replaceAll('\\\n', ' ').split('\n').slice(0, -1)) {
      const last = commands.at(-1);
      if (isSession && line.startsWith('$ '))
        commands.push({ page, command: withoutComment(line.slice(2)), output: '' });
      else if (isSession && last) last.output += `${line}\n`;
      else if (!isSession && /^[^#\s]/.test(line))
        commands.push({ page, command: withoutComment(line), output: '' });
    }
  }
  return commands;
}

/** The first block of YAML of a page that has a text. */
export function documentedYaml(page: string, containing: string): string {
  const text = readFileSync(join(repository, page), 'utf8');
  for (const [, block] of text.matchAll(/^```yaml\n([^]*?)^```/gm))
    if (block!.includes(containing)) return block!;
  throw new Error(`${page} has no YAML with ${containing}`);
}

/** What a page shows, as a pattern: `…` stands for any text; spaces of columns, ages, ports differ. */
export function shownAs(output: string): RegExp {
  const pattern = output
    .trim()
    .split('…')
    .map((part) => part.split(/\s+/).map(wordPattern).join('\\s+'))
    .join('[^]*?');
  return new RegExp(`^\\s*${pattern}\\s*$`);
}

function wordPattern(word: string): string {
  if (/^(\d+[smhd])+$/.test(word)) return '(\\d+[smhd])+';
  return word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/(127\\\.0\\\.0\\\.1):\d+/g, '$1:\\d+');
}

const withoutComment = (command: string): string => command.replace(/ {2,}# .*$/, '').trim();
