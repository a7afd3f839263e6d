import type { ConfigEntry } from '../../client/connection/flow-step';
import type { HubClient } from '../../client/hub-client';
import { type Clock, timestamp } from '../../base/clock';
import { withDeadline } from '../../base/deadline';
import type { HubIntegrationSpec, PendingFlow } from '../../kinds/integration';
import { Operation } from '../objects/operation';
import type { AnswerHashes } from './answer-hashes';
import type { FlowProblem } from './flow/navigator';
import type { FlowName } from './flow/problem-text';
import type { FlowHooks } from './flow/run';

/** The result of the flows for the entry of a resource. */
export type OperationResult =
  | {
      readonly type: 'created';
      readonly entry: ConfigEntry;
      /** Ids of the answers that no form asked for. */
      readonly unused: readonly string[];
      /** Ids of the steps of the spec that were not shown. */
      readonly unshown: readonly string[];
    }
  | { readonly type: 'applied'; readonly applied: Applied }
  /**
   * The answers are valid, but the hub cannot have another entry, so the present one has to be removed first.
   */
  | { readonly type: 'recreate'; readonly changed: readonly string[] }
  | {
      readonly type: 'failed';
      readonly flow: FlowName;
      readonly problem: FlowProblem;
      /** The part of the change that was made before the failure. */
      readonly applied: Applied;
      /** The reason of the condition. If absent, it is `ConfigFlowFailed`. */
      readonly reason?: 'RecreateRequired';
      /** Ids of the entries of the domain that were changed while the flow ran. */
      readonly changed?: readonly string[];
    };

export type Failed = Extract<OperationResult, { readonly type: 'failed' }>;

/** The changes that an operation made to an entry. */
export interface Applied {
  /** Ids of the answers that the entry now has, or no longer has. */
  readonly ids: Set<string>;
  /** Ids of the subentries among them that were in the hub before. */
  readonly adopted: Set<string>;
  /**
   * Ids of the subentries among them that have values no form asked for, each with its hash without these
   * values.
   */
  readonly incomplete: Map<string, string>;
}

export const noneApplied = (ids: Iterable<string> = []): Applied => ({
  ids: new Set(ids),
  adopted: new Set(),
  incomplete: new Map(),
});

/** The failure of a flow of the integration's configuration, which left the entry unchanged. */
export const configurationFailed = (
  { spec: { domain } }: { readonly spec: Pick<HubIntegrationSpec, 'domain'> },
  problem: FlowProblem,
): Failed => ({ type: 'failed', flow: { kind: 'config', domain }, problem, applied: noneApplied() });

/** Milliseconds within which status has to record the id of a flow before the flow continues. */
const RECORD_TIMEOUT = 60_000;

/** The difference between the clocks of the hub and the operator, to record it at the start of a flow. */
export const measured = ({ rest: { clockOffset } }: Pick<HubClient, 'rest'>) =>
  clockOffset === undefined ? {} : { clockOffset };

/**
 * Runs flows of the hub for one resource. If the operation is cancelled, its open flow is ended in the hub.
 */
export class FlowOperation extends Operation<OperationResult> {
  /** The flow that was started last or is about to start, which status has to record. */
  flow: PendingFlow | undefined;
  /** The epoch of the hub's presence in which the operation started. */
  readonly epoch: number;
  private admit: (() => void) | undefined;

  /**
   * @param sent hashes of the sent answers, and their key; both may change while the operation runs
   * @param onFlow called when there is a flow for status to record
   * @param isStillDesired returns false when the spec has changed, or the resource is suspended, deleted or
   * in dry-run
   */
  constructor(
    readonly type: 'create' | 'update' | 'reauth',
    readonly sent: { readonly configHash: string; readonly hashes: AnswerHashes; readonly key: string },
    clock: Clock,
    private readonly client: Pick<HubClient, 'rest' | 'presence'>,
    private readonly onFlow: () => void,
    private readonly isStillDesired: () => boolean,
  ) {
    super(clock);
    this.epoch = client.presence.epoch;
  }

  /** The entry that the operation created. */
  get madeEntry(): ConfigEntry | undefined {
    const { end } = this;
    return end?.type === 'completed' && end.result.type === 'created' ? end.result.entry : undefined;
  }

  /**
   * Called before each change in the hub.
   *
   * @throws the reason why the flow is cancelled
   */
  assertDesired(): void {
    if (!this.isStillDesired()) this.stop();
    this.signal.throwIfAborted();
  }

  /**
   * The hooks of a flow that the operation runs. Status records `pending` before the first answer is sent.
   */
  hooks(pending?: Omit<PendingFlow, 'startedAt'>): FlowHooks {
    const { clock, signal } = this;
    const onOpen = pending && ((flowID: string) => this.record({ ...pending, flowID }));
    return { clock, signal, assertDesired: () => this.assertDesired(), ...(onOpen && { onOpen }) };
  }

  /**
   * Waits until status has recorded the flow. After a crash, the next process can then end the flow and find
   * the objects that it created.
   */
  async record(flow: Omit<PendingFlow, 'startedAt'>): Promise<void> {
    this.flow = { ...flow, startedAt: timestamp(this.clock.now()), ...measured(this.client) };
    const recorded = new Promise<void>((resolve) => (this.admit = resolve));
    this.onFlow();
    await withDeadline({ clock: this.clock, delay: RECORD_TIMEOUT, signal: this.signal }, () => recorded);
  }

  /** Called when status has recorded the flow. */
  confirmRecord(): void {
    this.admit?.();
  }
}
