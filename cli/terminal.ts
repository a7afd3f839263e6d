import { styleText } from 'node:util';

/** The fields of a `tty.WriteStream` that are used. */
interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

interface TerminalOptions {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
}

type Format = Parameters<typeof styleText>[0];

/**
 * Standard output for results, standard error for everything else. Colours are used only on a terminal, and
 * not if `NO_COLOR` is set.
 */
export class Terminal {
  private progressShown = false;

  constructor(private readonly options: TerminalOptions) {}

  /** Whether a person reads the results, and not a program. */
  get isInteractive(): boolean {
    return this.options.stdout.isTTY === true;
  }

  /** Characters per line of the results; undefined if a program reads them, or the width is not known. */
  get width(): number | undefined {
    return this.isInteractive ? this.options.stdout.columns : undefined;
  }

  /** Writes to standard output, with a line break at the end. */
  print(text: string): void {
    this.clearProgress();
    this.options.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  }

  /** Writes a line to standard error. */
  warn(text: string): void {
    this.clearProgress();
    this.options.stderr.write(`${text}\n`);
  }

  /** Replaces the whole content of the terminal. */
  redraw(text: string): void {
    this.print(`\u001b[H\u001b[2J\u001b[3J${text}`);
  }

  /**
   * Shows the current activity of a long command on one line of a terminal, replacing the previous text.
   * Nothing is written to a log.
   */
  progress(text: string): void {
    const { stderr } = this.options;
    if (stderr.isTTY !== true) return;
    const width = stderr.columns ?? 80;
    stderr.write(`\r\u001b[2K${text.length < width ? text : `${text.slice(0, width - 2)}…`}`);
    this.progressShown = true;
  }

  clearProgress(): void {
    if (this.progressShown) this.options.stderr.write('\r\u001b[2K');
    this.progressShown = false;
  }

  paint(format: Format, text: string): string {
    const { env } = this.options;
    const isColoured = this.isInteractive && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
    return isColoured ? styleText(format, text, { validateStream: false }) : text;
  }
}
