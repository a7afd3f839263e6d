import type {
  ConfigEntityKind,
  EntityPayload,
} from '../../../../../operator/client/connection/config-entity';
import { HubFailed, HubRejected, HubUnreachable } from '../../../../../operator/client/connection/errors';
import { Reloads } from '../../../../../operator/client/config-entities/reloads';
import type { HubClient } from '../../../../../operator/client/hub-client';
import { isObject } from '../../../../../operator/base/is-object';
import type { Hub } from '../../../../../operator/kinds';
import { operatorAnnotations } from '../../../../../operator/kinds/annotations';
import { MARKER_SCRIPT } from '../../../../../operator/kinds/ids';
import { objectNames } from '../../../../../operator/kinds/object-names';
import type { ApplyOptions } from '../../../../../operator/runtime/apply';
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
import { silentLog } from '../../../../cluster/silent-log';
import { ManualClock } from '../../../manual-clock';
import { keptNotice, separateDelivered } from '../../../../../operator/sync/hub-pod/delivery-volumes';
import { FakePresence } from '../../fake-presence';
import { aHub, noSettings, services } from '../../fixtures';
import { noReferences } from '../no-references';

type AnyType = EntityType<Child, ConfigEntitySpec>;
const TYPES = { HubAutomation: automations, HubScene: scenes, HubScript: scripts } as unknown as Record<
  string,
  AnyType
>;
/** Limit of the API server for the bytes of data. */
const LARGEST_CONFIG_MAP = 1_048_576;
const ACCEPTED = 'sha256:accepted';
const KINDS = ['automation', 'scene', 'script'] as const;
/** Message of an `applyError` with which a reconcile may end. */
export const OUTAGE = 'the API server does not answer';
const NOTHING = Symbol('nothing');

interface StoredMap extends ClusterObject {
  readonly data: Readonly<Record<string, string>>;
}

interface Entity {
  entity_id: string;
  labels: readonly string[];
  area: string;
}

/**
 * A cluster with ConfigMaps, the pod of a hub that mounts them, and a hub that reads these files and its own.
 */
export class House {
  readonly clock = new ManualClock();
  delivery: 'Api' | 'File' = 'File';
  /** The volume of the hub; undefined when unknown. */
  volume: string | undefined;
  /** Requests to the hub and writes to the cluster, such as `POST a`, `DELETE a`, `reload automation`. */
  readonly asked: string[] = [];
  readonly configMaps = new Map<string, StoredMap>();
  /** Names of the ConfigMaps that the garbage collector deletes with the Hub. */
  readonly owned = new Set<string>();
  retain = false;
  /** Whether the operator is busy, so that status waits for the results of operations. */
  isBusy = false;
  /** Whether the API server refuses statuses. */
  failsStatus = false;
  /** Messages of the events of removals. */
  readonly removalEvents: string[] = [];
  /** Whether the cache has the ConfigMaps. If false, a list of them is still in flight. */
  isCached = true;
  applyError: Error | undefined;
  /** Milliseconds that a write of a ConfigMap takes. */
  applyTime = 0;
  isApplying = false;
  /** Milliseconds that the deletion of a ConfigMap takes. */
  removeTime = 0;
  /** Milliseconds that the removal from the entity registry takes. */
  unregisterTime = 0;
  /** Milliseconds that a write into the hub's own file takes. */
  postTime = 0;
  /** Milliseconds in which a write without an answer may still be executed. */
  lateWritePeriod = 0;
  /** The error with which the hub answers a removal from its own file. */
  removeError: Error | undefined;
  /** Whether another client has replaced this one. */
  isClosed = false;
  /** Whether the kubelet updates the ConfigMaps in the pod. */
  refreshes = true;
  /** Milliseconds that the kubelet takes for an update. */
  refreshTime = 0;
  /**
   * Milliseconds that the hub takes to read its files when its scripts are reloaded. `readAt` has the times
   * when it began.
   */
  readTime = 0;
  readonly readAt: number[] = [];
  /** Whether the hub has read a configuration that it has not accepted. */
  isTried = false;
  /** Whether the hub has read a file of the configuration that does not belong to its marker. */
  hasOtherPart = false;
  /**
   * Part of a line of a delivered file that the hub's YAML loader refuses, after which the hub reads no file
   * at all.
   */
  unreadable: string | undefined;
  /** Name of a delivered object that the hub does not load. */
  omitted: string | undefined;
  /** Names of the objects that the hub disables when it loads them. */
  readonly disabledBy: Record<string, string> = {};
  /** The definitions in the hub's own files, by kind and id. */
  readonly ownFiles = new Map<string, EntityPayload>();
  readonly loaded = new Map<string, EntityPayload>();
  readonly registry = new Map<string, Entity>();
  private mounted = new Map<string, StoredMap>();
  private resources = new Map<string, Child>();
  private contexts!: EntityContexts;
  private modules!: Readonly<Record<string, ConfigEntitySync<Child, ConfigEntitySpec>>>;
  private given!: Services;
  private client!: HubClient;
  private process = 0;
  private version = 0;
  readonly presence = new FakePresence();
  private hubStarts = 0;
  private writing = Promise.resolve();

  constructor() {
    this.start();
  }

  /** Starts a new process of the operator. The former one does nothing any more. */
  start(): void {
    const process = ++this.process;
    const gone = () => process !== this.process;
    this.client = this.hub(gone);
    this.given = this.services(gone);
    this.contexts = new EntityContexts(this.given, Object.values(TYPES));
    this.modules = Object.fromEntries(
      Object.entries(TYPES).map(([kind, type]) => [
        kind,
        new ConfigEntitySync(type, this.given, this.contexts, noSettings, noReferences),
      ]),
    );
  }

  get hubResource(): Hub {
    const status = this.volume === undefined ? {} : { volumeID: this.volume };
    return aHub({ spec: { delivery: this.delivery, storage: { retain: this.retain } }, status });
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

  annotations(configMap: string): Readonly<Record<string, string>> {
    return this.configMaps.get(configMap)?.metadata.annotations ?? {};
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
    this.ownFiles.clear();
    this.registry.clear();
    this.restartHub();
  }

  /** The sentence in the status of the Hub about definitions of other volumes. */
  get keptNotice(): string | undefined {
    return keptNotice(this.given, this.hubResource);
  }

  /** The ids that are delivered, by kind. */
  get delivered(): readonly string[] {
    return [...this.mountable().values()].flatMap(({ data }) =>
      KINDS.flatMap((kind) => [...readFileText(kind, data[`${kind}s.yaml`]!).keys()]),
    );
  }

  private services(gone: () => boolean): Services {
    const resources = () => [...this.resources.values()];
    const stop = () => new Promise<never>(() => undefined);
    return services({
      clock: this.clock,
      metrics: { countDrift: () => undefined },
      cache: {
        *ofHub<T extends ClusterObject>(kind: string) {
          yield* resources().filter((each) => each.kind === kind) as unknown as T[];
        },
        list: ((kind: string) => (kind === 'ConfigMap' ? this.configMaps.values() : [])) as never,
        get: ((kind: string, _namespace: string, name: string) => {
          if (kind === 'Hub') return this.hubResource;
          if (name === objectNames('villa').acceptedConfiguration)
            return { metadata: { name, annotations: { [operatorAnnotations.contentHash]: ACCEPTED } } };
          if (kind === 'ConfigMap') return this.isCached ? this.configMaps.get(name) : undefined;
          return this.resources.get(`${kind} ${name}`);
        }) as never,
      },
      applier: {
        isOurs: () => true,
        find: (async (_type: unknown, _namespace: string, name: string) =>
          this.configMaps.get(name)) as never,
        apply: (async (_type: unknown, object: StoredMap, { ownerReference }: ApplyOptions) => {
          if (gone()) return stop();
          const { applyError } = this;
          this.isApplying = true;
          if (this.applyTime > 0) await this.clock.sleep(this.applyTime);
          this.isApplying = false;
          if (applyError) throw applyError;
          const size = Object.values(object.data).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
          if (size > LARGEST_CONFIG_MAP) throw new Error(`${size} bytes are too many for a ConfigMap`);
          const { name } = object.metadata;
          const present = this.configMaps.get(name);
          if (ownerReference === 'never') this.owned.delete(name);
          else if (!present || ownerReference !== 'at creation') this.owned.add(name);
          const written = {
            ...object,
            metadata: { ...object.metadata, resourceVersion: `${++this.version}` },
          };
          if (present && isSame(present, written)) return present;
          this.asked.push(`write ${name}`);
          this.configMaps.set(name, written);
          return written;
        }) as never,
        remove: async (_type, _owner, name) => {
          if (gone()) return stop();
          if (this.removeTime > 0) await this.clock.sleep(this.removeTime);
          this.asked.push(`delete ${name}`);
          this.configMaps.delete(name);
        },
      },
      cluster: {
        request: (async () => {
          if (!this.refreshes) return;
          if (this.refreshTime > 0) this.clock.after(this.refreshTime, () => this.mount());
          else this.mount();
        }) as never,
      },
    });
  }

  /** Updates the files in the pod. */
  mount(): void {
    this.mounted = this.mountable();
  }

  /** Restarts the hub, which loads all of its files. */
  restartHub(): void {
    this.hubStarts += 1;
    this.presence.restart();
    this.mount();
    for (const kind of KINDS) this.load(kind);
  }

  /** Returns the ConfigMaps that the pod mounts. */
  private mountable(): Map<string, StoredMap> {
    return new Map([...this.configMaps].filter(([name]) => /^villa-delivery-\d$/.test(name)));
  }

  /** Makes the hub load the definitions of a kind from its pod. */
  load(kind: ConfigEntityKind): void {
    const omitted = this.omitted ?? NOTHING;
    const delivered = [...this.mounted.values()].flatMap(({ data }) => [
      ...[...readFileText(kind, data[`${kind}s.yaml`]!)].filter(([, { alias }]) => alias !== omitted),
    ]);
    const own = [...this.ownFiles].flatMap(([key, payload]) => {
      const [of, id] = key.split(' ') as [string, string];
      return of === kind ? [[id, payload] as const] : [];
    });
    for (const key of [...this.loaded.keys()]) if (key.startsWith(`${kind} `)) this.loaded.delete(key);
    // When two definitions have one id, the hub uses that of its own file.
    for (const [id, payload] of [...delivered, ...own]) {
      const key = `${kind} ${id}`;
      this.loaded.set(key, payload);
      if (!this.registry.has(key))
        this.registry.set(key, { entity_id: `${kind}.${id}`, labels: [], area: '' });
    }
  }

  private failIfUnreadable(): void {
    const { unreadable } = this;
    if (unreadable === undefined) return;
    for (const [name, { data }] of this.mounted)
      for (const kind of KINDS) {
        const line = data[`${kind}s.yaml`]!.split('\n').findIndex((each) => each.includes(unreadable));
        const path = `/hub-operator/delivery/${kind}s/${name.split('-').at(-1)}/${kind}s.yaml`;
        if (line >= 0)
          throw new HubRejected(
            'service_validation_error',
            `while parsing a flow mapping\n  in "${path}", line ${line + 1}, column 1\nexpected ',' or '}', but got ':'\n  in "${path}", line ${line + 1}, column 9`,
          );
      }
  }

  private hub(gone: () => boolean): HubClient {
    const never = () => new Promise<never>(() => undefined);
    const living =
      <A extends unknown[], R>(call: (...args: A) => R | Promise<R>) =>
      async (...args: A): Promise<R> =>
        gone() ? never() : call(...args);
    const reload = living(async (kind: ConfigEntityKind) => {
      this.asked.push(`reload ${kind}`);
      if (kind === 'script') this.readAt.push(this.clock.monotonic());
      this.failIfUnreadable();
      this.load(kind);
      if (kind === 'script' && this.readTime > 0) await this.clock.sleep(this.readTime);
    });
    const find = living((kind: string, id: string) => {
      if (id === MARKER_SCRIPT) return { entity_id: `script.${id}` };
      const entity = this.registry.get(`${kind} ${id}`);
      const payload = this.loaded.get(`${kind} ${id}`);
      return (
        entity && {
          ...entity,
          disabled_by: null,
          original_name: payload?.['name'],
          original_icon: payload?.['icon'] ?? null,
        }
      );
    });
    const keyBy = (entityId: string) =>
      [...this.registry].find(([, { entity_id: id }]) => id === entityId)?.[0] ?? '';
    const always = () => true;
    return {
      components: { isLoaded: () => Promise.resolve(true) },
      presence: this.presence,
      events: { watch: () => Promise.resolve(), onEvent: () => undefined },
      connection: {
        command: living((type: string, { triggers }: { triggers?: unknown } = {}) => {
          if (type === 'system_log/list') return [];
          if (type === 'integration/setup_info') return [{ domain: 'api', seconds: this.hubStarts }];
          return { triggers: { error: isBad(triggers) ? 'Invalid trigger bad' : null } };
        }),
      },
      entityRegistry: {
        find,
        findNow: find,
        findToRemove: find,
        onChange: () => undefined,
        setLabels: async () => undefined,
        rename: async () => undefined,
      },
      labels: { find: async (name: string) => name, ensure: async ({ name }: { name: string }) => name },
      repairIssues: {
        validationErrorOf: async (entityId: string) => {
          const payload = this.loaded.get(keyBy(entityId));
          return this.disabledBy[String(payload?.['alias'])];
        },
        onChange: () => undefined,
      },
      entities: {
        isWriting: () => false,
        lastCutAt: -Infinity,
        running: living((entityId: string) =>
          entityId === `script.${MARKER_SCRIPT}`
            ? {
                variables: {
                  configuration: this.isTried ? 'another' : ACCEPTED,
                  parts: [['digest', this.hasOtherPart ? 'other' : 'digest']],
                },
              }
            : this.loaded.get(keyBy(entityId)),
        ),
        read: living((kind: string, id: string) => this.ownFiles.get(`${kind} ${id}`)),
        readAfterWrites: living(async (kind: string, id: string) => {
          await this.writing;
          return this.ownFiles.get(`${kind} ${id}`);
        }),
        reload,
        write: living(
          async (kind: ConfigEntityKind, id: string, payload: EntityPayload | (() => EntityPayload)) => {
            const desired = typeof payload === 'function' ? payload() : payload;
            if (!isObject(desired)) return false;
            if (isBad(desired['triggers']))
              throw new HubRejected('400', 'Message malformed: Invalid trigger bad');
            this.asked.push(`POST ${id}`);
            if (this.postTime > 0) await (this.writing = this.clock.sleep(this.postTime));
            this.ownFiles.set(`${kind} ${id}`, desired);
            this.load(kind);
            return true;
          },
        ),
        remove: living(
          (kind: string, id: string, { shouldRemove = always }: { shouldRemove?: () => boolean }) => {
            if (this.removeError) throw this.removeError;
            if (!shouldRemove()) return false;
            this.asked.push(`DELETE ${id}`);
            // The hub unregisters the entity, and registers it again with all its settings at the next
            // reload.
            const key = `${kind} ${id}`;
            if (!this.ownFiles.delete(key)) return false;
            this.loaded.delete(key);
            return true;
          },
        ),
        removeRegistration: living(async (kind: string, id: string, { shouldRemove = always } = {}) => {
          if (this.unregisterTime > 0) await this.clock.sleep(this.unregisterTime);
          if (!shouldRemove()) return;
          this.asked.push(`unregister ${id}`);
          this.registry.delete(`${kind} ${id}`);
        }),
      },
      removal: {
        lateWritePeriod: this.lateWritePeriod,
        remove: living(
          async (kind: string, id: string, { shouldRemove }: { shouldRemove: () => boolean }) => {
            await this.writing;
            if (!shouldRemove()) return;
            this.asked.push(`remove ${id}`);
            for (const map of [this.ownFiles, this.loaded, this.registry]) map.delete(`${kind} ${id}`);
          },
        ),
      },
      reloads: new Reloads({
        clock: this.clock,
        log: silentLog,
        isLoaded: async () => true,
        isWriting: () => false,
        reload: (kind) => reload(kind as ConfigEntityKind),
      }),
      rest: {
        assertOpen: () => {
          if (this.isClosed) throw new HubUnreachable('the client of the hub is closed');
        },
        redact: (text: string) => text,
        get: living((path: string) => {
          if (path === '/manifest.json') return {};
          const payload = this.loaded.get(keyBy(decodeURIComponent(path.split('/').at(-1)!)));
          if (!payload) throw new HubRejected('404', 'unknown');
          return {
            state: 'on',
            attributes: { entity_id: Object.keys(payload['entities'] ?? {}) },
            last_updated: '',
            context: { id: '' },
          };
        }),
        post: async () => [],
      },
    } as unknown as HubClient;
  }
}

const isBad = (triggers: unknown): boolean => JSON.stringify(triggers ?? []).includes('"bad"');

const isSame = (...maps: readonly StoredMap[]): boolean =>
  new Set(maps.map((map) => JSON.stringify({ ...map, metadata: { ...map.metadata, resourceVersion: '' } })))
    .size === 1;
