import { createHash } from 'node:crypto';
import { serialize } from 'node:v8';
import type { Bounded, BoundedTask, BoundedTasks, Exceeded } from '../../base/bounded-task';
import type { Clock } from '../../base/clock';
import { Stopping } from '../../base/errors';
import { TEXT_LIMIT, TEXT_LIMIT_PER_MIB, TEXT_PROCESS_IDLE } from '../../base/limits';
import type { Logger } from '../../base/log';
import { Timer } from '../../base/timer';
import { type TaskResult, TextProcess } from './text-process';

const MIB = 1_024 * 1_024;
/** Number of inputs whose result or exceeded limit is remembered, and the largest such result. */
const MOST_KNOWN = 1_000;
const LARGEST_KNOWN = 2_048;

interface Job {
  readonly hash: string;
  readonly turn: string;
  /**
   * The name of the task and its input, serialized only when the turn of the job comes: copies of all waiting
   * inputs would fill the memory.
   */
  readonly work: readonly [name: string, input: unknown];
  readonly signal: AbortSignal | undefined;
  readonly resolve: (result: Bounded<unknown>) => void;
  readonly reject: (error: unknown) => void;
}

interface Ended {
  readonly exceeded: Exceeded;
  readonly part: string;
  readonly times: number;
}

interface BoundedTextsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds of processor time for a text. Default: {@link TEXT_LIMIT}. */
  readonly limit?: number;
  /** The source of the program to run, which calls `serveTasks`. */
  readonly program: () => Promise<string> | string;
}

/**
 * Reads foreign texts within limits (rules.md, "Foreign texts"): cheap ones at once, all others in a separate
 * process, which is started on demand and ended when idle. Results are remembered in memory only, so that a
 * new version of the operator reads again.
 */
export class BoundedTexts implements BoundedTasks {
  private readonly waiting: Job[] = [];
  /** Results of the jobs without a signal that have not ended, by the hash of task and input. */
  private readonly pending = new Map<string, Promise<Bounded<unknown>>>();
  private readonly known = new Recent<{ readonly ended?: Ended; readonly output?: unknown }>(MOST_KNOWN);
  /** By turn and by namespace: a counter of when it was served last. */
  private readonly served = new Recent<number>(MOST_KNOWN);
  /** By turn: the hash of the last text that exceeded a limit. */
  private readonly slow = new Recent<string>(MOST_KNOWN);
  private count = 0;
  private process: TextProcess | undefined;
  private isWorking = false;
  private readonly closing = new AbortController();
  private readonly idle: Timer;

  constructor(private readonly options: BoundedTextsOptions) {
    this.idle = new Timer(options.clock);
  }

  async run<Input, Output>(
    task: BoundedTask<Input, Output>,
    input: Input,
    turn: string,
    signal?: AbortSignal,
  ) {
    const cheap = task.inPlace?.(input);
    if (cheap !== undefined) return { type: 'done', output: cheap } as const;
    const work = [task.name, input] as const;
    const hash = createHash('sha256').update(serialize(work)).digest('base64');
    const { ended, output } = this.known.get(hash) ?? {};
    if (output !== undefined) return { type: 'done', output: output as Output } as const;
    if (ended && resultOf(ended).isFinal) return resultOf(ended);
    // A call with a signal gets a job of its own: to cancel a shared job would affect other callers.
    const shared = signal ? undefined : this.pending.get(hash);
    return (await (shared ?? this.enqueue({ hash, turn, work, signal }))) as Bounded<Output>;
  }

  /** Ends the process and rejects all waiting jobs. */
  close(): void {
    this.closing.abort();
    this.idle.clear();
    for (const { reject } of this.waiting.splice(0)) reject(stopping());
    this.endProcess();
  }

  private get isClosed(): boolean {
    return this.closing.signal.aborted;
  }

  private enqueue(given: Omit<Job, 'resolve' | 'reject'>): Promise<Bounded<unknown>> {
    if (this.isClosed) return Promise.reject(stopping());
    const { hash, signal } = given;
    const result = new Promise<Bounded<unknown>>((resolve, reject) => {
      const job = { ...given, resolve, reject };
      this.waiting.push(job);
      signal?.addEventListener('abort', () => this.giveUp(job), { once: true });
    });
    if (!signal) this.pending.set(hash, result);
    void this.work();
    return result;
  }

  /** Cancels a job that waits. A job that is running is not interrupted. */
  private giveUp(job: Job): void {
    const index = this.waiting.indexOf(job);
    if (index === -1) return;
    this.waiting.splice(index, 1);
    job.reject(job.signal!.reason);
  }

  private async work(): Promise<void> {
    if (this.isWorking) return;
    this.isWorking = true;
    this.idle.clear();
    for (let job = this.next(); job; job = this.next()) {
      try {
        job.resolve(await this.carryOut(job));
      } catch (error) {
        job.reject(this.isClosed ? stopping() : error);
      } finally {
        if (!job.signal) this.pending.delete(job.hash);
      }
    }
    this.isWorking = false;
    if (!this.isClosed) this.idle.set(TEXT_PROCESS_IDLE, () => this.endProcess());
  }

  /**
   * Chooses the next job. The namespace that was served the longest ago comes first, and in it the hub that
   * was: a user may create any number of hubs. A text that exceeded a limit comes after all others.
   */
  private next(): Job | undefined {
    const ranks = ({ turn, hash }: Job) => [
      Number(this.slow.get(turn) === hash),
      this.served.get(namespaceOf(turn)) ?? 0,
      this.served.get(turn) ?? 0,
    ];
    const [first] = this.waiting
      .map((job) => ({ job, ranks: ranks(job) }))
      .sort((a, b) => compare(a.ranks, b.ranks))
      .map(({ job }) => job);
    if (first) this.waiting.splice(this.waiting.indexOf(first), 1);
    return first;
  }

  private async carryOut(job: Job): Promise<Bounded<unknown>> {
    const { hash, turn } = job;
    const { clock, limit = TEXT_LIMIT, log, program } = this.options;
    for (const each of [namespaceOf(turn), turn]) this.served.set(each, ++this.count);
    const process = this.process?.isAlive
      ? this.process
      : (this.process = await TextProcess.start(await program(), clock, this.closing.signal));
    if (this.isClosed) this.endProcess(); // closed before the process was started
    const work = serialize(job.work);
    const times = (this.known.get(hash)?.ended?.times ?? 0) + 1;
    const total = limit + Math.floor((work.length / MIB) * TEXT_LIMIT_PER_MIB);
    const began = clock.monotonic();
    const result: TaskResult = await process.run(work, { part: limit * times, total: total * times });
    if (this.isClosed) throw stopping();
    if (result.type === 'done') {
      const { output, size } = result;
      if (size <= LARGEST_KNOWN) this.known.set(hash, { output });
      return { type: 'done', output };
    }
    const { exceeded, part, isProof } = result;
    const ended = { exceeded, part, times: isProof ? times : times - 1 };
    this.known.set(hash, { ended });
    this.slow.set(turn, hash);
    const seconds = Math.round((clock.monotonic() - began) / 1_000);
    log.warn({ turn, part, exceeded, seconds, times }, 'ended the reading of a text');
    return resultOf(ended);
  }

  private endProcess(): void {
    this.process?.kill();
    this.process = undefined;
  }
}

const resultOf = ({ exceeded, part, times }: Ended) =>
  ({ type: 'ended', exceeded, part, isFinal: times > 1 || exceeded === 'size of the result' }) as const;

const stopping = () => new Stopping('no more texts are read: the program stops');

const namespaceOf = (turn: string): string => turn.split('/', 1)[0]!;

/** Compares lists of numbers by the first numbers that differ. */
const compare = (a: readonly number[], b: readonly number[]): number =>
  a.map((each, index) => each - b[index]!).find((difference) => difference !== 0) ?? 0;

/** A map that keeps the entries that were set or read most recently. */
class Recent<T> {
  private readonly values = new Map<string, T>();

  constructor(private readonly most: number) {}

  get(key: string): T | undefined {
    const value = this.values.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: string, value: T): void {
    this.values.delete(key);
    this.values.set(key, value);
    for (const oldest of this.values.keys()) {
      if (this.values.size <= this.most) break;
      this.values.delete(oldest);
    }
  }
}
