import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sourceFiles } from '../../unit/repository/sources';

export interface DocumentedCommand {
  /** Path of the page, such as `docs/tutorial.md`. */
  readonly page: string;
  readonly command: string;
  /** The output that the page shows for the command; empty when it shows none. */
  readonly output: string;
}

export const repository = join(__dirname, '..', '..', '..');

/**
 * Returns every command that README and the pages of docs/ tell a reader to run, in the order of each page.
 */
export function documentedCommands(): readonly DocumentedCommand[] {
  const pages = [...sourceFiles('*.md')].filter(([page]) => /^(README|CONTRIBUTING|docs\/)/.test(page));
  return pages.flatMap(([page, text]) => commandsOf(page, text));
}

/** Returns the commands under a heading of a page, without those under its subheadings. */
export function commandsUnder(page: string, heading: string): readonly string[] {
  const text = readFileSync(join(repository, page), 'utf8');
  const section = text.split(/^(?=#+ )/m).find((part) => /^#+ (.*)/.exec(part)?.[1] === heading);
  if (section === undefined) throw new Error(`${page} has no heading ${heading}`);
  return commandsOf(page, section).map(({ command }) => command);
}

/**
 * Returns the commands of a page. A code block in another language, such as yaml, has none. A block without a
 * prompt is the output of the previous one.
 */
export function commandsOf(page: string, text: string): readonly DocumentedCommand[] {
  const commands: { page: string; command: string; output: string }[] = [];
  for (const [, indent, language, indented] of text.matchAll(/^( *)```(\w+)\n([^]*?)^ *```/gm)) {
    // The block may be indented in a list item.
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

/** Returns the first YAML block of a page that contains a text. */
export function documentedYaml(page: string, containing: string): string {
  const text = readFileSync(join(repository, page), 'utf8');
  for (const [, block] of text.matchAll(/^```yaml\n([^]*?)^```/gm))
    if (block!.includes(containing)) return block!;
  throw new Error(`${page} has no YAML with ${containing}`);
}

/**
 * Returns a pattern for the output on a page: `…` stands for any text, and column spacing, ages and ports may
 * differ.
 */
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
