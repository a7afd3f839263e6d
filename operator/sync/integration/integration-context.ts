import type { Clock } from '../../base/clock';
import { FLOW_RETRY_AFTER_EVENT } from '../../base/limits';
import { Timer } from '../../base/timer';
import type { ConfigEntry, FlowInProgress } from '../../client/connection/flow-step';
import { RememberedSecrets } from '../../client/connection/redact';
import type { HubClient } from '../../client/hub-client';
import { type Condition, integration } from '../../kinds';
import type {
  HubIntegration,
  HubIntegrationSpec,
  HubIntegrationStatus,
  PendingFlow,
} from '../../kinds/integration';
import type { CustomResource } from '../../kinds/resource';
import { conditionOf } from '../../runtime/conditions';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { Corrected } from '../objects/drift-policy';
import type { ObjectReconcile } from '../objects/object-sync';
import { PerClient, PerResource } from '../objects/remembered';
import type { Removable } from '../objects/removal';
import type { Services } from '../services';
import { stillDesired } from '../still-desired';
import type { AnswerHashes } from './answer-hashes';
import type { Answers } from './answers';
import type { FlowOperation } from './operation';
import { type Circumstances, type FailureKind, RETRIES } from './retry';

export type IntegrationResource = CustomResource & HubIntegration;

/**
 * Failures are recorded separately for flows by which the hub asks for new credentials (`reauth`), and for
 * all others.
 */
export type FlowClass = 'flow' | 'reauth';

/** The failure of a flow. The same answers are not sent again before `retryAt`. */
export interface Failure {
  readonly kind: FailureKind;
  /** Hash of the answers, and of the circumstances that have to change before they are sent again. */
  readonly hash: string;
  readonly configHash: string;
  /**
   * Existing entries and devices at the time of the failure. A change of them allows another attempt, but not
   * immediately each time.
   */
  readonly existing: Circumstances['existing'];
  readonly reason: 'ConfigFlowFailed' | 'AuthNeeded' | 'RecreateRequired';
  readonly message: string;
  /** The time of the failure, by the monotonic clock. */
  readonly failedAt: number;
  /** The time of the next attempt, by the monotonic clock. Infinity if only a change can cause one. */
  readonly retryAt: number;
  /** Successive failures of these answers. */
  readonly count: number;
  /** The number of these failures for which the integration gave no reason. */
  readonly unknown: number;
}

/** In-memory state of a resource. */
interface Cached extends Corrected, Removable {
  operation?: FlowOperation | undefined;
  /** Value of `status.pendingFlow.startedAt` of the flow that this process is about to start. */
  startedAt?: string | undefined;
  readonly failures: Map<FlowClass, Failure>;
  /** The number of successive flows with these answers during which the hub stopped. */
  cuts?: { readonly configHash: string; readonly count: number } | undefined;
  /**
   * A request of the hub for credentials that only a user can answer: key of its flow and of the answers at
   * that time, and the reason.
   */
  confirmation?: { readonly key: string; readonly message: string } | undefined;
  /**
   * True if the hub has entries that an interrupted flow of the resource may have created, so that a user has
   * to say whose they are.
   */
  isUnclear?: boolean;
  /** Present and former values of Secrets, since the hub may still quote former ones. */
  readonly secrets: RememberedSecrets;
}

/**
 * The time at which the same answers are sent again after a change in the hub that may solve the failure. The
 * first time is immediately.
 */
export const retryAfterEvent = ({ count, failedAt, retryAt }: Failure): number =>
  count === 1 ? failedAt : Math.min(retryAt, failedAt + FLOW_RETRY_AFTER_EVENT);

/** Milliseconds until a temporary state is checked again, such as the flow of another resource. */
export const MOMENT = 2_000;

/** Reports whether a flow may create an entry. One such flow runs at a time for each domain. */
export const makesEntry = ({ kind }: PendingFlow): boolean => kind === undefined;

/**
 * Limit in bytes for the former values of one resource, which may be thousands of any length. They are stored
 * twice.
 */
const LARGEST_FORMER = 256 * 1_024;

/**
 * Milliseconds until failed answers are tried again after an event of the hub. A hub that starts reports a
 * hundred components within seconds, and causes few attempts this way.
 */
const RETRY_DELAY = 5_000;

/** In-memory state of one hub: the operations of its resources, the owners of its entries, and its events. */
export class IntegrationContext {
  private readonly cached = new PerResource<Cached>(() => ({
    failures: new Map(),
    secrets: new RememberedSecrets(LARGEST_FORMER),
  }));
  /** Owners of entries that status does not show yet: uid by entry id. */
  private readonly ownerByEntry = new Map<string, string>();
  /** The resource whose config flow runs: uid by domain. */
  private readonly runningFlows = new Map<string, string>();
  private readonly retryTimer: Timer;

  constructor(
    private readonly services: Pick<Services, 'cache' | 'clock' | 'requeue'>,
    client: HubClient,
    private readonly namespace: string,
    private readonly hubName: string,
  ) {
    this.retryTimer = new Timer(services.clock);
    client.configEntries.onChange(({ domain, entry_id: id }) => this.requeueConcerned(domain, id));
    client.flowsInProgress.onChange(({ handler, context }) =>
      this.requeueConcerned(handler, context.entry_id),
    );
    client.events.onEvent((event) => {
      // The hub may now accept answers that it rejected before.
      if (
        ['component-loaded', 'device-added', 'reconnected'].includes(event.type) &&
        !this.retryTimer.pending
      )
        this.retryTimer.set(RETRY_DELAY, () => this.retry());
      if (['reconnected', 'changes-missed'].includes(event.type))
        for (const resource of this.resources()) this.requeue(resource);
    });
  }

  of({ metadata: { uid } }: IntegrationResource): Cached {
    return this.cached.get(uid);
  }

  /** The operations that run, or whose result no reconcile has recorded. */
  get operations(): readonly FlowOperation[] {
    return [...this.cached.values()].flatMap(({ operation }) => operation ?? []);
  }

  forget({ metadata: { uid }, spec: { domain } }: IntegrationResource): void {
    this.cached.delete(uid);
    for (const [entryId, owner] of this.ownerByEntry) if (owner === uid) this.ownerByEntry.delete(entryId);
    this.releaseDomain(uid);
    // Another resource of the domain may have failed because of this entry.
    this.requeueConcerned(domain, undefined);
  }

  /** Reports whether the resource still asks for the changes of its operation. */
  isStillDesired(resource: IntegrationResource): boolean {
    return stillDesired(this.services, resource)?.metadata.generation === resource.metadata.generation;
  }

  /** Records that the resource owns the entry, before its status shows it. */
  recordOwner({ metadata: { uid } }: IntegrationResource, entryId: string): void {
    this.ownerByEntry.set(entryId, uid);
  }

  /** The other resource that owns the entry, if any. */
  ownerOf(entryId: string, { metadata: { uid } }: IntegrationResource): IntegrationResource | undefined {
    const recordedOwner = this.ownerByEntry.get(entryId);
    return [...this.resources()].find(
      ({ metadata, status }) =>
        metadata.uid !== uid && (status?.entryID === entryId || metadata.uid === recordedOwner),
    );
  }

  /**
   * Reserves the domain for a flow that may create an entry. Only one such flow of a domain runs at a time:
   * after a crash this allows recognizing the entry that it created.
   *
   * @returns the resource whose flow is running, undefined when this resource may start its own
   */
  acquireDomain(resource: IntegrationResource): IntegrationResource | undefined {
    const other = this.otherFlow(resource);
    if (!other) this.runningFlows.set(resource.spec.domain, resource.metadata.uid);
    return other;
  }

  /**
   * The other resource of the domain with a flow that may create an entry: either the flow is running, or a
   * crash interrupted it.
   */
  otherFlow(resource: IntegrationResource): IntegrationResource | undefined {
    const { uid } = resource.metadata;
    // A resource whose flow was left by a crashed process ends that flow first. If there are two such
    // resources, one of them goes first.
    const isFirst = (other: IntegrationResource) => !isInterrupted(resource) || other.metadata.uid < uid;
    const mayGoOn = (other: IntegrationResource) =>
      isInterrupted(other) && !isHeldUp(other) && !this.of(other).isUnclear && isFirst(other);
    return this.runningFlow(resource) ?? this.othersOfDomain(resource).find(mayGoOn);
  }

  /** The other resource of the domain whose flow this process runs, or is about to start. */
  runningFlow(resource: IntegrationResource): IntegrationResource | undefined {
    const holder = this.runningFlows.get(resource.spec.domain);
    return this.othersOfDomain(resource).find(
      (other) => other.metadata.uid === holder && (this.of(other).operation || !isHeldUp(other)),
    );
  }

  private othersOfDomain({ metadata: { uid }, spec: { domain } }: IntegrationResource) {
    return [...this.resources()].filter(
      (other) => other.metadata.uid !== uid && other.spec.domain === domain,
    );
  }

  releaseDomain(uid: string): void {
    for (const [domain, holder] of this.runningFlows) if (holder === uid) this.runningFlows.delete(domain);
  }

  requeue({ metadata: { namespace, name } }: IntegrationResource): void {
    this.services.requeue(integration.kind, namespace, name);
  }

  /**
   * Requeues the owner of the entry, and the resources of its domain that cannot create one until something
   * changes.
   */
  private requeueConcerned(domain: string, entryId: string | undefined): void {
    for (const resource of this.resources()) {
      const { entryID, rejectedHash } = resource.status ?? {};
      const isOwner = entryId !== undefined && entryID === entryId;
      const isStuck = rejectedHash !== undefined || this.of(resource).isUnclear;
      if (isOwner || (isStuck && resource.spec.domain === domain)) this.requeue(resource);
    }
  }

  /** Allows sending failed answers again if an event of the hub may have solved the failure. */
  private retry(): void {
    for (const resource of this.resources()) {
      const { failures } = this.of(resource);
      const failure = failures.get('flow');
      if (!failure || !RETRIES[failure.kind].isSolvedByHub) continue;
      failures.set('flow', { ...failure, retryAt: retryAfterEvent(failure) });
      this.requeue(resource);
    }
  }

  private resources(): Iterable<IntegrationResource> {
    return this.services.cache.ofHub<IntegrationResource>(integration.kind, this.namespace, this.hubName);
  }
}

/**
 * Reports whether the resource has a flow that may create an entry: one that is running, or one that a
 * crashed process left.
 */
const isInterrupted = ({ status: { pendingFlow } = {} }: IntegrationResource): boolean =>
  pendingFlow !== undefined && makesEntry(pendingFlow);

/**
 * Reports whether the flow cannot continue until something else changes, so that other resources of the
 * domain do not wait for it.
 */
function isHeldUp(resource: IntegrationResource): boolean {
  const reason = conditionOf(resource, 'Ready')?.reason ?? '';
  return (
    resource.spec.suspend ||
    ['SecretNotFound', 'KeyNotFound', 'SecretRefused', 'InvalidSpec', 'DuplicateId', 'DryRun'].includes(
      reason,
    )
  );
}

export class IntegrationContexts extends PerClient<IntegrationContext> {
  isDraining = false;

  constructor(private readonly services: Pick<Services, 'cache' | 'clock' | 'requeue'>) {
    super();
  }

  protected override create(client: HubClient, namespace: string, hubName: string): IntegrationContext {
    return new IntegrationContext(this.services, client, namespace, hubName);
  }

  /** Prepares the end of the process: no further flows are started, and running ones are cancelled. */
  drain(clients: readonly HubClient[]): void {
    this.isDraining = true;
    for (const client of clients)
      for (const operation of this.find(client)?.operations ?? []) operation.stop();
  }
}

/** The inputs of one reconcile of a HubIntegration, and of the operation that it starts. */
export interface IntegrationReconcile extends ObjectReconcile<IntegrationResource> {
  readonly spec: HubIntegrationSpec;
  readonly status: HubIntegrationStatus;
  readonly clock: Clock;
  readonly context: ReconcileContext;
  readonly hub: IntegrationContext;
  readonly cached: Cached;
  readonly answers: Answers;
  /** Hashes of the present answers. */
  readonly hashes: AnswerHashes;
  /** Hash over the hashes of all answers. */
  readonly configHash: string;
  /** Random key of the hashes, which the operator stores in a Secret. */
  readonly key: string;
  /** The entries of the hub, by their ids. */
  readonly entries: ReadonlyMap<string, ConfigEntry>;
  /** Devices of the integration that the hub has discovered. */
  readonly discovered: readonly FlowInProgress[];
  /** Version of the hub. */
  readonly version: string;
  /** True when the process stops, so that no further flow is started. */
  readonly draining: boolean;
  /** The present condition `Ready`. */
  readonly previous: Condition | undefined;
}
