import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

/** Characters of the standard error that are kept. */
const KEPT = 8_192;

/** Milliseconds between SIGTERM and SIGKILL. */
const GRACE = 1_000;

/** The end of a program: its exit code, the signal that ended it, or the error that prevented its start. */
export interface End {
  readonly code: number | null;
  readonly signal: string | null;
  readonly error?: NodeJS.ErrnoException;
}

/**
 * Signals with which a user or a pipeline ends a command. Ctrl-C is handled by the signal of the environment.
 */
const ENDINGS = ['SIGTERM', 'SIGHUP'] as const;

/** A child process that does not outlive this process. */
export class Child {
  /** The last characters of its standard error. */
  stderr = '';
  readonly end: Promise<End>;
  private readonly process: ChildProcessWithoutNullStreams;

  /** @param stop stops anything else that the program has started, such as a container */
  constructor(
    program: string,
    args: readonly string[],
    private readonly stop: () => void = () => undefined,
  ) {
    this.process = spawn(program, args, { stdio: 'pipe' });
    this.process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr = (this.stderr + text).slice(-KEPT);
    });
    // Input for a program that has ended causes this error; the end of the program tells why.
    this.process.stdin.on('error', () => undefined);
    ENDINGS.forEach((each) => process.on(each, this.onEnding));
    this.end = new Promise<End>((resolve) => {
      this.process.once('error', (error) => resolve({ code: null, signal: null, error }));
      this.process.once('close', (code, signal) => resolve({ code, signal }));
    }).finally(() => ENDINGS.forEach((each) => process.off(each, this.onEnding)));
  }

  get stdout(): NodeJS.ReadableStream {
    return this.process.stdout;
  }

  /** Writes the whole standard input and closes it. */
  give(text: string): void {
    this.process.stdin.end(text);
  }

  /** Ends the program, which has {@link GRACE} to remove its files. */
  kill(): void {
    this.stop();
    this.process.kill('SIGTERM');
    const timer = setTimeout(() => this.process.kill('SIGKILL'), GRACE);
    void this.end.then(() => clearTimeout(timer));
  }

  /** The last line that the program wrote to its standard error, without the lines of a traceback. */
  get lastLine(): string {
    const lines = this.stderr.split('\n').filter((line) => line.trim() !== '' && !line.startsWith(' '));
    return lines.at(-1) ?? '';
  }

  private readonly onEnding = (signal: NodeJS.Signals): void => {
    this.kill();
    ENDINGS.forEach((each) => process.off(each, this.onEnding));
    void this.end.then(() => process.kill(process.pid, signal));
  };
}
