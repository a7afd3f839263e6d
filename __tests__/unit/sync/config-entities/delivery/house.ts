import { HubFailed } from '../../../../../operator/client/connection/errors';
import type { HubClient } from '../../../../../operator/client/hub-client';
import type { Hub } from '../../../../../operator/kinds';
import { operatorAnnotations } from '../../../../../operator/kinds/annotations';
import { objectNames } from '../../../../../operator/kinds/object-names';
import type { ClusterObject } from '../../../../../operator/runtime/objects';
import { objectRecord } from '../../../../../operator/runtime/object-record';
import type { Outcome } from '../../../../../operator/runtime/outcome';
import type { ReconcileContext } from '../../../../../operator/runtime/sync-module';
import type { Child } from '../../../../../operator/sync/objects/child';
import { removeObject } from '../../../../../operator/sync/objects/removal';
import type { Services } from '../../../../../operator/sync/services';
import { automations } from '../../../../../operator/sync/config-entities/automation';
import { readFileText } from '../../../../../operator/sync/config-entities/delivery/item-text';
import { DeliveryReport } from '../../../../../operator/sync/config-entities/delivery/delivery-report';
import type { ConfigEntitySpec, EntityType } from '../../../../../operator/sync/config-entities/entity-type';
import { EntityContexts } from '../../../../../operator/sync/config-entities/entity-contexts';
import { scenes } from '../../../../../operator/sync/config-entities/scene';
import { scripts } from '../../../../../operator/sync/config-entities/script';
import { ConfigEntitySync } from '../../../../../operator/sync/config-entities/sync';
import { keptNotice, separateDelivered } from '../../../../../operator/sync/hub-pod/delivery-volumes';
import { Definitions, KINDS } from '../../../stand-in-hub/definitions';
import type { Living } from '../../../stand-in-hub/operators';
import { deliveriesIn } from '../../../stand-in-hub/pod';
import { StandInHub } from '../../../stand-in-hub/stand-in-hub';
import { aHub, noSettings, services } from '../../fixtures';
import { noReferences } from '../no-references';

type AnyType = EntityType<Child, ConfigEntitySpec>;
const TYPES = { HubAutomation: automations, HubScene: scenes, HubScript: scripts } as unknown as Record<
  string,
  AnyType
>;
const ACCEPTED = 'sha256:accepted';
/** Message of an `applyError` with which a reconcile may end. */
export const OUTAGE = 'the API server does not answer';

/**
 * A hub with automations, scenes and scripts in its own files and in delivered ones, and the resources that
 * describe them.
 */
export class House {
  readonly hub = new StandInHub();
  readonly definitions = this.hub.attach(new Definitions(this.hub, ACCEPTED));
  readonly clock = this.hub.clock;
  readonly configMaps = this.hub.configMaps;
  delivery: 'Api' | 'File' = 'File';
  /** The volume of the hub; undefined when unknown. */
  volume: string | undefined;
  retain = false;
  markManaged = true;
  /** Whether the operator is busy, so that status waits for the results of operations. */
  isBusy = false;
  /** Whether the API server refuses statuses. */
  failsStatus = false;
  /** Messages of the events of removals. */
  readonly removalEvents: string[] = [];
  private resources = new Map<string, Child>();
  private contexts!: EntityContexts;
  private modules!: Readonly<Record<string, ConfigEntitySync<Child, ConfigEntitySpec>>>;
  private given!: Services;
  private client!: HubClient;

  constructor() {
    this.start();
  }

  /** Starts a new process of the operator. The former one does nothing any more. */
  start(): void {
    const living = this.hub.operators.start();
    this.client = this.hub.client(living);
    this.given = this.services(living);
    this.contexts = new EntityContexts(this.given, Object.values(TYPES));
    this.modules = Object.fromEntries(
      Object.entries(TYPES).map(([kind, type]) => [
        kind,
        new ConfigEntitySync(type, this.given, this.contexts, noSettings, noReferences),
      ]),
    );
  }

  /** Requests to the hub and writes to the cluster, such as `POST a`, `DELETE a`, `reload automation`. */
  get asked(): readonly string[] {
    return this.hub.operators.events.filter((what) => what !== 'refresh' && what !== 'restart');
  }

  get hubResource(): Hub {
    const status = this.volume === undefined ? {} : { volumeID: this.volume };
    const { delivery, markManaged, retain } = this;
    return aHub({ spec: { delivery, markManaged, storage: { retain } }, status });
  }

  apply(kind: string, name: string, spec: object): void {
    const key = `${kind} ${name}`;
    const before = this.resources.get(key);
    const generation = (before?.metadata.generation ?? 0) + 1;
    const metadata = { name, namespace: 'home', uid: `uid-${key}`, generation };
    this.resources.set(key, {
      ...before,
      kind,
      metadata,
      spec: { hubRef: { name: 'villa' }, ...before?.spec, ...spec },
    } as unknown as Child);
  }

  forgetStatus(kind: string, name: string): void {
    const key = `${kind} ${name}`;
    const { status: _, ...resource } = this.resources.get(key)!;
    this.resources.set(key, resource);
  }

  /** Removes a resource without removing its object. */
  forget(kind: string, name: string): void {
    this.resources.delete(`${kind} ${name}`);
  }

  /** Copies the record of the object from the status of a deleted resource to another one. */
  handOver(from: string, to: string): void {
    const { status } = this.resources.get(from)!;
    this.resources.set(to, {
      ...this.resources.get(to)!,
      status: objectRecord({ status } as Child),
    });
    this.resources.delete(from);
  }

  status(kind: string, name: string): Readonly<Record<string, unknown>> {
    return { ...this.resources.get(`${kind} ${name}`)?.status };
  }

  /** Reconciles all until each is Ready, Stalled or removed. Resolves with the reasons by name. */
  async settle(steps = 60, pause = 500): Promise<Readonly<Record<string, string>>> {
    const reasons: Record<string, string> = {};
    for (let step = 0; step < steps; step++) {
      let isDone = true;
      for (const [key, { metadata }] of this.resources) {
        if (metadata.deletionTimestamp) {
          isDone = (await this.isRemoved(key)) && isDone;
          continue;
        }
        const outcome = await this.reconcile(key);
        reasons[key.split(' ')[1]!] = outcome.type === 'Ready' ? 'Ready' : outcome.reason;
        isDone &&= outcome.type !== 'Waiting';
      }
      if (isDone) return reasons;
      await this.clock.advance(pause);
    }
    throw new Error(`not settled: ${JSON.stringify(reasons)}`);
  }

  /** Reconciles for some steps, after which the process is killed. */
  async settleUntilKilled(steps: number): Promise<void> {
    await this.settle(steps).catch(() => undefined);
    this.start();
  }

  async reconcile(key: string, context: Partial<ReconcileContext> = {}): Promise<Outcome> {
    const resource = this.resources.get(key)!;
    let outcome: Outcome;
    try {
      outcome = await this.modules[resource.kind]!.sync(resource, this.client, context as ReconcileContext);
    } catch (error) {
      if (!this.isExpected(error)) throw error;
      outcome = { type: 'Waiting', reason: 'HubFailed', message: (error as Error).message, after: 1_000 };
    }
    if (this.failsStatus || (this.isBusy && outcome.type === 'Waiting' && outcome.brief)) return outcome;
    const fields = Object.entries({ ...resource.status, ...outcome.status });
    const news = Object.entries({ Ready: outcome, ...outcome.conditions }).map(([type, condition]) => ({
      type,
      reason: (condition as { reason?: string } | null)?.reason,
      message: (condition as { message?: string } | null)?.message,
    }));
    const status = {
      ...Object.fromEntries(fields.filter(([, value]) => value !== null)),
      observedGeneration: resource.metadata.generation,
      conditions: news,
    };
    this.resources.set(key, { ...resource, status } as unknown as Child);
    return outcome;
  }

  /** Deletes a resource: repeats its removal until it has ended. */
  async delete(key: string, steps = 60, context: Partial<ReconcileContext> = {}): Promise<void> {
    this.beginDeletion(key);
    for (let step = 0; step < steps; step++) {
      if (await this.isRemoved(key, context)) return;
      await this.clock.advance(500);
    }
    throw new Error(`${key} is never removed`);
  }

  isDeleting(kind: string, name: string): boolean {
    return this.resources.get(`${kind} ${name}`)?.metadata.deletionTimestamp !== undefined;
  }

  /** Marks a resource as being deleted. */
  beginDeletion(key: string): void {
    const present = this.resources.get(key)!;
    const metadata = { ...present.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    this.resources.set(key, { ...present, metadata });
  }

  /** Continues the removal. A failed one is repeated. */
  private async isRemoved(key: string, context: Partial<ReconcileContext> = {}): Promise<boolean> {
    const resource = this.resources.get(key)!;
    const module = this.modules[resource.kind]!;
    try {
      const given = context as ReconcileContext;
      const removed = await removeObject(this.given, module, resource, this.client, given);
      if ('type' in removed) {
        const status = { ...resource.status, ...removed.status };
        if (removed.status && !this.failsStatus) this.resources.set(key, { ...resource, status });
        return false;
      }
      this.removalEvents.push(...removed.map(({ message }) => message));
    } catch (error) {
      if (!this.isExpected(error)) throw error;
      return false;
    }
    return this.resources.delete(key);
  }

  /** Whether the runtime repeats a reconcile that throws this error. */
  private isExpected(error: unknown): boolean {
    return error instanceof HubFailed || (error instanceof Error && error.message === OUTAGE);
  }

  async report() {
    const status = await this.reconcileHub();
    await this.clock.advance(5_000);
    return status;
  }

  async reconcileHub() {
    const types = Object.values(TYPES);
    const report = new DeliveryReport(this.given, this.contexts, types);
    return (await report.of(this.hubResource, this.client)).status;
  }

  /** Gives the hub another volume: the operator finds its claim, and a pod starts on it. */
  async moveTo(volume: string): Promise<void> {
    await separateDelivered(this.given, this.hubResource, volume);
    this.volume = volume;
    this.definitions.clear();
    this.hub.restart();
  }

  /** The sentence in the status of the Hub about definitions of other volumes. */
  get keptNotice(): string | undefined {
    return keptNotice(this.given, this.hubResource);
  }

  /** The ids that are delivered, by kind. */
  get delivered(): readonly string[] {
    return deliveriesIn(this.configMaps).flatMap(([, { data }]) =>
      KINDS.flatMap((kind) => [...readFileText(kind, data[`${kind}s.yaml`]!).keys()]),
    );
  }

  private services(living: Living): Services {
    const resources = () => [...this.resources.values()];
    return services({
      ...this.hub.cluster(living),
      metrics: { countDrift: () => undefined },
      cache: {
        *ofHub<T extends ClusterObject>(kind: string) {
          yield* resources().filter((each) => each.kind === kind) as unknown as T[];
        },
        list: ((kind: string) =>
          kind === 'ConfigMap'
            ? [...this.configMaps.keys()].map((name) => this.configMaps.cached(name))
            : []) as never,
        get: ((kind: string, _namespace: string, name: string) => {
          if (kind === 'Hub') return this.hubResource;
          if (name === objectNames('villa').acceptedConfiguration)
            return { metadata: { name, annotations: { [operatorAnnotations.contentHash]: ACCEPTED } } };
          if (kind === 'ConfigMap') return this.configMaps.cached(name);
          return this.resources.get(`${kind} ${name}`);
        }) as never,
      },
    });
  }
}
