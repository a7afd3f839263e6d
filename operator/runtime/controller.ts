import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock';
import type { KindDefinition } from '../kinds/kind';
import { RECONCILE_TIMEOUT } from '../limits';
import type { Metrics, PassFault } from '../metrics';
import { IdentityIndex } from './identity-index';
import { Dependencies } from './dependencies';
import { type ObjectKey, objectKey, objectKeyOf, parseObjectKey } from './object-key';
import type { ClusterObject } from './objects';
import { type Priority, WorkQueue } from './queue';
import type { Result, Reconciler } from './reconciler';
import type { CustomResource } from '../kinds/resource';
import { isReady } from './conditions';
import type { Change } from './store';
import { isServerUnavailable } from './api-client';

export interface ControlledKind {
  readonly definition: KindDefinition;
  readonly reconciler: Reconciler<CustomResource>;
}

export interface ControllerOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly kinds: ReadonlyMap<string, ControlledKind>;
  readonly read: (key: ObjectKey) => CustomResource | undefined;
  readonly workers: number;
  readonly workersPerHub: number;
  /** Label of what we make: `<kind>.<name>` of its owner. */
  readonly ownerLabel: string;
}

/** Work in hand for much longer than a pass and its requests to the cluster may take means that the queue is stuck. */
const STUCK = 3 * RECONCILE_TIMEOUT;

/** An API server that was away is no fault of the resource: its passes go on soon after the server is back. */
const CLUSTER_RETRY = 10_000;

/**
 * From news to work: a change of a resource, of something that it refers to or of something that it owns puts it
 * into the one queue of all kinds, and how its pass ended decides when it comes there next.
 */
export class Controller {
  readonly queue: WorkQueue<ObjectKey>;
  private readonly dependencies = new Dependencies();
  private readonly identities = new IdentityIndex();

  constructor(private readonly options: ControllerOptions) {
    const { clock, metrics, workers, workersPerHub } = options;
    this.queue = new WorkQueue({
      clock,
      workers,
      perPartition: workersPerHub,
      partitionOf: (key) => this.hubOf(key),
      work: (key) => this.work(key),
      observer: metrics.queueObserver((key) => parseObjectKey(key).kind),
    });
    metrics.watchQueue(
      {
        depthByKind: () => this.depthByKind(),
        agesByKind: () => this.agesByKind(),
      },
      workers,
    );
  }

  /** A resource of ours was seen to change. */
  onResource(definition: KindDefinition, change: Change<CustomResource>): void {
    const { object } = change;
    const key = objectKeyOf(object);
    const priority = change.type === 'added' && isSettled(object) ? 'resync' : 'change';
    if (change.type === 'deleted') {
      this.dependencies.remove(key);
      this.enqueueAll(this.identities.remove(key), priority);
    } else {
      this.dependencies.set(key, this.references(definition, object));
      this.indexIdentity(definition, key, object, priority);
    }
    if (change.type !== 'modified' || predicate(change.previous, object)) this.queue.add(key, priority);
    if (
      change.type !== 'modified' ||
      !isDeepStrictEqual(dependentView(change.previous), dependentView(object))
    ) {
      // Those that still refer to a former name have to hear of it, too.
      const states = change.type === 'modified' ? [object, change.previous] : [object];
      const names = states.flatMap((state) => [state.metadata.name, definition.identity?.(state)]);
      for (const name of new Set(names))
        if (name !== undefined)
          this.enqueueDependents(definition.kind, object.metadata.namespace, name, priority);
    }
  }

  /** An object that resources may refer to was seen to change. */
  onReferenced(kind: string, { metadata }: ClusterObject): void {
    this.enqueueDependents(kind, metadata.namespace, metadata.name, this.priorityOfNews());
  }

  /** An object that we made was seen to change: its owner looks whether it is still right. */
  onOwned({ metadata }: ClusterObject): void {
    const owner = metadata.labels?.[this.options.ownerLabel];
    const dot = owner?.indexOf('.') ?? -1;
    if (!owner || dot < 0) return;
    const kind = owner.slice(0, dot);
    if (this.options.kinds.has(kind))
      this.requeue(kind, metadata.namespace ?? '', owner.slice(dot + 1), this.priorityOfNews());
  }

  /** Works a resource again, now; what is only a look at what should be right anyway is a `resync`. */
  requeue(kind: string, namespace: string, name: string, priority: Priority = 'change'): void {
    this.queue.add(objectKey(kind, namespace, name), priority);
  }

  /** The older resource that owns the same object in the hub. */
  conflictingOwner(resource: CustomResource): ObjectKey | undefined {
    return this.identities.conflictingOwner(objectKeyOf(resource));
  }

  /** What is wrong with the queue and its work, in words. */
  livenessErrors(): string[] {
    const reconcilers = [...this.options.kinds.values()].map(({ reconciler }) => reconciler);
    const found: [number, string][] = [
      [this.queue.longestRunning(), 'a pass has been running'],
      [this.queue.longestUnscheduled(), 'a resource has been due, with workers free,'],
      [
        Math.max(...reconcilers.map((each) => each.oldestAbandoned())),
        'a pass that was given up has not ended',
      ],
    ];
    return found
      .filter(([milliseconds]) => milliseconds > STUCK)
      .map(([milliseconds, what]) => `${what} for ${Math.round(milliseconds / 1_000)} s`);
  }

  private async work(key: ObjectKey): Promise<void> {
    const { clock, kinds, metrics } = this.options;
    const { kind } = parseObjectKey(key);
    const startedAt = clock.monotonic();
    const next = await kinds.get(kind)!.reconciler.reconcile(key);
    metrics.reconciled(kind, resultOf(next), (clock.monotonic() - startedAt) / 1_000, faultOf(next));
    this.handleResult(key, next);
  }

  private handleResult(key: ObjectKey, next: Result): void {
    switch (next.type) {
      case 'gone':
        return this.queue.forget(key);
      case 'backoff':
        return this.queue.retry(
          key,
          next.atLeast,
          isServerUnavailable(next.error) ? CLUSTER_RETRY : undefined,
        );
      case 'after':
        this.queue.forget(key);
        return this.queue.addAfter(key, next.delay, next.resync ? 'resync' : 'change');
    }
  }

  private hubOf(key: ObjectKey): string {
    const { kind } = parseObjectKey(key);
    const resource = this.options.read(key);
    const namespace = key.split('/')[1]!;
    return resource
      ? `${namespace}/${this.options.kinds.get(kind)!.definition.hubName(resource)}`
      : namespace;
  }

  private references(definition: KindDefinition, resource: CustomResource): ObjectKey[] {
    return definition
      .references(resource)
      .map(({ kind, name }) => objectKey(kind, resource.metadata.namespace!, name));
  }

  private indexIdentity(
    definition: KindDefinition,
    key: ObjectKey,
    resource: CustomResource,
    priority: Priority,
  ): void {
    const identity = definition.identity?.(resource);
    const { namespace, creationTimestamp, uid } = resource.metadata;
    if (identity === undefined) return this.enqueueAll(this.identities.remove(key), priority);
    const hub = definition.hubName(resource);
    const contender = { key, createdAt: creationTimestamp ?? '', uid: uid ?? '' };
    this.enqueueAll(
      this.identities.set(contender, [definition.kind, namespace, hub, identity].join('/')),
      priority,
    );
  }

  /** What is told before the work begins is all that there is, and no news of anybody. */
  private priorityOfNews(): Priority {
    return this.queue.running ? 'change' : 'resync';
  }

  private enqueueDependents(
    kind: string,
    namespace: string | undefined,
    name: string,
    priority: Priority,
  ): void {
    this.enqueueAll(this.dependencies.of(objectKey(kind, namespace ?? '', name)), priority);
  }

  private enqueueAll(keys: Iterable<ObjectKey>, priority: Priority): void {
    for (const key of [...keys]) this.queue.add(key, priority);
  }

  private depthByKind(): ReadonlyMap<string, number> {
    const depths = new Map([...this.options.kinds.keys()].map((kind) => [kind, 0]));
    for (const key of this.queue.due()) {
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

function resultOf(next: Result) {
  switch (next.type) {
    case 'gone':
      return 'success';
    case 'backoff':
      return 'error';
    case 'after':
      return next.result;
  }
}

function faultOf(next: Result): PassFault | undefined {
  if (next.type === 'after') return next.stalled ? 'terminal' : undefined;
  if (next.type !== 'backoff') return undefined;
  return bugs.some((bug) => next.error instanceof bug) ? 'panic' : undefined;
}

/** What only a mistake of ours throws: Go's panics. */
const bugs = [TypeError, RangeError, ReferenceError];

/** Whether it was worked as it is now, by this process or by the one before: the check at start may take its time. */
const isSettled = ({ metadata, status }: CustomResource): boolean =>
  !metadata.deletionTimestamp && status?.observedGeneration === metadata.generation;

/** Whether a change is one to act on: of what a person or another controller may ask, not of our own status and finalizer. */
function predicate(before: CustomResource, after: CustomResource): boolean {
  const parts = ({ metadata }: CustomResource) => [
    metadata.generation,
    metadata.deletionTimestamp,
    metadata.annotations,
  ];
  const lost =
    before.metadata.finalizers?.some((finalizer) => !after.metadata.finalizers?.includes(finalizer)) ?? false;
  return lost || !isDeepStrictEqual(parts(before), parts(after));
}

/** What others may depend on: that it is there, its spec, whether it is ready, and what its status says of it. */
function dependentView(resource: CustomResource): unknown {
  const {
    conditions: _,
    observedGeneration: __,
    lastHandledReconcileAt: ___,
    ...status
  } = resource.status ?? {};
  const { generation, deletionTimestamp } = resource.metadata;
  return [generation, deletionTimestamp, isReady(resource), status];
}
