import type { HubClient } from '../../client/hub-client';
import { integration } from '../../kinds';
import type { HubIntegration } from '../../kinds/integration';
import type { CustomResource } from '../../kinds/resource';
import { conditionOf } from '../../runtime/conditions';
import { Timer } from '../../timer';
import type { Services } from '../services';
import type { Correction } from '../corrections';
import type { Operation } from './operation';
import { mayMakeEntry } from './pending-flow';

export type IntegrationResource = CustomResource & HubIntegration;

/** The failure of a flow. The same answers are not sent again before `retryAt`. */
export interface Failure {
  readonly configHash: string;
  readonly message: string;
  /** By the monotonic clock; Infinity: not by time. */
  readonly retryAt: number;
  /** Failures of these answers in a row. */
  readonly count: number;
  /** The device or service rejected the credentials: only other ones help. */
  readonly isAuth: boolean;
}

/** Unloading an entry may take longer than a finalizer may wait. */
export interface Removal {
  readonly entryId: string;
  /** By the monotonic clock. */
  readonly startedAt: number;
  /** Undefined: it runs. `error`: why the entry is not removed. */
  end?: { readonly error: Error | undefined };
}

/** In-memory state of a resource. A restart of the operator loses it. */
export interface Cached {
  operation?: Operation | undefined;
  /** `status.pendingFlow.startedAt` of the flow that this process is about to start. */
  startedAt?: string | undefined;
  failure?: Failure | undefined;
  /** The reauth flow that was answered, and with what; and why that failed. */
  reauth?: { readonly key: string; readonly message: string | undefined } | undefined;
  /** Its entry was removed to be created again: no other one is adopted. */
  isRecreating: boolean;
  /** The removal of the entry, when the resource is being deleted. */
  removal?: Removal | undefined;
  /** Values of Secrets, former ones too: the hub may still quote them. */
  secrets: ReadonlySet<string>;
  /** Corrections of the title and of `disabled_by`. */
  correction?: Correction | undefined;
}

/** Milliseconds until a resource checks again whether the flow of another one of its domain has ended. */
export const DOMAIN_BUSY_REQUEUE = 2_000;

/** A hub that starts reports a hundred components within seconds: what failed is tried again once for many of them. */
const RETRY_DELAY = 5_000;

/** In-memory state of one hub: the operations of its resources, the owners of its entries, and its events. */
export class HubContext {
  private readonly cached = new Map<string, Cached>();
  /** Owners of entries whose status does not say so yet: uid by entry id. */
  private readonly ownerByEntry = new Map<string, string>();
  /** The resource whose config flow runs, by domain: uid. */
  private readonly runningFlows = new Map<string, string>();
  private readonly retryTimer: Timer;

  constructor(
    private readonly services: Pick<Services, 'cache' | 'clock' | 'requeue'>,
    private readonly client: HubClient,
    private readonly namespace: string,
    private readonly hubName: string,
  ) {
    this.retryTimer = new Timer(services.clock);
    client.configEntries.onChange((entry) => this.requeueOwner(entry.entry_id));
    client.reauthFlows.onChange((entryId) => this.requeueOwner(entryId));
    client.events.onEvent((event) => {
      // The hub may accept now what it rejected before.
      if (['component-loaded', 'device-added', 'reconnected'].includes(event.type)) this.scheduleRetries();
      if (event.type === 'reconnected') for (const resource of this.resources()) this.requeue(resource);
    });
  }

  /** Resolves once the hub reports its events. */
  async watch(): Promise<void> {
    await this.client.events.watch();
  }

  of({ metadata: { uid } }: IntegrationResource): Cached {
    let cached = this.cached.get(uid);
    if (!cached) this.cached.set(uid, (cached = { isRecreating: false, secrets: new Set() }));
    return cached;
  }

  /** The operations that run or whose result no reconcile has recorded. */
  get operations(): readonly Operation[] {
    return [...this.cached.values()].flatMap(({ operation }) => operation ?? []);
  }

  forget({ metadata: { uid }, spec: { domain } }: IntegrationResource): void {
    this.cached.delete(uid);
    // Its entry may have been what another one of the domain failed at.
    this.retry((other) => other.metadata.uid !== uid && other.spec.domain === domain);
    for (const [entryId, owner] of this.ownerByEntry) if (owner === uid) this.ownerByEntry.delete(entryId);
    this.releaseDomain(uid);
  }

  /** The resource owns the entry from now on, before its status says so. */
  recordOwner({ metadata: { uid } }: IntegrationResource, entryId: string): void {
    this.ownerByEntry.set(entryId, uid);
  }

  /** It does not own the entry after all. */
  releaseEntry({ metadata: { uid } }: IntegrationResource, entryId: string): void {
    if (this.ownerByEntry.get(entryId) === uid) this.ownerByEntry.delete(entryId);
  }

  /** The other resource that owns the entry. */
  ownerOf(entryId: string, { metadata: { uid } }: IntegrationResource): IntegrationResource | undefined {
    const recordedOwner = this.ownerByEntry.get(entryId);
    for (const other of this.resources()) {
      const owns = other.status?.entryID === entryId || other.metadata.uid === recordedOwner;
      if (owns && other.metadata.uid !== uid) return other;
    }
    return undefined;
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
    const running = this.runningFlow(resource);
    if (running) return running;
    // Of a process that crashed: this one ends it first. Of two such resources, one does not wait for the other.
    const isFirst = (other: IntegrationResource) => !isInterrupted(resource) || other.metadata.uid < uid;
    return this.othersOfDomain(resource).find(
      (other) => isInterrupted(other) && !isHeldUp(other) && isFirst(other),
    );
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

  private requeueOwner(entryId: string): void {
    for (const resource of this.resources()) if (resource.status?.entryID === entryId) this.requeue(resource);
  }

  private scheduleRetries(): void {
    if (this.retryTimer.pending) return;
    this.retryTimer.set(RETRY_DELAY, () => this.retry(() => true));
  }

  /** Lets answers that failed be sent again, unless the credentials among them were rejected. */
  private retry(concerns: (resource: IntegrationResource) => boolean): void {
    for (const resource of this.resources()) {
      const { failure } = this.of(resource);
      if (!failure || failure.isAuth || !concerns(resource)) continue;
      this.of(resource).failure = { ...failure, retryAt: this.services.clock.monotonic() };
      this.requeue(resource);
    }
  }

  private resources(): Iterable<IntegrationResource> {
    return this.services.cache.ofHub<IntegrationResource>(integration.kind, this.namespace, this.hubName);
  }
}

/** It has a flow of a process that crashed, or its own that runs. */
const isInterrupted = ({ status: { pendingFlow } = {} }: IntegrationResource): boolean =>
  pendingFlow !== undefined && mayMakeEntry(pendingFlow);

/** It does not continue its flow before something else changes: others of its domain do not wait for that. */
function isHeldUp(resource: IntegrationResource): boolean {
  const reason = conditionOf(resource, 'Ready')?.reason ?? '';
  return resource.spec.suspend || ['SecretNotFound', 'KeyNotFound', 'InvalidSpec', 'DryRun'].includes(reason);
}

/** The contexts of all hubs, one for each client. */
export class HubContexts {
  private draining = false;
  private readonly contexts = new WeakMap<HubClient, HubContext>();

  constructor(private readonly services: Pick<Services, 'cache' | 'clock' | 'requeue'>) {}

  of(client: HubClient, { metadata: { namespace }, spec: { hubRef } }: IntegrationResource): HubContext {
    let context = this.contexts.get(client);
    if (!context) {
      context = new HubContext(this.services, client, namespace, hubRef.name);
      this.contexts.set(client, context);
    }
    return context;
  }

  /** The process stops: no further flow is started, and those that run are given up. */
  drain(clients: Iterable<HubClient>): void {
    this.draining = true;
    for (const client of clients) for (const operation of this.operationsOf(client)) operation.stop();
  }

  get isDraining(): boolean {
    return this.draining;
  }

  /** The operations that run or whose result no reconcile has recorded. */
  operationsOf(client: HubClient): readonly Operation[] {
    return this.contexts.get(client)?.operations ?? [];
  }
}
