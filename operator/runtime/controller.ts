import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock';
import { DeadlineExceeded } from '../base/deadline';
import { OperationalError } from '../base/errors';
import { hub } from '../kinds/hub';
import type { KindDefinition } from '../kinds/kind';
import type { CustomResource } from '../kinds/resource';
import {
  BACKOFF_FIRST,
  BACKOFF_LAST,
  HANGING_RECONCILE,
  RECONCILE_TIMEOUT,
  RESYNC,
  RESYNC_JITTER,
  SLOW_RECONCILE,
} from '../base/limits';
import type { Metrics } from '../process/metrics';
import { isServerUnavailable } from './api-errors';
import { Backoff } from './backoff';
import { hubKey } from './cache';
import { isReady } from './conditions';
import { Dependencies } from './dependencies';
import { IdOwnership, identityInHub } from './id-ownership';
import { controllerOf, type ObjectOwnership } from './object-ownership';
import { type ObjectKey, objectKey, objectKeyOf, parseObjectKey } from './object-key';
import { objectRecord } from './object-record';
import type { ClusterObject } from './objects';
import type { Priority } from './priority';
import { WorkQueue } from './queue';
import type { Reconciler } from './reconciler';
import type { Result } from './result';
import type { Change } from './store';

export interface ControlledKind {
  readonly definition: KindDefinition;
  readonly reconciler: Reconciler<CustomResource>;
}

interface ControllerOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly kinds: ReadonlyMap<string, ControlledKind>;
  /** Reads a resource from the cache. */
  readonly read: (key: ObjectKey) => CustomResource | undefined;
  /** Resolves when the cache has all objects of a namespace; undefined if it has them. */
  readonly waitForNamespace: (namespace: string) => Promise<void> | undefined;
  readonly workers: number;
  readonly workersPerHub: number;
  readonly ownership: ObjectOwnership;
}

/** If work takes this much longer than the time limit of a reconcile, the queue is stuck. */
const STUCK = 3 * RECONCILE_TIMEOUT;

/**
 * Longest backoff after errors of the API server, in milliseconds. It is short so that reconciles resume soon
 * after an outage.
 */
const API_SERVER_RETRY = 10_000;

/**
 * The controller of all kinds, with one work queue. A resource is enqueued when it changes, when an object that it
 * depends on changes, and when an object that it owns changes. The result of a reconcile determines the time of the
 * next one.
 */
export class Controller {
  readonly queue: WorkQueue<ObjectKey>;
  private readonly backoff = new Backoff<ObjectKey>(BACKOFF_FIRST, BACKOFF_LAST);
  private readonly dependencies = new Dependencies();
  private readonly identities = new IdOwnership();
  private readonly deferred = new Set<ObjectKey>();

  constructor(private readonly options: ControllerOptions) {
    const { clock, metrics, workers, workersPerHub } = options;
    this.queue = new WorkQueue({
      clock,
      workers,
      perPartition: workersPerHub,
      slowAfter: SLOW_RECONCILE,
      hangingAfter: HANGING_RECONCILE,
      partitionOf: (key) => this.partitionOf(key),
      work: (key) => this.work(key),
      observer: metrics.queueObserver((key) => parseObjectKey(key).kind),
    });
    metrics.observeQueue(
      { depthByKind: () => this.depthByKind(), agesByKind: () => this.agesByKind() },
      workers,
    );
  }

  /** To be called when a custom resource changed. */
  onResource(definition: KindDefinition, change: Change<CustomResource>): void {
    const { object } = change;
    const key = objectKeyOf(object);
    const priority = change.type === 'added' && isSettled(object) ? 'resync' : 'change';
    try {
      const isDeletion = change.type === 'modified' && !change.previous.metadata.deletionTimestamp;
      if (isDeletion && object.metadata.deletionTimestamp) this.announceDeletion(object);
      this.index(definition, key, change, priority);
    } finally {
      // Enqueued even if the definition throws on this resource: its reconcile then reports the error.
      if (change.type !== 'modified' || predicate(change.previous, object)) this.queue.add(key, priority);
    }
    const modified = change.type === 'modified';
    if (
      modified &&
      isDeepStrictEqual(dependentView(definition, change.previous), dependentView(definition, object))
    )
      return;
    this.enqueueNaming(definition, change, priority);
    // Resources may still refer to the previous name or identity.
    const states = modified ? [object, change.previous] : [object];
    const names = states.flatMap((state) => [state.metadata.name, definition.identity?.(state)]);
    for (const name of new Set(names))
      if (name !== undefined)
        this.enqueueDependents(objectKey(definition.kind, object.metadata.namespace, name), priority);
  }

  /** To be called when an object changed on which resources may depend. */
  onReferenced(kind: string, { metadata: { namespace = '', name } }: ClusterObject): void {
    this.enqueueDependents(objectKey(kind, namespace, name), this.deliveryPriority());
  }

  /**
   * To be called when a generated object changed. Enqueues its owner and, if the owner changed, its previous
   * owner.
   */
  onOwned(change: Change<ClusterObject>): void {
    const states = change.type === 'modified' ? [change.object, change.previous] : [change.object];
    const owners = new Set(states.flatMap((state) => this.ownersOf(state)));
    this.enqueueAll(owners, this.deliveryPriority());
  }

  requeue(kind: string, namespace: string, name: string, priority: Priority = 'change'): void {
    this.queue.add(objectKey(kind, namespace, name), priority);
  }

  /** The older resource that owns the same object in the hub; undefined if there is none. */
  conflictingOwner(resource: CustomResource): ObjectKey | undefined {
    const owner = this.identities.conflictingOwner(objectKeyOf(resource));
    const definition = this.options.kinds.get(resource.kind)?.definition;
    const kept = definition?.keptObject?.(resource);
    const other = owner && this.options.read(owner);
    return kept !== undefined && other && definition?.keptObject?.(other) !== kept ? undefined : owner;
  }

  /**
   * The other resources that describe the same object in the hub, the oldest first. `resource` need not be
   * stored: the webhook asks before it is.
   */
  othersWithIdentity(definition: KindDefinition, resource: CustomResource): ObjectKey[] {
    const identity = identityInHub(definition, resource);
    return identity === undefined ? [] : this.identities.others(objectKeyOf(resource), identity);
  }

  /**
   * Problems of the queue and of reconciles that require a restart of the process, for the liveness probe.
   */
  livenessErrors(): string[] {
    const reconcilers = [...this.options.kinds.values()].map(({ reconciler }) => reconciler);
    const ages: [milliseconds: number, error: string][] = [
      [this.queue.longestRunning(), 'a reconcile has been running'],
      [this.queue.longestUnscheduled(), 'a resource has been due although workers are free'],
      [
        Math.max(...reconcilers.map((each) => each.oldestAbandoned())),
        'an abandoned reconcile has been running',
      ],
    ];
    return ages
      .filter(([milliseconds]) => milliseconds > STUCK)
      .map(([milliseconds, error]) => `${error} for ${Math.round(milliseconds / 1_000)} s`);
  }

  private async work(key: ObjectKey): Promise<void> {
    const { clock, kinds, metrics } = this.options;
    const { kind, namespace } = parseObjectKey(key);
    const complete = this.options.waitForNamespace(namespace);
    if (complete) return this.defer(key, complete);
    const startedAt = clock.monotonic();
    const result = await kinds.get(kind)!.reconciler.reconcile(key);
    metrics.observeDuration(kind, (clock.monotonic() - startedAt) / 1_000);
    this.handleResult(key, kind, result);
  }

  /**
   * Enqueues a key once the cache has all objects of its namespace. Further calls until then have no effect.
   */
  private defer(key: ObjectKey, complete: Promise<void>): void {
    if (this.deferred.has(key)) return;
    this.deferred.add(key);
    void complete.then(() => {
      this.deferred.delete(key);
      const resource = this.options.read(key);
      this.queue.add(key, resource && isSettled(resource) ? 'resync' : 'change');
    });
  }

  private announceDeletion(resource: CustomResource): void {
    this.options.kinds.get(resource.kind)?.reconciler.announceDeletion(resource);
  }

  private handleResult(key: ObjectKey, kind: string, result: Result): void {
    const { metrics } = this.options;
    switch (result.type) {
      case 'gone':
        metrics.countReconcile(kind, 'success');
        return this.backoff.forget(key);
      case 'resync':
        metrics.countReconcile(kind, 'success');
        this.backoff.forget(key);
        return this.queue.addAfter(key, resyncDelay(), 'resync');
      case 'requeue':
        metrics.countReconcile(kind, 'requeue_after');
        this.backoff.forget(key);
        return this.queue.addAfter(key, result.after, result.priority);
      case 'stalled':
        metrics.countReconcile(kind, result.after === undefined ? 'success' : 'requeue_after');
        metrics.countStalled(kind);
        this.backoff.forget(key);
        return result.after === undefined
          ? this.queue.addAfter(key, resyncDelay(), 'resync')
          : this.queue.addAfter(key, result.after);
      case 'retry':
        metrics.countReconcile(kind, 'error');
        this.countFailure(kind, result.error);
        return this.queue.addAfter(key, Math.max(result.atLeast, this.nextBackoff(key, result.error)));
    }
  }

  private countFailure(kind: string, error: Error): void {
    const { metrics } = this.options;
    metrics.countRetry(kind);
    if (error instanceof DeadlineExceeded) metrics.countTimeout(kind);
    else if (!(error instanceof OperationalError)) metrics.countPanic(kind);
  }

  private nextBackoff(key: ObjectKey, error: Error): number {
    return this.backoff.next(key, isServerUnavailable(error) ? API_SERVER_RETRY : undefined);
  }

  /** The owners by the owner reference and by the label. A retained volume claim has only the label. */
  private ownersOf(object: ClusterObject): ObjectKey[] {
    const { namespace = '' } = object.metadata;
    return [this.options.ownership.ownerIn(object), controllerOf(object)].flatMap((owner) =>
      owner && this.options.kinds.has(owner.kind) ? [objectKey(owner.kind, namespace, owner.name)] : [],
    );
  }

  /**
   * The partition of a hub and its children, so that a hanging hub does not delay others. A Hub itself has a
   * partition of its own and does not wait for its children; removals do not wait for reconciles.
   */
  private partitionOf(key: ObjectKey): string {
    const { kind, namespace } = parseObjectKey(key);
    if (kind === hub.kind) return key;
    const resource = this.options.read(key);
    if (!resource) return namespace;
    const partition = hubKey(namespace, this.options.kinds.get(kind)!.definition.hubName(resource));
    return resource.metadata.deletionTimestamp ? `${partition} deletions` : partition;
  }

  private index(
    definition: KindDefinition,
    key: ObjectKey,
    { type, object }: Change<CustomResource>,
    priority: Priority,
  ): void {
    if (type === 'deleted') {
      this.dependencies.remove(key);
      this.enqueueAll(this.identities.remove(key), priority);
    } else {
      this.dependencies.set(key, this.references(definition, object));
      this.indexIdentity(definition, key, object, priority);
    }
  }

  private references(definition: KindDefinition, resource: CustomResource): ObjectKey[] {
    return definition
      .references(resource)
      .map(({ kind, name }) => objectKey(kind, resource.metadata.namespace, name));
  }

  private indexIdentity(
    definition: KindDefinition,
    key: ObjectKey,
    resource: CustomResource,
    priority: Priority,
  ): void {
    const identity = identityInHub(definition, resource);
    if (identity === undefined) return this.enqueueAll(this.identities.remove(key), priority);
    const { creationTimestamp, uid } = resource.metadata;
    this.enqueueAll(this.identities.set({ key, creationTimestamp, uid }, identity), priority);
  }

  /**
   * The priority of a delivered event. Events before the start of the queue are the initial list, so they
   * have resync priority.
   */
  private deliveryPriority(): Priority {
    return this.queue.running ? 'change' : 'resync';
  }

  private enqueueDependents(reference: ObjectKey, priority: Priority): void {
    this.enqueueAll(this.dependencies.of(reference), priority);
  }

  /**
   * When the Secrets that a resource reserves have changed, enqueues the resources that refer to one of the
   * reserved Secrets, former or new.
   */
  private enqueueNaming(
    definition: KindDefinition,
    change: Change<CustomResource>,
    priority: Priority,
  ): void {
    const { namespace } = change.object.metadata;
    const reserved = (resource: CustomResource) => definition.reservedSecrets?.(resource) ?? [];
    const now = reserved(change.object);
    const before = change.type === 'modified' ? reserved(change.previous) : [];
    if (isDeepStrictEqual(now, before)) return;
    for (const name of new Set([...now, ...before]))
      this.enqueueDependents(objectKey('Secret', namespace, name), priority);
  }

  private enqueueAll(keys: Iterable<ObjectKey>, priority: Priority): void {
    for (const key of [...keys]) this.queue.add(key, priority);
  }

  private depthByKind(): ReadonlyMap<string, number> {
    const depths = new Map([...this.options.kinds.keys()].map((kind) => [kind, 0]));
    for (const key of this.queue.queued()) {
      const { kind } = parseObjectKey(key);
      depths.set(kind, depths.get(kind)! + 1);
    }
    return depths;
  }

  private agesByKind(): ReadonlyMap<string, readonly number[]> {
    const ages = new Map([...this.options.kinds.keys()].map((kind) => [kind, [] as number[]]));
    for (const [key, age] of this.queue.inProgress()) ages.get(parseObjectKey(key).kind)!.push(age);
    return ages;
  }
}

function resyncDelay(): number {
  return RESYNC * (1 + RESYNC_JITTER * (2 * Math.random() - 1));
}

/**
 * Whether this or a previous process has reconciled this generation. After a start, such a resource has
 * resync priority.
 */
const isSettled = ({ metadata, status }: CustomResource): boolean =>
  !metadata.deletionTimestamp && status?.observedGeneration === metadata.generation;

/** Whether a change requires a reconcile: changes of the operator's own status and finalizer do not. */
function predicate(before: CustomResource, after: CustomResource): boolean {
  const parts = ({ metadata }: CustomResource) => [
    metadata.generation,
    metadata.deletionTimestamp,
    metadata.annotations,
  ];
  const finalizerRemoved =
    before.metadata.finalizers?.some((finalizer) => !after.metadata.finalizers?.includes(finalizer)) ?? false;
  return finalizerRemoved || !isDeepStrictEqual(parts(before), parts(after));
}

/** The parts of a resource that its dependents use: existence, spec, and parts of the status. */
function dependentView(definition: KindDefinition, resource: CustomResource): unknown {
  const { generation, deletionTimestamp, uid } = resource.metadata;
  const status = definition.dependentStatus?.(resource) ?? defaultDependentStatus(resource);
  return [uid, generation, deletionTimestamp, status];
}

function defaultDependentStatus(resource: CustomResource): unknown {
  return [isReady(resource), objectRecord(resource)];
}
