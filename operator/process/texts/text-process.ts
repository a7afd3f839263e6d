import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Exceeded } from '../../base/bounded-task';
import type { Clock } from '../../base/clock';
import { OperationalError } from '../../base/errors';
import { Timer } from '../../base/timer';
import type { FromChild, ToChild } from './protocol';

/** MB of the heap of the process. */
export const HEAP_LIMIT = 96;

/** Milliseconds within which the process must be ready. */
const START_LIMIT = 30_000;
/**
 * A process that waits for the processor is ended after this many times its time limit, by the wall clock.
 */
const PATIENCE = 8;
const GIVE_UP = 10;

/**
 * The program arrives as the first message: it is too long for an argument, and a file would have to be
 * shipped beside the bundle.
 */
const BOOT = `process.once('message', (program) => new (require('node:vm').Script)('(function(require,module,exports){' + program + '\\n})').runInThisContext()(require, {exports: {}}, {}))`;

/** The process that reads foreign texts cannot be started, or ended while it was idle. */
export class NoTextProcess extends OperationalError {
  override readonly name = 'NoTextProcess';
}

export type TaskResult =
  | { readonly type: 'done'; readonly output: unknown; readonly size: number }
  /** The limit was exceeded. The process has ended, unless only the result was too large. */
  | {
      readonly type: 'ended';
      readonly exceeded: Exceeded;
      readonly part: string;
      /** False if the machine had no processor time for the process. */
      readonly isProof: boolean;
    };

/** Limits of one task, in milliseconds of processor time. */
interface TimeBounds {
  readonly part: number;
  readonly total: number;
}

/**
 * A separate process that runs tasks. A thread with `resourceLimits` would not be safe: where an array, a map
 * or a long string grows beyond the limit, V8 ends the whole process (Node.js 20 and 24).
 */
export class TextProcess {
  private end: (() => void) | undefined;
  private ended = false;

  private constructor(
    private readonly child: ChildProcess,
    private readonly clock: Clock,
  ) {
    child.once('exit', () => {
      this.ended = true;
      this.end?.();
    });
    child.on('error', () => undefined); // a message could not be sent because the process has ended
    child.stdin?.on('error', () => undefined);
  }

  /**
   * @param signal ends the process while it starts
   * @throws NoTextProcess
   */
  static async start(program: string, clock: Clock, signal: AbortSignal): Promise<TextProcess> {
    const flags = [`--max-old-space-size=${HEAP_LIMIT}`, '--max-semi-space-size=1'];
    const child = spawn(process.execPath, [...flags, '-e', BOOT], {
      env: environment(),
      stdio: ['pipe', 'pipe', 'pipe', 'ipc'], // `ignore` would need /dev/null
      serialization: 'advanced', // results contain maps
    });
    child.stdin?.destroy();
    child.stdout?.resume();
    child.stderr?.resume(); // V8 writes about a full heap here
    const started = new TextProcess(child, clock);
    const kill = () => started.kill();
    signal.addEventListener('abort', kill);
    const ready = new Promise<void>((resolve, reject) => {
      const fail = (why: string) => {
        started.kill();
        reject(new NoTextProcess(`cannot start the process that reads texts: ${why}`));
      };
      const cancel = clock.after(START_LIMIT, () => fail(`it is not ready after ${START_LIMIT / 1_000} s`));
      child.once('message', () => {
        cancel();
        started.end = undefined;
        resolve();
      });
      child.once('error', ({ message }) => {
        cancel();
        fail(message);
      });
      started.end = () => {
        cancel();
        fail(`it ended with ${child.exitCode ?? child.signalCode}`);
      };
      if (child.connected) child.send(program);
    });
    await ready.finally(() => signal.removeEventListener('abort', kill));
    return started;
  }

  /** Whether the process can run another task. */
  get isAlive(): boolean {
    return !this.ended && this.child.connected;
  }

  /** Runs one task; calls must not overlap. @throws Error a bug in a task */
  async run(work: Uint8Array, bounds: TimeBounds): Promise<TaskResult> {
    const watch = new Watch(this.clock, this.child.pid!, bounds);
    try {
      return await new Promise<TaskResult>((resolve, reject) => {
        const ended = (exceeded: Exceeded, isProof = true) =>
          resolve({ type: 'ended', exceeded, part: watch.part, isProof });
        watch.start((isProof) => {
          this.kill();
          ended('time', isProof);
        });
        // V8 ends a process whose heap is full, and the kernel ends a process whose container is out of
        // memory.
        this.end = () => ended('memory');
        this.child.removeAllListeners('message');
        this.child.on('message', (message: FromChild) => {
          if (message.type === 'at') watch.next(message.part);
          else if (message.type === 'done') resolve(message);
          else if (message.type === 'exceeded') ended(message.exceeded);
          else if (message.type === 'failed')
            reject(new Error(`bug in a task on a foreign text: ${message.name}`));
        });
        this.child.send({ work, giveUp: bounds.total * GIVE_UP } satisfies ToChild);
        if (!this.isAlive) ended('memory');
      });
    } finally {
      watch.stop();
      this.end = undefined;
    }
  }

  kill(): void {
    this.ended = true;
    this.child.kill('SIGKILL');
  }
}

/**
 * The environment of the process: without the operator's settings and secrets, and without NODE_OPTIONS,
 * which would change the limits.
 */
function environment(): NodeJS.ProcessEnv {
  const kept = ['SystemRoot', 'LD_LIBRARY_PATH'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...(Object.fromEntries(kept) as NodeJS.ProcessEnv), MALLOC_ARENA_MAX: '1' };
}

/** Milliseconds of processor time that a process has used; undefined where the system does not report it. */
function processorTime(pid: number): number | undefined {
  try {
    // The name of the program, in parentheses, may contain spaces. Ticks are hundredths of a second on all
    // Linux systems.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return undefined;
  }
}

/**
 * Milliseconds of the wall clock and of processor time. Both are equal where the system does not report
 * processor time.
 */
interface Moment {
  readonly passed: number;
  readonly used: number;
}

/** Measures the time of a task: processor time where the system reports it, else wall-clock time. */
class Watch {
  /** The part that is being read. */
  part = '';
  private readonly timer: Timer;
  private readonly began: Moment;
  private partBegan: Moment;
  private expire: (isProof: boolean) => void = () => undefined;

  constructor(
    private readonly clock: Clock,
    private readonly pid: number,
    private readonly bounds: TimeBounds,
  ) {
    this.timer = new Timer(clock);
    this.began = this.now();
    this.partBegan = this.began;
  }

  /**
   * @param expire is called when a limit is exceeded; `isProof` is true if that was the limit of processor
   * time
   */
  start(expire: (isProof: boolean) => void): void {
    this.expire = expire;
    this.check();
  }

  next(part: string): void {
    this.part = part;
    this.partBegan = this.now();
  }

  stop(): void {
    this.timer.clear();
  }

  private check(): void {
    const now = this.now();
    const { part, total } = this.bounds;
    const left = (key: 'used' | 'passed', factor: number) =>
      Math.min(
        part * factor - (now[key] - this.partBegan[key]),
        total * factor - (now[key] - this.began[key]),
      );
    const remaining = Math.max(left('used', 1), 0);
    if (remaining === 0 || left('passed', PATIENCE) <= 0) return this.expire(remaining === 0);
    this.timer.set(Math.max(remaining, 10), () => this.check());
  }

  private now(): Moment {
    const passed = this.clock.monotonic();
    return { passed, used: processorTime(this.pid) ?? passed };
  }
}
