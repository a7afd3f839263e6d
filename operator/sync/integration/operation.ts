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

/** What flows did to the entry of a resource. */
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
  /** The answers are valid, and the hub has no place for another entry: the present one is removed before. */
  | { readonly type: 'recreate'; readonly changed: readonly string[] }
  | {
      readonly type: 'failed';
      readonly flow: FlowName;
      readonly problem: FlowProblem;
      /** The part of the change that was carried out before the failure. */
      readonly applied: Applied;
      /** The reason of the condition; absent: `ConfigFlowFailed`. */
      readonly reason?: 'RecreateRequired';
      /** Ids of the entries of the domain that were changed while the flow ran. */
      readonly changed?: readonly string[];
    };

export type Failed = Extract<OperationResult, { readonly type: 'failed' }>;

/** What an operation has done to an entry. */
export interface Applied {
  /** Ids of the answers that the entry has now, and of those that it has no more. */
  readonly ids: Set<string>;
  /** The subentries among them that were in the hub before. */
  readonly adopted: Set<string>;
  /** The subentries among them with a value that no form asked for: the hashes without it, by id. */
  readonly incomplete: Map<string, string>;
}

export const noneApplied = (ids: Iterable<string> = []): Applied => ({
  ids: new Set(ids),
  adopted: new Set(),
  incomplete: new Map(),
});

/** The failure of a flow of the integration's configuration, after which the entry is as before. */
export const configurationFailed = (
  { spec: { domain } }: { readonly spec: Pick<HubIntegrationSpec, 'domain'> },
  problem: FlowProblem,
): Failed => ({ type: 'failed', flow: { kind: 'config', domain }, problem, applied: noneApplied() });

/** Milliseconds within which status has to record the id of a flow before it goes on. */
const RECORD_TIMEOUT = 60_000;

/** The clock of the hub beside that of the operator, at the start of a flow. */
export const measured = ({ rest: { clockOffset } }: Pick<HubClient, 'rest'>) =>
  clockOffset === undefined ? {} : { clockOffset };

/** Flows of the hub for one resource. An open flow of an operation that is given up is ended in the hub. */
export class FlowOperation extends Operation<OperationResult> {
  /** The flow that was started last, or is about to start, for status to record. */
  flow: PendingFlow | undefined;
  /** The epoch of the hub's presence in which it starts. */
  readonly epoch: number;
  private admit: (() => void) | undefined;

  /**
   * @param sent hashes of the answers that it sends, and their key: both may change meanwhile
   * @param onFlow called when status has a flow to record
   * @param isStillDesired false: the spec changed, or the resource is suspended, deleted or in dry-run
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

  /** The entry that it made. */
  get madeEntry(): ConfigEntry | undefined {
    const { end } = this;
    return end?.type === 'completed' && end.result.type === 'created' ? end.result.entry : undefined;
  }

  /** Called before each change in the hub. @throws the reason why the flow is given up */
  assertDesired(): void {
    if (!this.isStillDesired()) this.stop();
    this.signal.throwIfAborted();
  }

  /** The hooks of a flow that the operation runs. Status records `pending` before the first answer. */
  hooks(pending?: Omit<PendingFlow, 'startedAt'>): FlowHooks {
    const { clock, signal } = this;
    const onOpen = pending && ((flowID: string) => this.record({ ...pending, flowID }));
    return { clock, signal, assertDesired: () => this.assertDesired(), ...(onOpen && { onOpen }) };
  }

  /** Waits until status has the flow: after a crash, the next process ends the flow and finds the objects that it made. */
  async record(flow: Omit<PendingFlow, 'startedAt'>): Promise<void> {
    this.flow = { ...flow, startedAt: timestamp(this.clock.now()), ...measured(this.client) };
    const recorded = new Promise<void>((resolve) => (this.admit = resolve));
    this.onFlow();
    await withDeadline({ clock: this.clock, delay: RECORD_TIMEOUT, signal: this.signal }, () => recorded);
  }

  /** Status has the flow. */
  confirmRecord(): void {
    this.admit?.();
  }
}
