import type { EntityPayload } from '../../../../../operator/client/connection/config-entity';
import { HubFailed, HubRejected, HubUnreachable } from '../../../../../operator/client/connection/errors';
import type { HubClient } from '../../../../../operator/client/hub-client';
import { redactor } from '../../../../../operator/client/connection/redact';
import type { RemovalOptions } from '../../../../../operator/client/config-entities/entity-removal';
import type { ReloadResult } from '../../../../../operator/client/config-entities/reload-retry';
import type { HubEventListener } from '../../../../../operator/client/hub-events';
import type { ClusterObject } from '../../../../../operator/runtime/objects';
import type { Outcome } from '../../../../../operator/runtime/outcome';
import type { ReconcileContext } from '../../../../../operator/runtime/sync-module';
import type { Child } from '../../../../../operator/sync/objects/child';
import { removeObject } from '../../../../../operator/sync/objects/removal';
import type { Services } from '../../../../../operator/sync/services';
import { automations } from '../../../../../operator/sync/config-entities/automation';
import type { ConfigEntitySpec, EntityType } from '../../../../../operator/sync/config-entities/entity-type';
import { EntityContexts } from '../../../../../operator/sync/config-entities/entity-contexts';
import { scenes } from '../../../../../operator/sync/config-entities/scene';
import { scripts } from '../../../../../operator/sync/config-entities/script';
import { ConfigEntitySync } from '../../../../../operator/sync/config-entities/sync';
import { ManualClock, settle } from '../../../manual-clock';
import { FakePresence } from '../../fake-presence';
import { aHub, noSettings, services } from '../../fixtures';
import { noReferences } from '../no-references';
import { hubClient } from '../../../stand-in-hub/hub-client';

// One resource, and a hub that counts its requests and fails on demand, for the tests of the steps of a
// reconcile. Integration tests cover the behaviour of a real hub.

export const COMMON = { hubRef: { name: 'villa' }, alias: 'Dim' };
export const AUTOMATION = { ...COMMON, triggers: [{ trigger: 'sun' }], actions: [{ delay: 1 }] };
export const SCRIPT = { ...COMMON, sequence: [{ delay: 1 }] };

const ENTITY_TYPES = [automations, scenes, scripts] as unknown as readonly EntityType<
  Child,
  ConfigEntitySpec
>[];

export class Bench {
  readonly clock = new ManualClock();
  readonly asked: string[] = [];
  /** The payload in the hub's file, and the one that the hub runs. */
  stored: EntityPayload | undefined;
  running: EntityPayload | undefined;
  loads = true;
  writeError: Error | undefined;
  /** Returns the hub's form of a payload. */
  rewrite = (payload: EntityPayload): EntityPayload => payload;
  /** Paths of the blueprints that the hub lists; undefined when it cannot list them. */
  blueprintPaths: readonly string[] | undefined = ['motion.yaml'];
  /** The expanded blueprint; undefined when the hub does not have it. */
  blueprint: EntityPayload | undefined;
  secrets: readonly string[] = [];
  readonly drifts: string[] = [];
  reloadError: string | undefined;
  /** Why the hub has disabled the entity. */
  validationError: string | undefined;
  state = 'on';
  entityId: string;
  takenEntityId: string | undefined;
  /** Settles as each removal does. */
  removal: Promise<void> = Promise.resolve();
  /** Whether the hub answers quick requests. */
  answers = true;
  initialTurnOffs = 0;
  /** Labels of the entity. */
  labels: readonly string[] = ['kitchen'];
  markManaged: boolean | undefined;
  disabledBy: string | null = null;
  /** Volume of the hub. */
  volume: string | undefined;
  /** The accepted configuration. */
  accepted: ClusterObject | undefined;
  /** Whether the registry returns icons, as its `get_entries` does and its `list` does not. */
  showsIcons = true;
  /** A number that changes with each load. */
  loadCount = 0;
  readonly presence = new FakePresence();
  signal!: HubEventListener;
  requeued = 0;
  private readonly module: ConfigEntitySync<Child, ConfigEntitySpec>;
  private readonly client: HubClient;
  private readonly given: Services;
  private resource: Child;

  constructor(entityType: EntityType<Child, ConfigEntitySpec>, spec: object, status?: object) {
    this.entityId = `${entityType.type}.dim`;
    this.client = this.hub();
    this.resource = {
      kind: entityType.definition.kind,
      metadata: { name: 'dim', namespace: 'home', uid: 'uid', generation: 1 },
      spec,
      status,
    } as unknown as Child;
    const hub = () =>
      aHub({
        spec: this.markManaged === undefined ? {} : { markManaged: this.markManaged },
        ...(this.volume !== undefined && { status: { volumeID: this.volume } }),
      });
    const ofKind = (kind: string) => [this.resource].filter((each) => each.kind === kind);
    this.given = services({
      clock: this.clock,
      metrics: { countDrift: (_kind, action) => void this.drifts.push(action) },
      cache: {
        *ofHub<T extends ClusterObject>(kind: string) {
          yield* ofKind(kind) as ClusterObject[] as T[];
        },
        get: (kind: string) =>
          (kind === 'Hub' ? hub() : kind === 'ConfigMap' ? this.accepted : this.resource) as never,
      },
      applier: { find: () => Promise.resolve(undefined) },
      requeue: () => void this.requeued++,
    });
    const contexts = new EntityContexts(this.given, ENTITY_TYPES);
    this.module = new ConfigEntitySync(entityType, this.given, contexts, noSettings, noReferences);
  }

  get status(): Readonly<Record<string, unknown>> {
    return { ...this.resource.status };
  }

  setStatus(status: object): void {
    this.resource = { ...this.resource, status: { ...this.resource.status, ...status } };
  }

  edit(spec: object): void {
    const { metadata } = this.resource;
    this.resource = {
      ...this.resource,
      metadata: { ...metadata, generation: metadata.generation + 1 },
      spec: { ...this.resource.spec, ...spec },
    };
  }

  /** Reconciles once, and writes the outcome to status. */
  async reconcile(context: Partial<ReconcileContext> = {}): Promise<Outcome> {
    const outcome = await this.module.sync(this.resource, this.client, context as ReconcileContext);
    const fields = Object.entries({ ...this.resource.status, ...outcome.status });
    const status = Object.fromEntries(fields.filter(([, value]) => value !== null));
    const news = Object.entries({
      Ready: { status: outcome.type === 'Ready' ? 'True' : 'False', reason: outcome.reason },
      ...outcome.conditions,
    }).map(([type, condition]) => ({ ...condition, type }));
    const kept = (this.resource.status?.conditions ?? []).filter(
      ({ type }) => !news.some((each) => each.type === type),
    );
    this.resource = { ...this.resource, status: { ...status, conditions: [...kept, ...news] } } as Child;
    await settle();
    return outcome;
  }

  /** Reconciles until the outcome is Ready. */
  reconcileUntilReady(): Promise<Outcome> {
    return this.reconcileUntil('Ready');
  }

  async reconcileUntil(type: Outcome['type']): Promise<Outcome> {
    for (let count = 0; count < 10; count++) {
      const outcome = await this.reconcile();
      if (outcome.type === type) return outcome;
      await this.clock.advance(outcome.type === 'Waiting' && outcome.after > 0 ? 500 : 0);
    }
    throw new Error(`never became ${type}`);
  }

  remove(context: Partial<ReconcileContext>) {
    const metadata = { ...this.resource.metadata, deletionTimestamp: '2026-11-21T12:00:00Z' };
    this.resource = { ...this.resource, metadata };
    return removeObject(this.given, this.module, this.resource, this.client, context as ReconcileContext);
  }

  get reloadReady() {
    const condition = this.resource.status?.conditions?.find(({ type }) => type === 'ReloadReady');
    return condition?.reason;
  }

  count(what: string): number {
    return this.asked.filter((each) => each === what).length;
  }

  private hub(): HubClient {
    const entity = () => ({
      entity_id: this.entityId,
      labels: this.labels,
      disabled_by: this.disabledBy,
      original_name: this.running?.['name'],
      ...(this.showsIcons && { original_icon: this.running?.['icon'] ?? null }),
    });
    const find = () => Promise.resolve(this.running && entity());
    const load = () => {
      if (!this.loads) return;
      const { use_blueprint: use, ...own } = this.stored ?? {};
      this.running = use ? { ...this.blueprint, ...own } : this.stored;
      this.loadCount += 1;
    };
    return hubClient({
      components: { isLoaded: () => Promise.resolve(true) },
      presence: this.presence,
      events: {
        watch: () => Promise.resolve(),
        onEvent: (listener: HubEventListener) => (this.signal = listener),
      },
      entityRegistry: {
        find,
        findNow: find,
        findToRemove: find,
        onChange: () => undefined,
        setLabels: (_id: string, labels: readonly string[]) => {
          this.labels = labels;
          return Promise.resolve();
        },
        enable: () => {
          this.disabledBy = null;
          return Promise.resolve();
        },
        rename: (from: string, to: string) => {
          this.asked.push(`rename ${from} to ${to}`);
          if (to === this.takenEntityId) return Promise.reject(new HubRejected('invalid_info', 'taken'));
          this.entityId = to;
          return Promise.resolve();
        },
      },
      labels: {
        find: (name: string) => Promise.resolve(LABEL_IDS[name]),
        ensure: ({ name }: { name: string }) => Promise.resolve(LABEL_IDS[name]),
      },
      repairIssues: {
        validationErrorOf: () => Promise.resolve(this.validationError),
        onChange: () => undefined,
      },
      blueprints: {
        list: () =>
          this.blueprintPaths
            ? Promise.resolve(new Map(this.blueprintPaths.map((path) => [path, {}])))
            : Promise.reject(new HubFailed('Invalid JSON in response')),
      },
      entities: {
        isWriting: () => false,
        running: () => Promise.resolve(this.running),
        expandedBlueprint: () =>
          this.blueprint
            ? Promise.resolve(this.blueprint)
            : Promise.reject(new HubFailed('no such blueprint')),
        read: () => {
          this.asked.push('read');
          return Promise.resolve(this.stored);
        },
        write: (_kind: string, id: string, payload: () => EntityPayload) => {
          this.asked.push('write', `write ${id}`);
          if (this.writeError) return Promise.reject(this.writeError);
          this.stored = this.rewrite(payload());
          load();
          return Promise.resolve(true);
        },
      },
      removal: {
        remove: async (_kind: string, id: string, { prepare }: RemovalOptions) => {
          this.asked.push('remove', `remove ${id}`);
          await this.removal;
          await prepare?.();
        },
      },
      reloads: {
        deferWhile: () => undefined,
        request: (): Promise<ReloadResult> => {
          this.asked.push('reload');
          const message = this.reloadError;
          if (message !== undefined)
            return Promise.resolve({
              ok: false,
              reason: 'ReloadFailed',
              message,
              reloadId: `id-${this.count('reload')}`,
            });
          load();
          return Promise.resolve({
            ok: true,
            reloadId: `id-${this.count('reload')}`,
            startedAt: this.clock.now(),
          });
        },
      },
      rest: {
        redact: (text: string) => redactor(this.secrets)(text),
        get: () => {
          if (!this.answers) return Promise.reject(new HubUnreachable('no answer'));
          return Promise.resolve({
            state: this.state,
            attributes: { entity_id: Object.keys(this.running?.['entities'] ?? {}) },
            last_updated: 'then',
            context: { id: `load ${this.loadCount}` },
          });
        },
        post: (path: string) => {
          this.asked.push(path.slice(path.lastIndexOf('/') + 1));
          this.state = path.endsWith('turn_on') ? 'on' : 'off';
          return Promise.resolve([]);
        },
      },
    });
  }
}

const LABEL_IDS: Readonly<Record<string, string>> = {
  'Managed by Hub Operator': 'managed',
  'Adopted by Hub Operator': 'adopted',
};

const SCENE = {
  hubRef: { name: 'villa' },
  name: 'Film',
  icon: 'mdi:film',
  entities: [{ entity_id: 'light.sofa', state: 'on', attributes: { brightness: 20 } }],
};

export const sceneBench = (status?: object) => new Bench(scenes, SCENE, status);

export const automationBench = (status?: object) => new Bench(automations, AUTOMATION, status);
