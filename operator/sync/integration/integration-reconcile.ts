import type { ConfigEntry, FlowInProgress } from '../../client/connection/flow-step';
import type { Clock } from '../../base/clock';
import type { HubIntegrationSpec, HubIntegrationStatus } from '../../kinds/integration';
import type { Condition } from '../../kinds';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { ObjectReconcile } from '../objects/object-sync';
import type { AnswerHashes } from './answer-hashes';
import type { Answers } from './answers';
import type { Cached, HubContext, IntegrationResource } from './hub-context';

/** The inputs of one reconcile of a HubIntegration, and of the operation that it starts. */
export interface IntegrationReconcile extends ObjectReconcile<IntegrationResource> {
  readonly spec: HubIntegrationSpec;
  readonly status: HubIntegrationStatus;
  readonly clock: Clock;
  readonly context: ReconcileContext;
  readonly hub: HubContext;
  readonly cached: Cached;
  readonly answers: Answers;
  /** Hashes of the present answers. */
  readonly hashes: AnswerHashes;
  /** The hash over all of them. */
  readonly configHash: string;
  /** Key of the hashes. */
  readonly key: string;
  /** The entries and subentries of the hub. */
  readonly entries: ReadonlyMap<string, ConfigEntry>;
  /** Devices of the integration that the hub has discovered. */
  readonly discovered: readonly FlowInProgress[];
  /** Version of the hub. */
  readonly version: string;
  /** The process stops: no further flow is started. */
  readonly draining: boolean;
  /** The present condition `Ready`. */
  readonly previous: Condition | undefined;
}
