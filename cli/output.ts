import { type Command, Option } from 'commander';
import type { Terminal } from './terminal';

export const outputFormats = ['table', 'json', 'yaml'] as const;
export type OutputFormat = (typeof outputFormats)[number];

export const isOutputFormat = (text: string): text is OutputFormat =>
  (outputFormats as readonly string[]).includes(text);

export interface OutputOptions {
  readonly output: OutputFormat;
}

/** Adds the option `-o` of kubectl, with `table` for the form that people read. */
export function withOutput(command: Command): Command {
  return command.addOption(
    new Option('-o, --output <format>', 'form of the result').choices(outputFormats).default('table'),
  );
}

/** Prints a result as data or, for `table`, in the form that people read. */
export async function printResult(
  terminal: Terminal,
  { output }: OutputOptions,
  result: unknown,
  table: () => string,
): Promise<void> {
  terminal.print(await formatResult(output, result, table));
}

/**
 * Results of a command that arrive one after another. People see each as a line at once; as data, all are
 * printed at the end.
 */
export class Results {
  private readonly results: unknown[] = [];

  constructor(
    private readonly terminal: Terminal,
    private readonly options: OutputOptions,
    /** Whether a line is printed for each result. Otherwise the caller prints a table at the end. */
    private readonly showsLines = true,
  ) {}

  add(result: object, line: string): void {
    this.results.push(result);
    if (this.options.output === 'table' && this.showsLines) this.terminal.print(line);
  }

  async end(): Promise<void> {
    if (this.options.output === 'table') return;
    await printResult(this.terminal, this.options, this.results, () => '');
  }
}

export async function formatResult(
  output: OutputFormat,
  result: unknown,
  table: () => string,
): Promise<string> {
  if (output === 'table') return table();
  if (output === 'json') return `${escaped(JSON.stringify(result, undefined, 2))}\n`;
  const { stringify } = await import('./yaml-form');
  return stringify(result, { lineWidth: 0 });
}

/**
 * Escapes control characters in JSON. `JSON.stringify` does not escape some, one of which begins a terminal
 * sequence.
 */
const escaped = (json: string): string =>
  json.replace(/[\u007f-\u009f]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * Text of the cluster or a hub on one line, without the control characters that could change the terminal. If
 * a line that begins with a capital letter is joined to the previous one, that one gets a full stop.
 */
export function oneLine(text: string): string {
  return text
    .replace(/([^\s.:;,!?…])[^\S\n]*\n\s*(?=\p{Lu})/gu, '$1. ')
    .replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim();
}

/**
 * A line of a log with its indentation, without the escape sequences and control characters that could change
 * the terminal.
 */
export function logLine(text: string): string {
  return text
    .replace(/(\u001b\[|\u009b)[0-?]*[ -/]*[@-~]/g, '')
    .replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g, '');
}

/** A number with its noun, such as `1 file` or `2 files`. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/**
 * Breaks a text between words into lines of at most `width` characters. A longer word gets a line of its own.
 */
export function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/**
 * A table with a header. Columns are as wide as their longest value, except the last one, which is not
 * padded.
 */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('   '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}
