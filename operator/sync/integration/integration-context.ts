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

/** Flows fail apart: those by which the hub asks for other credentials, and all others. */
export type FlowClass = 'flow' | 'reauth';

/** The failure of a flow. The same answers are not sent again before `retryAt`. */
export interface Failure {
  readonly kind: FailureKind;
  /** Hash of the answers, and of all that has to change before they are sent again. */
  readonly hash: string;
  readonly configHash: string;
  /** As it was: the answers may be sent again when it changes, but not at once each time. */
  readonly existing: Circumstances['existing'];
  readonly reason: 'ConfigFlowFailed' | 'AuthNeeded' | 'RecreateRequired';
  readonly message: string;
  /** The time of the failure, by the monotonic clock. */
  readonly failedAt: number;
  /** The time of the next attempt, by the monotonic clock; Infinity: only a change makes one. */
  readonly retryAt: number;
  /** Failures of these answers in a row. */
  readonly count: number;
  /** Failures without a reason among them. */
  readonly unknown: number;
}

/** In-memory state of a resource. */
interface Cached extends Corrected, Removable {
  operation?: FlowOperation | undefined;
  /** `status.pendingFlow.startedAt` of the flow that this process is about to start. */
  startedAt?: string | undefined;
  readonly failures: Map<FlowClass, Failure>;
  /** How often in a row the hub went away during the flows of these answers. */
  cuts?: { readonly configHash: string; readonly count: number } | undefined;
  /** The request of the hub for credentials that only a person can answer: its flow, the answers at that time, and why. */
  confirmation?: { readonly key: string; readonly message: string } | undefined;
  /** The hub has entries that an interrupted flow of the resource may have made: a person has to say whose they are. */
  isUnclear?: boolean;
  /** Values of Secrets, former ones too: the hub may still quote them. */
  readonly secrets: RememberedSecrets;
}

/** When the same answers are sent again after a change in the hub that may solve the failure: the first time at once. */
export const retryAfterEvent = ({ count, failedAt, retryAt }: Failure): number =>
  count === 1 ? failedAt : Math.min(retryAt, failedAt + FLOW_RETRY_AFTER_EVENT);

/** Milliseconds until something is checked again that lasts for a moment, such as the flow of another resource. */
export const MOMENT = 2_000;

/** The kinds of flows that make an entry: one of a domain at a time. */
export const makesEntry = ({ kind }: PendingFlow): boolean => kind === undefined;

/** Bytes, twice, for the former values of one resource: thousands, of any length. */
const LARGEST_FORMER = 256 * 1_024;

/** A hub that starts reports a hundred components within seconds: what failed is tried again once for many of them. */
const RETRY_DELAY = 5_000;

/** In-memory state of one hub: the operations of its resources, the owners of its entries, and its events. */
export class IntegrationContext {
  private readonly cached = new PerResource<Cached>(() => ({
    failures: new Map(),
    secrets: new RememberedSecrets(LARGEST_FORMER),
  }));
  /** Owners of entries whose status does not say so yet: uid by entry id. */
  private readonly ownerByEntry = new Map<string, string>();
  /** The resource whose config flow runs, by domain: uid. */
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

  /** The operations that run or whose result no reconcile has recorded. */
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

  /** Whether the resource still asks for what an operation of it does. */
  isStillDesired(resource: IntegrationResource): boolean {
    return stillDesired(this.services, resource)?.metadata.generation === resource.metadata.generation;
  }

  /** The resource owns the entry from now on, before its status says so. */
  recordOwner({ metadata: { uid } }: IntegrationResource, entryId: string): void {
    this.ownerByEntry.set(entryId, uid);
  }

  /** The other resource that owns the entry. */
  ownerOf(entryId: string, { metadata: { uid } }: IntegrationResource): IntegrationResource | undefined {
    const recordedOwner = this.ownerByEntry.get(entryId);
    return [...this.resources()].find(
      ({ metadata, status }) =>
        metadata.uid !== uid && (status?.entryID === entryId || metadata.uid === recordedOwner),
    );
  }

  /**
   * Lets at most one flow of a domain run that may make an entry: after a crash, the entry that it made is recognized by
   * that. Returns the resource whose flow runs; undefined: this one may start its own.
   */
  acquireDomain(resource: IntegrationResource): IntegrationResource | undefined {
    const other = this.otherFlow(resource);
    if (!other) this.runningFlows.set(resource.spec.domain, resource.metadata.uid);
    return other;
  }

  /** The other resource of the domain with a flow that may make an entry: it runs, or a crash interrupted it. */
  otherFlow(resource: IntegrationResource): IntegrationResource | undefined {
    const { uid } = resource.metadata;
    // A crashed process left the flow of this resource, which ends it first. Of two such resources, the older one does
    // not wait for the other.
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

  /** The owner of the entry, and the resources of its domain that make none before something changes. */
  private requeueConcerned(domain: string, entryId: string | undefined): void {
    for (const resource of this.resources()) {
      const { entryID, rejectedHash } = resource.status ?? {};
      const isOwner = entryId !== undefined && entryID === entryId;
      const isStuck = rejectedHash !== undefined || this.of(resource).isUnclear;
      if (isOwner || (isStuck && resource.spec.domain === domain)) this.requeue(resource);
    }
  }

  /** Lets answers be sent again whose failure the hub may have solved. */
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

/** The resource has a flow: one that a crashed process left, or one that runs. */
const isInterrupted = ({ status: { pendingFlow } = {} }: IntegrationResource): boolean =>
  pendingFlow !== undefined && makesEntry(pendingFlow);

/** The flow does not continue before something else changes, so other resources of the domain do not wait for it. */
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

  /** The process stops: no further flow is started, and those that run are given up. */
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
