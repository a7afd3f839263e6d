import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock';
import { RELOAD_ATTEMPT_PAUSE, RELOAD_ATTEMPTS } from '../limits';
import type { Logger } from '../log';
import { messageOf, Stopping } from '../errors';
import { Timer } from '../timer';
import { HubBanned, TokenRejected } from './errors';

export type ReloadResult =
  /** `startedAt`: by the monotonic clock. Every write that ended before has taken effect. */
  | { readonly ok: true; readonly reloadId: string; readonly startedAt: number }
  | {
      readonly ok: false;
      readonly reason: 'ReloadFailed' | 'ComponentNotLoaded';
      readonly message: string;
      /** Of the last attempt. */
      readonly reloadId: string;
    };

export interface ReloadsOptions {
  /** Whether the hub has loaded a component. */
  isLoaded(component: string): Promise<boolean>;
  /** Reloads the component; resolves when the hub has finished. */
  reload(component: string): Promise<void>;
  /** Whether writes are in flight or queued for which the reload should wait. */
  isWriting(component: string): boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Milliseconds without a request after which a reload begins. */
export const QUIET_PERIOD = 300;
/** The longest time, in milliseconds, that a request waits. Doubles with each reload while writes continue. */
export const MAX_WAIT = 10_000;
/** The limit of that doubling: hundreds of writes take the hub minutes, and each reload among them slows them down. */
export const MAX_WAIT_WHILE_WRITING = 60_000;

interface Batch {
  readonly result: Promise<ReloadResult>;
  readonly resolve: (result: ReloadResult) => void;
  /** By the monotonic clock. */
  readonly latestStart: number;
}

interface ComponentQueue {
  /** The requests for the next reload. */
  waiting: Batch | undefined;
  running: Batch | undefined;
  /** The longest wait of the next request, in milliseconds. */
  maxWait: number;
  readonly timer: Timer;
}

/**
 * The reloads of one hub (rules.md, "Reload"): checks that the component is loaded and makes up to three attempts, 5 s
 * apart, each with its own id in log and result.
 *
 * Reloads are coalesced: one reload serves all requests that were made before it began. A burst of writes causes few
 * reloads, and each request resolves with the result of a reload that began after it.
 */
export class Reloads {
  private readonly options: ReloadsOptions;
  private readonly queues = new Map<string, ComponentQueue>();
  private readonly closing = new AbortController();
  private expectsWrites: (component: string) => boolean = () => false;

  constructor(options: ReloadsOptions) {
    this.options = options;
  }

  /**
   * A reload also waits while `expectsWrites` says that more writes will come, up to the same limit: in a burst there are
   * pauses between the writes, and one reload after all of them is enough.
   */
  deferWhile(expectsWrites: (component: string) => boolean): void {
    this.expectsWrites = expectsWrites;
  }

  /** Requests a reload; call it after the write has ended. Never rejects. */
  request(component: string): Promise<ReloadResult> {
    if (this.closing.signal.aborted) return Promise.resolve(closed());
    const queue = this.queue(component);
    queue.waiting ??= newBatch(this.options.clock.monotonic() + queue.maxWait);
    const { result } = queue.waiting;
    this.arm(component, queue);
    return result;
  }

  /** Resolves when no reload is running or requested. */
  async idle(): Promise<void> {
    for (;;) {
      const batches = [...this.queues.values()].flatMap(({ running, waiting }) => [running, waiting]);
      const open = batches.filter((batch) => batch !== undefined);
      if (open.length === 0) return;
      await Promise.all(open.map(({ result }) => result));
    }
  }

  /** Starts no further reload; waiting requests resolve as failed. */
  close(): void {
    this.closing.abort(new Stopping('the client of the hub was closed'));
    for (const queue of this.queues.values()) {
      queue.timer.clear();
      queue.waiting?.resolve(closed());
      queue.waiting = undefined;
    }
  }

  private queue(component: string): ComponentQueue {
    let queue = this.queues.get(component);
    if (!queue) {
      queue = {
        waiting: undefined,
        running: undefined,
        maxWait: MAX_WAIT,
        timer: new Timer(this.options.clock),
      };
      this.queues.set(component, queue);
    }
    return queue;
  }

  private arm(component: string, queue: ComponentQueue): void {
    if (!queue.waiting || queue.running) return;
    const { clock } = this.options;
    const left = queue.waiting.latestStart - clock.monotonic();
    queue.timer.set(Math.max(0, Math.min(QUIET_PERIOD, left)), () => {
      const mayWait = queue.waiting !== undefined && clock.monotonic() < queue.waiting.latestStart;
      const isWriting = this.options.isWriting(component);
      if (mayWait && (isWriting || this.expectsWrites(component))) return this.arm(component, queue);
      queue.maxWait = isWriting ? Math.min(2 * queue.maxWait, MAX_WAIT_WHILE_WRITING) : MAX_WAIT;
      void this.run(component, queue);
    });
  }

  private async run(component: string, queue: ComponentQueue): Promise<void> {
    const batch = queue.waiting;
    if (!batch) return;
    queue.waiting = undefined;
    queue.running = batch;
    batch.resolve(await this.reload(component));
    queue.running = undefined;
    this.arm(component, queue);
  }

  private async reload(component: string): Promise<ReloadResult> {
    const { clock, log } = this.options;
    for (let attempt = 1; ; attempt++) {
      const result = await this.attempt(component, attempt);
      if (result.ok || result.final || attempt === RELOAD_ATTEMPTS) return result;
      try {
        await clock.sleep(RELOAD_ATTEMPT_PAUSE, this.closing.signal);
      } catch (error) {
        log.debug({ component, reloadId: result.reloadId, error }, 'stopped retrying reload');
        return result;
      }
    }
  }

  private async attempt(
    component: string,
    attempt: number,
  ): Promise<ReloadResult & { readonly final?: boolean }> {
    const { clock, log } = this.options;
    const reloadId = randomUUID();
    const startedAt = clock.monotonic();
    const fields = { component, reloadId, attempt };
    try {
      if (!(await this.options.isLoaded(component))) {
        const message = `the hub has not loaded ${component}`;
        log.warn(fields, 'component to reload is not loaded');
        return { ok: false, reason: 'ComponentNotLoaded', message, reloadId };
      }
      await this.options.reload(component);
      log.info({ ...fields, milliseconds: Math.round(clock.monotonic() - startedAt) }, 'reloaded component');
      return { ok: true, reloadId, startedAt };
    } catch (error) {
      log.warn({ ...fields, error }, 'failed to reload component');
      // Neither is solved within seconds, and each attempt with a rejected token counts toward a ban.
      const final = error instanceof TokenRejected || error instanceof HubBanned;
      return { ok: false, reason: 'ReloadFailed', message: messageOf(error), reloadId, final };
    }
  }
}

function newBatch(latestStart: number): Batch {
  let resolve: Batch['resolve'] = () => undefined;
  const result = new Promise<ReloadResult>((settle) => (resolve = settle));
  return { result, resolve, latestStart };
}

function closed(): ReloadResult {
  return {
    ok: false,
    reason: 'ReloadFailed',
    message: 'the client of the hub was closed',
    reloadId: randomUUID(),
  };
}
