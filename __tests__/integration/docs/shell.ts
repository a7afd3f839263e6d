import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';

interface ShellResult {
  readonly code: number;
  /** Output on both streams. */
  readonly output: string;
}

/** One bash that runs commands one after another and keeps their variables. */
export class Shell {
  private readonly process: ChildProcessWithoutNullStreams;
  private printed = '';
  private waiting: (() => void) | undefined;

  constructor(cwd: string, environment: Readonly<Record<string, string>>) {
    this.process = spawn('bash', ['--noprofile', '--norc'], {
      cwd,
      env: { ...process.env, ...environment },
      detached: true, // starts a process group
    });
    for (const stream of [this.process.stdout, this.process.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.printed += text;
        this.waiting?.();
      });
  }

  async run(command: string): Promise<ShellResult> {
    const end = randomUUID();
    this.printed = '';
    this.process.stdin.write(`{ ${command}\n} </dev/null 2>&1; echo "${end} $?"\n`);
    for (;;) {
      const [output, code] = this.printed.split(`${end} `);
      if (code?.includes('\n')) return { code: Number(code.trim()), output: output! };
      await new Promise<void>((resolve) => (this.waiting = resolve));
    }
  }

  /** Ends the shell together with the command that it runs. */
  stop(): void {
    try {
      process.kill(-this.process.pid!, 'SIGKILL');
    } catch {
      // the shell has ended already
    }
  }
}
