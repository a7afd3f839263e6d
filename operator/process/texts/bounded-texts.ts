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
/** Inputs whose end or small result is remembered, and the size of such a result. */
const MOST_KNOWN = 1_000;
const LARGEST_KNOWN = 2_048;

interface Job {
  readonly hash: string;
  readonly turn: string;
  readonly work: Uint8Array;
  readonly resolve: (result: Bounded<unknown>) => void;
  readonly reject: (error: unknown) => void;
}

interface Ended {
  readonly exceeded: Exceeded;
  readonly part: string;
  readonly times: number;
}

export interface BoundedTextsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds of processor time for a text. Default: {@link TEXT_LIMIT}. */
  readonly limit?: number;
  /** The source of a program that calls `serveTasks`. */
  readonly program: () => Promise<string> | string;
}

/**
 * Reads foreign texts within bounds (rules.md, "Foreign texts"): cheap ones at once, all others in a process of its own, which is
 * started when it is needed and ended at rest. Known results end with this process, and so with its version.
 */
export class BoundedTexts implements BoundedTasks {
  private readonly waiting: Job[] = [];
  /** By the hash of task and input. */
  private readonly pending = new Map<string, Promise<Bounded<unknown>>>();
  private readonly known = new Recent<{ readonly ended?: Ended; readonly output?: unknown }>(MOST_KNOWN);
  /** By turn: when it was served last. */
  private readonly served = new Recent<number>(MOST_KNOWN);
  /** By turn: the hash of the text that was ended last. */
  private readonly slow = new Recent<string>(MOST_KNOWN);
  private count = 0;
  private process: TextProcess | undefined;
  private isWorking = false;
  private isClosed = false;
  private readonly idle: Timer;

  constructor(private readonly options: BoundedTextsOptions) {
    this.idle = new Timer(options.clock);
  }

  async run<Input, Output>(task: BoundedTask<Input, Output>, input: Input, turn: string) {
    const cheap = task.inPlace?.(input);
    if (cheap !== undefined) return { type: 'done', output: cheap } as const;
    const work = serialize([task.name, input]);
    const hash = createHash('sha256').update(work).digest('base64');
    const { ended, output } = this.known.get(hash) ?? {};
    if (output !== undefined) return { type: 'done', output: output as Output } as const;
    if (ended && resultOf(ended).isFinal) return resultOf(ended);
    const result = this.pending.get(hash) ?? this.enqueue({ hash, turn, work });
    return (await result) as Bounded<Output>;
  }

  /** Ends the process; what waits for a result is rejected. */
  close(): void {
    this.isClosed = true;
    this.idle.clear();
    for (const { reject } of this.waiting.splice(0)) reject(stopping());
    this.endProcess();
  }

  private enqueue(job: Pick<Job, 'hash' | 'turn' | 'work'>): Promise<Bounded<unknown>> {
    if (this.isClosed) return Promise.reject(stopping());
    const result = new Promise<Bounded<unknown>>((resolve, reject) => {
      this.waiting.push({ ...job, resolve, reject });
    });
    this.pending.set(job.hash, result);
    void this.work();
    return result;
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
        this.pending.delete(job.hash);
      }
    }
    this.isWorking = false;
    if (!this.isClosed) this.idle.set(TEXT_PROCESS_IDLE, () => this.endProcess());
  }

  /** Turns come in the order in which they were served; one whose text was ended comes last as long as it has that text. */
  private next(): Job | undefined {
    const rank = ({ turn, hash }: Job): number =>
      (this.served.get(turn) ?? 0) + (this.slow.get(turn) === hash ? Number.MAX_SAFE_INTEGER / 2 : 0);
    const [first] = [...this.waiting].sort((a, b) => rank(a) - rank(b));
    if (first) this.waiting.splice(this.waiting.indexOf(first), 1);
    return first;
  }

  private async carryOut(job: Job): Promise<Bounded<unknown>> {
    const { hash, turn, work } = job;
    const { clock, limit = TEXT_LIMIT, log, program } = this.options;
    this.served.set(turn, ++this.count);
    const process = this.process?.isAlive
      ? this.process
      : (this.process = await TextProcess.start(await program(), clock));
    if (this.isClosed) this.endProcess(); // while it was started
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
    const { exceeded, part } = result;
    const ended = { exceeded, part, times };
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

/** The values that were set or read last. */
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
