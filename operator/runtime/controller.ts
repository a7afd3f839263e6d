import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock';
import type { KindDefinition } from '../kinds/kind';
import { PASS_TIMEOUT } from '../limits';
import type { Metrics, PassFault } from '../metrics';
import { Claims } from './identity-index';
import { Dependencies } from './dependencies';
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
  readonly read: (id: string) => CustomResource | undefined;
  readonly workers: number;
  readonly workersPerHub: number;
  /** Label of what we make: `<kind>.<name>` of its owner. */
  readonly ownerLabel: string;
}

/** Work in hand for much longer than a pass and its requests to the cluster may take means that the queue is stuck. */
const STUCK = 3 * PASS_TIMEOUT;

/** An API server that was away is no fault of the resource: its passes go on soon after the server is back. */
const CLUSTER_RETRY = 10_000;

/**
 * From news to work: a change of a resource, of something that it refers to or of something that it owns puts it
 * into the one queue of all kinds, and how its pass ended decides when it comes there next.
 */
export class Controller {
  readonly queue: WorkQueue;
  private readonly dependencies = new Dependencies();
  private readonly claims = new Claims();

  constructor(private readonly options: ControllerOptions) {
    const { clock, metrics, workers, workersPerHub } = options;
    this.queue = new WorkQueue({
      clock,
      workers,
      perPartition: workersPerHub,
      partitionOf: (id) => this.hubOf(id),
      work: (id) => this.work(id),
      observer: metrics.queueObserver((id) => parseId(id).kind),
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
    const id = idOf(definition.kind, object);
    const priority = change.type === 'added' && isSettled(object) ? 'resync' : 'change';
    if (change.type === 'deleted') {
      this.dependencies.remove(id);
      this.enqueueAll(this.claims.remove(id), priority);
    } else {
      this.dependencies.set(id, this.references(definition, object));
      this.claim(definition, id, object, priority);
    }
    if (change.type !== 'modified' || isForUs(change.previous, object)) this.queue.add(id, priority);
    if (
      change.type !== 'modified' ||
      !isDeepStrictEqual(shownToOthers(change.previous), shownToOthers(object))
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
    this.queue.add(Dependencies.id(kind, namespace, name), priority);
  }

  /** The older resource that has what this one claims in the hub. */
  rival(kind: string, resource: ClusterObject): string | undefined {
    return this.claims.rival(idOf(kind, resource));
  }

  /** What is wrong with the queue and its work, in words. */
  livenessErrors(): string[] {
    const reconcilers = [...this.options.kinds.values()].map(({ reconciler }) => reconciler);
    const found: [number, string][] = [
      [this.queue.longestRunning(), 'a pass has been running'],
      [this.queue.longestOverlooked(), 'a resource has been due, with workers free,'],
      [
        Math.max(...reconcilers.map((each) => each.longestGivenUp())),
        'a pass that was given up has not ended',
      ],
    ];
    return found
      .filter(([milliseconds]) => milliseconds > STUCK)
      .map(([milliseconds, what]) => `${what} for ${Math.round(milliseconds / 1_000)} s`);
  }

  private async work(id: string): Promise<void> {
    const { clock, kinds, metrics } = this.options;
    const { kind, key } = parseId(id);
    const startedAt = clock.monotonic();
    const next = await kinds.get(kind)!.reconciler.reconcile(key);
    metrics.passEnded(kind, resultOf(next), (clock.monotonic() - startedAt) / 1_000, faultOf(next));
    this.plan(id, next);
  }

  private plan(id: string, next: Result): void {
    switch (next.type) {
      case 'gone':
        return this.queue.forget(id);
      case 'backoff':
        return this.queue.retry(
          id,
          next.atLeast,
          isServerUnavailable(next.error) ? CLUSTER_RETRY : undefined,
        );
      case 'after':
        this.queue.forget(id);
        return this.queue.addAfter(id, next.delay, next.resync ? 'resync' : 'change');
    }
  }

  private hubOf(id: string): string {
    const { kind } = parseId(id);
    const resource = this.options.read(id);
    const namespace = id.split('/')[1]!;
    return resource
      ? `${namespace}/${this.options.kinds.get(kind)!.definition.hubName(resource)}`
      : namespace;
  }

  private references(definition: KindDefinition, resource: CustomResource): string[] {
    return definition
      .references(resource)
      .map(({ kind, name }) => Dependencies.id(kind, resource.metadata.namespace!, name));
  }

  private claim(definition: KindDefinition, id: string, resource: CustomResource, priority: Priority): void {
    const claim = definition.identity?.(resource);
    const { namespace, creationTimestamp, uid } = resource.metadata;
    if (claim === undefined) return this.enqueueAll(this.claims.remove(id), priority);
    const hub = definition.hubName(resource);
    const claimant = { id, createdAt: creationTimestamp ?? '', uid: uid ?? '' };
    this.enqueueAll(this.claims.set(claimant, [definition.kind, namespace, hub, claim].join('/')), priority);
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
    this.enqueueAll(this.dependencies.of(Dependencies.id(kind, namespace ?? '', name)), priority);
  }

  private enqueueAll(ids: Iterable<string>, priority: Priority): void {
    for (const id of [...ids]) this.queue.add(id, priority);
  }

  private depthByKind(): ReadonlyMap<string, number> {
    const depths = new Map([...this.options.kinds.keys()].map((kind) => [kind, 0]));
    for (const id of this.queue.due()) {
      const { kind } = parseId(id);
      depths.set(kind, depths.get(kind)! + 1);
    }
    return depths;
  }

  private agesByKind(): ReadonlyMap<string, readonly number[]> {
    const ages = new Map([...this.options.kinds.keys()].map((kind) => [kind, [] as number[]]));
    for (const [id, age] of this.queue.inWork()) ages.get(parseId(id).kind)!.push(age);
    return ages;
  }
}

const idOf = (kind: string, { metadata }: ClusterObject): string =>
  Dependencies.id(kind, metadata.namespace ?? '', metadata.name);

/** An id is its kind, and its key among the kind. */
export function parseId(id: string): { kind: string; key: string } {
  const slash = id.indexOf('/');
  return { kind: id.slice(0, slash), key: id.slice(slash + 1) };
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
function isForUs(before: CustomResource, after: CustomResource): boolean {
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
function shownToOthers(resource: CustomResource): unknown {
  const {
    conditions: _,
    observedGeneration: __,
    lastHandledReconcileAt: ___,
    ...status
  } = resource.status ?? {};
  const { generation, deletionTimestamp } = resource.metadata;
  return [generation, deletionTimestamp, isReady(resource), status];
}
