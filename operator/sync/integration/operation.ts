import type { ConfigEntry } from '../../client/flow-step';
import { type Clock, timestamp } from '../../clock';
import { withDeadline } from '../../deadline';
import { errorOf, Stopping } from '../../errors';
import type { PendingFlow } from '../../kinds/integration';
import type { AnswerHashes } from './answer-hashes';
import type { FlowProblem } from './flow/navigator';
import type { FlowName } from './flow/problem-text';

/** What flows did to the entry of a resource. */
export type OperationResult =
  | { readonly type: 'created'; readonly entry: ConfigEntry; readonly unused: readonly string[] }
  | { readonly type: 'applied'; readonly applied: Applied }
  /** No form of the entry has these answers: it has to be removed and created again. */
  | {
      readonly type: 'recreate';
      readonly changed: readonly string[];
      /** Done to the present entry. */
      readonly applied: Applied;
    }
  | {
      readonly type: 'failed';
      readonly flow: FlowName;
      readonly problem: FlowProblem;
      /** Done before it failed. */
      readonly applied: Applied;
    };

/** What an operation has done to an entry. */
export interface Applied {
  /** Ids of the answers that the entry has now, and of those that it has no more. */
  readonly ids: ReadonlySet<string>;
  /** Of these, the subentries that were in the hub before. */
  readonly adopted: ReadonlySet<string>;
  /** Of these, the subentries with a value that no form asked for. */
  readonly incomplete: ReadonlySet<string>;
}

/** How an operation ended. */
export type OperationEnd =
  | { readonly type: 'completed'; readonly result: OperationResult }
  | { readonly type: 'failed'; readonly error: Error };

const NONE: ReadonlySet<string> = new Set();
/** Answers that are no subentries. */
export const withoutSubentries = (ids: ReadonlySet<string>): Applied => ({
  ids,
  adopted: NONE,
  incomplete: NONE,
});

/** Milliseconds within which status has to record the id of a flow before it goes on. */
const RECORD_TIMEOUT = 60_000;

/**
 * Flows that run for longer than a reconcile may. The reconcile that starts an operation returns, and the end of the
 * operation enqueues the resource again.
 */
export class Operation {
  /** The flow that was started last, or is about to start, for status to record. */
  flow: PendingFlow | undefined;
  /** Undefined: it runs. */
  end: OperationEnd | undefined;
  /** Resolves when it has ended, with any result. */
  readonly done: Promise<void>;
  private readonly stopping = new AbortController();
  private admit: (() => void) | undefined;

  /**
   * @param sent hashes of the answers that it sends, and their key: both may change meanwhile
   * @param onNews called when status has something to record
   */
  constructor(
    readonly type: 'create' | 'update' | 'reauth',
    readonly sent: { readonly configHash: string; readonly hashes: AnswerHashes; readonly key: string },
    private readonly clock: Clock,
    private readonly onNews: () => void,
    run: (operation: Operation) => Promise<OperationResult>,
  ) {
    this.done = Promise.resolve()
      .then(() => run(this))
      .then(
        (result): OperationEnd => ({ type: 'completed', result }),
        (error: unknown): OperationEnd => ({ type: 'failed', error: errorOf(error) }),
      )
      .then((end) => {
        this.end = end;
        onNews();
      });
  }

  get signal(): AbortSignal {
    return this.stopping.signal;
  }

  /** The entry that it made. */
  get madeEntry(): ConfigEntry | undefined {
    const { end } = this;
    return end?.type === 'completed' && end.result.type === 'created' ? end.result.entry : undefined;
  }

  /** Gives up before the next request. A flow that is open is ended in the hub. */
  stop(): void {
    this.stopping.abort(new Stopping('the flow was given up'));
  }

  /** Waits until status has the flow: after a crash, the next process ends it and finds what it made. */
  async record(flow: Omit<PendingFlow, 'startedAt'>): Promise<void> {
    this.flow = { ...flow, startedAt: timestamp(this.clock.now()) };
    const recorded = new Promise<void>((resolve) => (this.admit = resolve));
    this.onNews();
    await withDeadline({ clock: this.clock, delay: RECORD_TIMEOUT, signal: this.signal }, () => recorded);
  }

  /** Status has the flow. */
  recorded(): void {
    this.admit?.();
  }
}
