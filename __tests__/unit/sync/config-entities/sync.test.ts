import type { EntityPayload } from '../../../../operator/client/connection/config-entity';
import { HubFailed, HubRejected, HubUnreachable } from '../../../../operator/client/connection/errors';
import type { HubClient } from '../../../../operator/client/hub-client';
import { redactor } from '../../../../operator/client/connection/redact';
import type { ReloadResult } from '../../../../operator/client/config-entities/reload-retry';
import type { HubEventListener } from '../../../../operator/client/hub-events';
import { operatorAnnotations } from '../../../../operator/kinds/annotations';
import {
  DEPENDENCY_REQUEUE,
  FINALIZER_TRY,
  REJECTED_WRITE_RETRY_INTERVAL,
  RESYNC,
  MIN_WRITE_INTERVAL,
} from '../../../../operator/base/limits';
import type { ClusterObject } from '../../../../operator/runtime/objects';
import type { Outcome } from '../../../../operator/runtime/outcome';
import type { ReconcileContext } from '../../../../operator/runtime/sync-module';
import type { Child } from '../../../../operator/sync/objects/child';
import { removeObject } from '../../../../operator/sync/objects/removal';
import type { Services } from '../../../../operator/sync/services';
import { automations } from '../../../../operator/sync/config-entities/automation';
import type { ConfigEntitySpec, EntityType } from '../../../../operator/sync/config-entities/entity-type';
import { EntityContexts } from '../../../../operator/sync/config-entities/entity-contexts';
import { scenes } from '../../../../operator/sync/config-entities/scene';
import { scripts } from '../../../../operator/sync/config-entities/script';
import { ConfigEntitySync } from '../../../../operator/sync/config-entities/sync';
import { ManualClock, settle } from '../../manual-clock';
import { FakePresence } from '../fake-presence';
import { aHub, noSettings, services } from '../fixtures';
import { until } from '../../until';
import { noReferences } from './no-references';

// The outcomes of one resource while time passes and its hub fails. Integration tests cover the behaviour of
// a real hub; this fake counts its requests.

const COMMON = { hubRef: { name: 'villa' }, alias: 'Dim' };
const AUTOMATION = { ...COMMON, triggers: [{ trigger: 'sun' }], actions: [{ delay: 1 }] };
const SCRIPT = { ...COMMON, sequence: [{ delay: 1 }] };

const ENTITY_TYPES = [automations, scenes, scripts] as unknown as readonly EntityType<
  Child,
  ConfigEntitySpec
>[];

class Bench {
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
    return {
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
        remove: (_kind: string, id: string) => {
          this.asked.push('remove', `remove ${id}`);
          return this.removal;
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
    } as unknown as HubClient;
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

const sceneBench = (status?: object) => new Bench(scenes, SCENE, status);

const automationBench = (status?: object) => new Bench(automations, AUTOMATION, status);

describe('ConfigEntitySync', () => {
  test('an id that the configuration of the hub has itself is NameConflict, and nothing is written, until it is gone', async () => {
    const bench = automationBench();
    const accepted = (definitions: object) =>
      ({
        metadata: { annotations: { [operatorAnnotations.definitions]: JSON.stringify(definitions) } },
      }) as unknown as ClusterObject;
    bench.accepted = accepted({ automation: ['dim'] });
    for (let count = 0; count < 3; count++)
      expect(await bench.reconcile()).toMatchObject({
        type: 'Stalled',
        reason: 'NameConflict',
        message: expect.stringContaining('has the automation dim itself'),
        after: DEPENDENCY_REQUEUE,
      });
    expect(bench.asked).toEqual([]);
    bench.accepted = accepted({ script: ['dim'], automation: ['other'] });
    await bench.reconcileUntilReady();
    expect(bench.count('write')).toBe(1);
  });

  describe('a failed reload', () => {
    async function failed(loads = true): Promise<Bench> {
      const bench = automationBench();
      bench.loads = loads;
      bench.reloadError = 'HTTP 500';
      await bench.reconcileUntilReady();
      expect(bench.reloadReady).toBe('ReloadFailed');
      return bench;
    }

    test.each([
      ['runs', true],
      ['is not loaded', false],
    ])(
      'is not retried in every reconcile while the automation %s, but after some minutes',
      async (_, loads) => {
        const bench = await failed(loads);
        for (let count = 0; count < 20; count++) {
          await bench.clock.advance(10_000);
          expect((await bench.reconcile()).type).toBe('Ready');
        }
        expect(bench.count('reload')).toBe(1);
        bench.reloadError = undefined;
        bench.loads = true;
        await bench.clock.advance(REJECTED_WRITE_RETRY_INTERVAL);
        await bench.reconcileUntilReady();
        expect(bench.count('reload')).toBe(2);
        expect(bench.reloadReady).toBe('ReloadSuccessful');
        await bench.reconcileUntilReady();
        expect(bench.count('reload')).toBe(2);
      },
    );

    test('is retried once the hub is back', async () => {
      const bench = await failed();
      bench.reloadError = undefined;
      bench.signal({ type: 'reconnected' });
      await bench.reconcileUntilReady();
      expect(bench.reloadReady).toBe('ReloadSuccessful');
    });

    test('is retried once the hub has loaded the component', async () => {
      const bench = await failed();
      bench.reloadError = undefined;
      bench.signal({ type: 'component-loaded', component: 'automation' });
      await bench.reconcileUntilReady();
      expect(bench.reloadReady).toBe('ReloadSuccessful');
    });
  });

  describe('a restart of the hub during a write', () => {
    test.each([new HubRejected('404', 'Not Found'), new HubFailed('HTTP 500')])(
      'causes a wait: the write is sent again (%s)',
      async (error) => {
        const bench = automationBench();
        bench.writeError = error;
        await bench.reconcile(); // the first reconcile records the id
        await bench.reconcile();
        expect(bench.count('write')).toBe(1);
        bench.writeError = undefined;
        bench.presence.restart();
        for (let count = 0; count < 5; count++) {
          expect(['Waiting', 'Ready']).toContain((await bench.reconcile()).type);
          await bench.clock.advance(MIN_WRITE_INTERVAL);
        }
        expect(bench.count('write')).toBe(2);
      },
    );

    test('does not count as a failed reload: the hub loads its files when it starts', async () => {
      const bench = automationBench();
      bench.reloadError = 'HTTP 404';
      while (bench.count('reload') === 0) await bench.reconcile();
      bench.reloadError = undefined;
      bench.presence.restart();
      await bench.reconcileUntilReady();
      expect(bench.reloadReady).not.toBe('ReloadFailed');
    });
  });

  test('a write at which the hub fails is retried less and less often, with the error in the message, until the hub is back', async () => {
    const bench = automationBench();
    bench.writeError = new HubFailed('boom');
    await bench.reconcile(); // the first reconcile records the id
    const sentAt: number[] = [];
    const began = bench.clock.monotonic();
    const reconcilesFor = async (milliseconds: number, interval = 250) => {
      for (
        const end = bench.clock.monotonic() + milliseconds;
        bench.clock.monotonic() < end;
        await bench.clock.advance(interval)
      ) {
        const before = bench.count('write');
        await bench.reconcile().catch((error: unknown) => expect(error).toBe(bench.writeError));
        if (bench.count('write') > before) sentAt.push(bench.clock.monotonic() - began);
      }
    };
    await reconcilesFor(5_000);
    bench.clock.set(-3_600_000); // the wall clock is set back
    await reconcilesFor(60_000);
    expect(sentAt).toEqual([0, 4_000, 12_000, 28_000, 60_000]);
    expect((await bench.reconcile()).message).toContain('boom');
    await reconcilesFor(60 * 60_000, 2_000);
    expect(sentAt.length).toBeLessThan(20);
    bench.signal({ type: 'reconnected' });
    await reconcilesFor(1_000);
    bench.writeError = undefined;
    await reconcilesFor(MIN_WRITE_INTERVAL + 2_000);
    expect(bench.stored).toBeDefined();
    expect((await bench.reconcile()).message).not.toContain('boom');
  });

  test('a script that the hub does not load is read less and less often, until the hub reports it', async () => {
    const bench = new Bench(scripts, SCRIPT);
    bench.loads = false;
    await bench.reconcile();
    const began = bench.clock.monotonic();
    let longest = 0;
    while (bench.clock.monotonic() - began < 60 * 60_000) {
      const outcome = await bench.reconcile();
      if (outcome.type === 'Ready') throw new Error('is Ready');
      longest = outcome.after!;
      await bench.clock.advance(longest);
    }
    expect(longest).toBe(RESYNC / 2);
    expect(bench.count('read')).toBeLessThan(20);
    bench.running = bench.stored;
    const before = bench.requeued;
    bench.signal({ type: 'reloaded', kind: 'script', id: 'dim' });
    expect(bench.requeued).toBe(before + 1);
    expect((await bench.reconcileUntilReady()).type).toBe('Ready');
  });

  test('a script that the hub does not load is NotLoaded, and names the include', async () => {
    const bench = new Bench(scripts, SCRIPT);
    bench.loads = false;
    await bench.reconcile();
    await bench.reconcile();
    await bench.clock.advance(10_000);
    const outcome = await bench.reconcile();
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'NotLoaded' });
    expect(outcome.message).toContain('script: !include scripts.yaml');
  });

  test('an automation that the hub does not load by a good reload is NotLoaded until it does', async () => {
    const bench = automationBench();
    bench.loads = false;
    const outcome = await bench.reconcileUntil('Stalled');
    expect(outcome).toMatchObject({ reason: 'NotLoaded', status: { appliedHash: expect.any(String) } });
    expect(outcome.message).toContain('automation hub_operator: !include automations.yaml');
    expect(bench.reloadReady).toBe('ReloadSuccessful');
    await bench.clock.advance(60_000);
    expect(await bench.reconcile()).toMatchObject({ type: 'Stalled', reason: 'NotLoaded' });
    expect(bench.count('reload')).toBe(1);
    bench.running = bench.stored; // the include exists now, and the hub was restarted
    bench.signal({ type: 'reconnected' });
    expect((await bench.reconcileUntilReady()).reason).toBe('AutomationGenerated');
  });

  test.each([
    ['an automation', automations, AUTOMATION],
    ['a script', scripts, SCRIPT],
  ])(
    '%s that the hub disabled as invalid is RejectedByHub with the reason of the hub',
    async (_, type, spec) => {
      const bench = new Bench(type, spec);
      await bench.reconcileUntilReady();
      bench.validationError = `Unknown device 'abc' in ${'x'.repeat(2_000)}`;
      const outcome = await bench.reconcile();
      expect(outcome).toMatchObject({ type: 'Stalled', reason: 'RejectedByHub' });
      expect(outcome.message).toContain("Unknown device 'abc'");
      expect(outcome.message.length).toBeLessThan(700);
      expect([bench.count('write'), bench.count('read')]).toEqual([1, 0]);
      bench.validationError = undefined;
      expect((await bench.reconcile()).type).toBe('Ready');
    },
  );

  describe('a changed id', () => {
    async function renamed(spec: object = {}, status: object = {}): Promise<Bench> {
      const bench = new Bench(automations, { ...AUTOMATION, id: 'old', ...spec });
      await bench.reconcileUntilReady();
      bench.setStatus(status);
      bench.edit({ id: 'new' });
      bench.stored = bench.running = undefined; // no object has the new id yet
      bench.entityId = 'automation.dim_2';
      await bench.clock.advance(MIN_WRITE_INTERVAL);
      return bench;
    }

    test('writes the new object, then removes the old one and keeps the entity id', async () => {
      const bench = await renamed();
      await bench.reconcileUntilReady();
      const sent = bench.asked.filter((each) => / /.test(each));
      expect(sent).toEqual([
        'write old',
        'write new',
        'remove old',
        'rename automation.dim_2 to automation.dim',
      ]);
      expect(bench.status).toMatchObject({ automationId: 'new', entityId: 'automation.dim' });
      expect(bench.status).not.toHaveProperty('formerIds');
    });

    test('removes all former objects, also where the hub rejected one in between', async () => {
      const bench = await renamed();
      bench.writeError = new HubRejected('400', 'Message malformed');
      await bench.reconcileUntil('Stalled');
      bench.writeError = undefined;
      bench.edit({ id: 'third' });
      await bench.clock.advance(MIN_WRITE_INTERVAL);
      await bench.reconcileUntilReady();
      expect([bench.count('remove old'), bench.count('remove third')]).toEqual([1, 0]);
      expect(bench.status).not.toHaveProperty('formerIds');
    });

    test('keeps the old object while the new one is registered and not in use', async () => {
      const bench = await renamed();
      bench.loads = false;
      bench.running = { alias: 'Restored by the hub', triggers: [], actions: [] };
      bench.setStatus({ automationId: 'new', formerIds: ['old'], appliedHash: undefined });
      await bench.reconcileUntil('Stalled');
      expect(bench.count('remove')).toBe(0);
      bench.loads = true;
      await bench.clock.advance(RESYNC);
      bench.running = bench.stored;
      await bench.reconcileUntilReady();
      expect(bench.count('remove old')).toBe(1);
    });

    test('keeps its own entity id where the former one is taken', async () => {
      const bench = await renamed();
      bench.takenEntityId = 'automation.dim';
      await bench.reconcileUntilReady();
      expect(bench.status).toMatchObject({ automationId: 'new', entityId: 'automation.dim_2' });
    });

    test('keeps the old object while the hub rejects the new one', async () => {
      const bench = await renamed();
      bench.writeError = new HubRejected('400', 'Message malformed');
      await bench.reconcile();
      await bench.reconcile();
      expect((await bench.reconcile()).message).toContain('Message malformed');
      expect(bench.count('remove')).toBe(0);
      expect(bench.status['formerIds']).toEqual(['old']);
      await bench.remove({ dryRun: false });
      await settle();
      await settle();
      expect(bench.asked).toEqual(expect.arrayContaining(['remove new', 'remove old']));
    });

    test('back to the former id waits for the end of its removal, and a third id then leaves neither object', async () => {
      const bench = await renamed();
      let finish = () => {};
      bench.removal = new Promise((resolve) => (finish = resolve));
      for (let count = 0; count < 8; count++) {
        await bench.reconcile();
        await bench.clock.advance(500);
      }
      expect(bench.count('remove old')).toBe(1);
      bench.edit({ id: 'old' });
      const writes = bench.count('write');
      for (let count = 0; count < 3; count++) {
        expect(await bench.reconcile()).toMatchObject({ type: 'Waiting' });
        await bench.clock.advance(MIN_WRITE_INTERVAL);
      }
      expect([bench.status['automationId'], bench.count('write')]).toEqual(['new', writes]);
      bench.stored = bench.running = undefined;
      bench.removal = Promise.resolve();
      finish();
      await settle();
      const { status } = await bench.reconcile();
      expect(status).toMatchObject({ automationId: 'old', adopted: null, formerIds: ['new'] });
      await bench.reconcileUntilReady();
      bench.edit({ id: 'third' });
      bench.stored = bench.running = undefined;
      await bench.clock.advance(MIN_WRITE_INTERVAL);
      await bench.reconcileUntilReady();
      expect(bench.status).not.toHaveProperty('formerIds');
      expect([bench.count('remove old'), bench.count('remove new')]).toEqual([2, 1]);
      expect(bench.drifts).toEqual([]);
    });

    test('back to a former id whose removal failed does not adopt the remaining object', async () => {
      const bench = await renamed();
      bench.removal = Promise.reject(new HubFailed('no'));
      bench.removal.catch(() => undefined);
      await expect(bench.reconcileUntilReady()).rejects.toThrow('no');
      bench.edit({ id: 'old' });
      const { status, events } = await bench.reconcile();
      expect(status).toMatchObject({ automationId: 'old', adopted: null });
      expect(events).toEqual([]);
    });

    test('leaves an adopted object in the hub, with a warning', async () => {
      const bench = await renamed({}, { adopted: true });
      const { events } = await bench.reconcile();
      expect(events).toEqual([
        {
          type: 'Warning',
          reason: 'CleanupSkipped',
          message: expect.stringMatching(/old stays in the hub beside new, since it was adopted/) as string,
        },
      ]);
      await bench.reconcileUntilReady();
      expect(bench.count('remove')).toBe(0);
    });
  });

  describe('a removal that takes the hub long', () => {
    async function removing(): Promise<{ bench: Bench; finish: () => void }> {
      const bench = automationBench();
      await bench.reconcileUntilReady();
      let finish = () => {};
      bench.removal = new Promise((resolve) => (finish = resolve));
      return { bench, finish };
    }

    test('is waited for, and then the resource is deleted', async () => {
      const { bench, finish } = await removing();
      for (let count = 0; count < 20; count++) {
        expect(await bench.remove({ dryRun: false })).toMatchObject({ type: 'Waiting' });
        await bench.clock.advance(FINALIZER_TRY);
      }
      expect(bench.count('remove')).toBe(1);
      finish();
      await settle();
      expect(await bench.remove({ dryRun: false })).toEqual([]);
    });
  });

  describe('the label of the entity', () => {
    const ours = { alias: 'Made by the operator', triggers: [], actions: [] };

    test('is set beside the user’s labels, and removed when the resource is deleted', async () => {
      const bench = automationBench();
      await bench.reconcileUntilReady();
      expect(bench.labels).toEqual(['kitchen', 'managed']);
      await bench.remove({ dryRun: false });
      await settle();
      expect(bench.labels).toEqual(['kitchen']);
      expect(bench.count('remove')).toBe(1);
    });

    test('is taken away when the Hub says markManaged: false', async () => {
      const bench = automationBench();
      await bench.reconcileUntilReady();
      bench.markManaged = false;
      await bench.reconcile();
      expect(bench.labels).toEqual(['kitchen']);
    });

    test('lets a resource that was restored without status recognize its object', async () => {
      const bench = automationBench();
      Object.assign(bench, { stored: ours, running: ours, labels: ['managed'] });
      expect((await bench.reconcile()).events).toEqual([]);
      await bench.reconcileUntilReady();
      expect(bench.status).not.toHaveProperty('adopted');
    });

    test.each([
      ['a person made', []],
      ['was adopted before', ['managed', 'adopted']],
    ])('leaves an object that %s adopted', async (_, labels) => {
      const bench = automationBench();
      Object.assign(bench, { stored: ours, running: ours, labels });
      await bench.reconcileUntilReady();
      expect(bench.status).toMatchObject({ adopted: true });
      expect(bench.labels).toEqual(['managed', 'adopted']);
      await bench.remove({ dryRun: false });
      expect([bench.count('remove'), bench.labels]).toEqual([0, []]);
    });
  });

  describe('on another volume of the hub', () => {
    async function moved(spec: object = {}): Promise<Bench> {
      const bench = new Bench(automations, { ...AUTOMATION, driftPolicy: 'Warn', ...spec });
      bench.volume = 'first';
      await bench.reconcileUntilReady();
      expect(bench.status).toMatchObject({ volumeID: 'first' });
      Object.assign(bench, { volume: 'second', stored: undefined, running: undefined, labels: [] });
      await bench.clock.advance(MIN_WRITE_INTERVAL);
      return bench;
    }

    test('a missing object is created as for a new resource, also with driftPolicy Warn', async () => {
      const bench = await moved();
      bench.setStatus({ adopted: true, formerIds: ['older'] });
      await bench.reconcileUntilReady();
      expect(bench.status).toMatchObject({ volumeID: 'second', automationId: 'dim' });
      expect(bench.status).not.toHaveProperty('adopted');
      expect(bench.drifts).toEqual([]);
      await bench.remove({ dryRun: false });
      await settle();
      expect([bench.count('remove dim'), bench.count('remove older')]).toEqual([1, 0]);
    });

    test('an object that a user has there under the id is adopted', async () => {
      const bench = await moved();
      const made = { alias: 'Made by a person', triggers: [], actions: [] };
      Object.assign(bench, { stored: made, running: made });
      await bench.reconcileUntilReady();
      expect(bench.status).toMatchObject({ volumeID: 'second', adopted: true });
      expect(bench.drifts).toEqual([]);
    });

    test('a copy of the volume has objects with our label, which stay ours', async () => {
      const bench = await moved();
      const copied = { alias: 'Dim', triggers: AUTOMATION.triggers, actions: AUTOMATION.actions };
      Object.assign(bench, { stored: copied, running: copied, labels: ['managed'] });
      await bench.reconcileUntilReady();
      expect(bench.status).toMatchObject({ volumeID: 'second' });
      expect(bench.status).not.toHaveProperty('adopted');
    });

    test('an automation that is on is no drift of enabled: false', async () => {
      const bench = await moved({ enabled: false });
      bench.state = 'on';
      await bench.reconcileUntilReady();
      expect([bench.drifts, bench.state]).toEqual([[], 'off']);
    });

    test('nothing is removed there for a resource that was not reconciled since', async () => {
      const bench = await moved();
      expect(await bench.remove({ dryRun: false })).toMatchObject([
        { reason: 'CleanupSkipped', message: expect.stringMatching(/automation dim was on another volume/) },
      ]);
      expect(bench.count('remove')).toBe(0);
    });

    test.each(['first', undefined])(
      'on the same or an unknown volume (%s) a removal is drift',
      async (volume) => {
        const bench = await moved();
        bench.volume = volume;
        expect(await bench.reconcile()).toMatchObject({ type: 'Stalled', reason: 'DriftDetected' });
      },
    );
  });

  test('an adopted object that a user removes belongs to the operator after it is created again', async () => {
    const bench = automationBench();
    const made = { alias: 'Made by a person', triggers: [], actions: [] };
    Object.assign(bench, { stored: made, running: made, labels: [] });
    await bench.reconcileUntilReady();
    expect(bench.status).toMatchObject({ adopted: true });
    bench.stored = bench.running = undefined;
    await bench.clock.advance(MIN_WRITE_INTERVAL);
    await bench.reconcileUntilReady();
    expect(bench.status).not.toHaveProperty('adopted');
    expect(bench.labels).toEqual(['managed']);
    await bench.remove({ dryRun: false });
    await settle();
    expect(bench.count('remove dim')).toBe(1);
  });

  test('an automation that a user disabled is not Ready, and is left alone until it is enabled', async () => {
    const bench = automationBench();
    await bench.reconcileUntilReady();
    bench.disabledBy = 'user';
    const writes = bench.asked.length;
    for (let count = 0; count < 3; count++) {
      expect(await bench.reconcile()).toMatchObject({
        type: 'Stalled',
        reason: 'DriftDetected',
        message: expect.stringContaining('automation.dim is disabled in the hub (by: user)'),
        status: { entityId: 'automation.dim' },
      });
      await bench.clock.advance(60_000);
    }
    expect([bench.asked.length, bench.drifts]).toEqual([writes, ['reported']]);
    bench.disabledBy = null;
    expect(await bench.reconcile()).toMatchObject({ type: 'Ready' });
  });

  test('a payload that the hub rejected under one id is sent under another one', async () => {
    const bench = automationBench();
    await bench.reconcileUntilReady();
    await bench.clock.advance(MIN_WRITE_INTERVAL);
    bench.writeError = new HubRejected('400', 'this id is taken');
    bench.edit({ id: 'taken' });
    bench.stored = bench.running = undefined;
    await bench.reconcileUntil('Stalled');
    bench.writeError = undefined;
    bench.edit({ id: 'free' });
    await bench.reconcileUntilReady();
    expect(bench.count('write free')).toBe(1);
  });

  describe('driftPolicy Warn', () => {
    const watched = (spec: object = {}) =>
      new Bench(automations, { ...AUTOMATION, driftPolicy: 'Warn', ...spec });
    async function expectStays(bench: Bench, text: RegExp): Promise<void> {
      for (let count = 0; count < 3; count++) {
        const outcome = await bench.reconcile();
        expect(outcome).toMatchObject({ type: 'Stalled', reason: 'DriftDetected' });
        expect(outcome.message).toMatch(text);
        await bench.clock.advance(60_000);
      }
      expect(bench.drifts).toEqual(['reported']);
      expect([bench.count('write'), bench.count('turn_off')]).toEqual([1, bench.initialTurnOffs]);
    }

    test('a change is reported once and kept, however often it is reconciled', async () => {
      const bench = watched();
      await bench.reconcileUntilReady();
      bench.stored = bench.running = { ...bench.stored, alias: 'Mine' };
      await expectStays(bench, /alias: hub has "Mine", resource says "Dim"/);
    });

    test('a removal is reported once and kept', async () => {
      const bench = watched();
      await bench.reconcileUntilReady();
      bench.stored = bench.running = undefined;
      await expectStays(bench, /was removed from the hub/);
    });

    test('an automation that was switched on is reported once and kept', async () => {
      const bench = watched({ enabled: false });
      await bench.reconcileUntilReady();
      bench.initialTurnOffs = bench.count('turn_off');
      bench.state = 'on';
      await expectStays(bench, /was switched on in the hub/);
      expect(bench.state).toBe('on');
    });
  });

  test('a correction that the hub undoes three times is not repeated, and the difference is reported', async () => {
    const bench = automationBench();
    bench.rewrite = (payload) => ({ ...payload, actions: [{ delay: '00:00:02' }] });
    for (let minute = 0; minute < 30; minute++) {
      await bench.reconcile();
      await bench.clock.advance(60_000);
    }
    const outcome = await bench.reconcile();
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'DriftDetected' });
    expect(outcome.message).toContain('actions: hub has [{"delay":2}], resource says [{"delay":1}]');
    expect(bench.count('write')).toBe(4); // the first reconcile corrects nothing
    bench.rewrite = (payload) => payload;
    bench.edit({ alias: 'Another' });
    await bench.reconcileUntilReady();
  });

  test('a correction that lasts is repeated as often as needed', async () => {
    const bench = automationBench();
    await bench.reconcileUntilReady();
    for (let time = 0; time < 10; time++) {
      bench.stored = bench.running = { ...bench.stored, alias: 'Mine' };
      await bench.clock.advance(MIN_WRITE_INTERVAL);
      await bench.reconcileUntilReady();
    }
    expect(bench.stored).toMatchObject({ alias: 'Dim' });
    expect(bench.drifts).toHaveLength(10);
  });

  test('records and reports about an object that is being written do not wait for the end of the write', async () => {
    const bench = automationBench();
    const first = await bench.reconcile();
    expect(first).toMatchObject({ status: { automationId: 'dim' }, brief: false });
    expect(await bench.reconcile()).toMatchObject({ type: 'Waiting', brief: true });
    await bench.reconcileUntilReady();
    bench.stored = bench.running = { ...bench.stored, alias: 'Mine' };
    await bench.clock.advance(MIN_WRITE_INTERVAL);
    expect(await bench.reconcile()).toMatchObject({ events: [{ reason: 'DriftDetected' }], brief: false });
  });

  describe('a blueprint that is imported later', () => {
    const uses = { ...COMMON, useBlueprint: { path: 'motion.yaml', input: {} } };
    const blueprint = { triggers: [], actions: [] };

    test('is waited for without a write that the hub would refuse', async () => {
      const bench = new Bench(automations, uses);
      bench.blueprintPaths = [];
      await bench.reconcile();
      await bench.reconcile();
      expect(await bench.reconcile()).toMatchObject({
        type: 'Waiting',
        reason: 'BlueprintNotReady',
        after: 60_000,
      });
      expect(bench.count('write')).toBe(0);
      bench.blueprintPaths = ['motion.yaml'];
      bench.blueprint = blueprint;
      await bench.reconcileUntilReady();
      expect(bench.count('write')).toBe(1);
    });

    test('is used although the list of the hub lacks it: the hub does not list files behind a symbolic link', async () => {
      const bench = new Bench(automations, uses);
      bench.blueprintPaths = [];
      bench.blueprint = blueprint;
      await bench.reconcileUntilReady();
      expect(bench.count('write')).toBe(1);
    });

    test('is used although the hub cannot list its blueprints', async () => {
      const bench = new Bench(automations, uses);
      bench.blueprintPaths = undefined;
      bench.blueprint = blueprint;
      await bench.reconcileUntilReady();
      expect(bench.count('write')).toBe(1);
    });

    test('is used although the hub rejected the automation before', async () => {
      const bench = new Bench(automations, uses);
      bench.writeError = new HubRejected('400', 'Missing input x');
      await bench.reconcile();
      await bench.reconcile();
      expect(await bench.reconcile()).toMatchObject({ reason: 'RejectedByHub', after: 60_000 });
      bench.writeError = undefined;
      bench.blueprint = blueprint;
      await bench.clock.advance(60_000);
      await bench.reconcileUntilReady();
      expect(bench.count('write')).toBe(2);
    });

    test('is reloaded for an automation that the hub disabled for want of it', async () => {
      const bench = new Bench(automations, uses);
      bench.blueprint = blueprint;
      await bench.reconcileUntilReady();
      const reloads = bench.count('reload');
      bench.blueprint = undefined;
      bench.validationError = 'Unable to find motion.yaml';
      expect(await bench.reconcile()).toMatchObject({ reason: 'RejectedByHub', after: 60_000 });
      bench.blueprint = blueprint;
      await bench.reconcile();
      bench.validationError = undefined;
      await bench.reconcileUntilReady();
      expect(bench.count('reload')).toBe(reloads + 1);
    });
  });

  test('an unquoted state that the hub rejects is reported with the remedy', async () => {
    const triggers = [{ trigger: 'state', entity_id: 'light.porch', to: true }];
    const bench = new Bench(automations, { ...COMMON, triggers, actions: [{ delay: 1 }] });
    bench.writeError = new HubRejected('400', "Message malformed: expected str at 'triggers[0].to'");
    await bench.reconcile();
    await bench.reconcile();
    expect(await bench.reconcile()).toMatchObject({
      reason: 'RejectedByHub',
      message: expect.stringMatching(/expected str at 'triggers\[0\]\.to'\. .*quote/is),
    });
  });

  test('a secret of the hub is masked in every outcome: drift, dry run, invalid and rejected definitions', async () => {
    const secret = 'hunter2-and-more';
    const told: string[] = [];
    const tell = (outcome: Outcome) => told.push(JSON.stringify(outcome));
    const bench = automationBench();
    bench.secrets = [secret];
    await bench.reconcileUntilReady();
    const own = bench.stored;
    bench.stored = bench.running = { ...own, actions: [{ password: secret, padding: 'x'.repeat(40) }] };
    tell(await bench.reconcile({ dryRun: true }));
    await bench.clock.advance(MIN_WRITE_INTERVAL);
    tell(await bench.reconcile());
    bench.stored = bench.running = own;
    bench.validationError = `${'x'.repeat(490)}${secret}`;
    tell(await bench.reconcile());
    tell(await bench.reconcile());
    const watched = new Bench(automations, { ...AUTOMATION, driftPolicy: 'Warn' });
    watched.secrets = [secret];
    await watched.reconcileUntilReady();
    watched.stored = watched.running = { ...watched.stored, description: `${'x'.repeat(50)}${secret}` };
    tell(await watched.reconcile());
    expect(told.join()).toMatch(/DryRun.*was changed in the hub.*RejectedByHub.*driftPolicy is Warn/s);
    for (let length = 4; length <= secret.length; length++)
      expect(told.join()).not.toContain(secret.slice(0, length));
  });

  test('condition and event of a reload have the ReloadID of the reload that served the write', async () => {
    const bench = automationBench();
    const outcome = await bench.reconcileUntilReady();
    bench.edit({ alias: 'Another' });
    await bench.clock.advance(MIN_WRITE_INTERVAL);
    const second = await bench.reconcileUntilReady();
    for (const [index, { events, conditions }] of [outcome, second].entries()) {
      const message = `Reloaded (ReloadID id-${index + 1}).`;
      // The events are one series, although each has another id: 500 of them must not use up the budget of
      // Warnings.
      const series = 'ReloadSuccessful';
      expect(events).toMatchObject([{ type: 'Normal', reason: 'ReloadSuccessful', message, series }]);
      expect(conditions?.['ReloadReady']).toMatchObject({ message });
    }
  });

  describe('enabled', () => {
    /** Edits the spec while the hub cannot reload, and leaves the automation off. */
    async function editWithFailedReload(bench: Bench, change: object): Promise<void> {
      bench.edit(change);
      bench.loads = false;
      bench.reloadError = 'HTTP 500';
      await bench.clock.advance(MIN_WRITE_INTERVAL);
      await bench.reconcileUntilReady();
      const { reloadReady, state, status } = bench;
      expect([reloadReady, state, status['enabled']]).toEqual(['ReloadFailed', 'off', false]);
    }

    test('a change to true whose reload failed is carried out once the hub has loaded it', async () => {
      const bench = new Bench(automations, { ...AUTOMATION, enabled: false });
      await bench.reconcileUntilReady();
      expect([bench.state, bench.status['enabled']]).toEqual(['off', false]);
      await editWithFailedReload(bench, { enabled: true });
      bench.running = bench.stored; // the hub has restarted, and restored the state
      bench.signal({ type: 'reconnected' });
      bench.reloadError = undefined;
      await bench.reconcileUntilReady();
      expect([bench.state, bench.status['enabled']]).toEqual(['on', true]);
    });

    test('false is enforced without a loop where something in the hub switches it on each time', async () => {
      const bench = new Bench(automations, { ...AUTOMATION, enabled: false });
      await bench.reconcileUntilReady();
      const before = bench.count('turn_off');
      const ownAt: number[] = [];
      const began = bench.clock.monotonic();
      while (bench.clock.monotonic() - began < 3_600_000) {
        if (bench.state === 'off') {
          ownAt.push(bench.clock.monotonic() - began);
          bench.state = 'on';
        }
        const outcome = await bench.reconcile();
        if (outcome.type === 'Stalled')
          expect(outcome).toMatchObject({
            reason: 'DriftDetected',
            message: expect.stringContaining('again and again') as string,
          });
        await bench.clock.advance(outcome.type === 'Stalled' ? outcome.after! : 300);
      }
      expect(ownAt.slice(0, 4).map((at) => Math.round(at / 1_000))).toEqual([0, 0, 2, 6]);
      expect(bench.count('turn_off') - before).toBeLessThan(25);
      await bench.clock.advance(3_600_000);
      bench.state = 'on';
      await bench.reconcile();
      expect(bench.state).toBe('off'); // immediately, since the correction had lasted for an hour
    });

    test('a change to false is carried out although the reload failed', async () => {
      const bench = automationBench();
      await bench.reconcileUntilReady();
      await editWithFailedReload(bench, { enabled: false });
      expect(bench.state).toBe('off');
    });
  });

  describe('a scene with an icon', () => {
    test('causes no read, write or reload after a restart of the operator', async () => {
      const before = sceneBench();
      await before.reconcileUntilReady();
      const after = sceneBench(before.status);
      after.stored = after.running = before.stored;
      after.showsIcons = false;
      expect((await after.reconcile()).type).toBe('Ready');
      expect(after.asked).toEqual([]);
    });

    test('is not read after a lost connection, as long as the hub did not load it again', async () => {
      const bench = sceneBench();
      await bench.reconcileUntilReady();
      await bench.reconcile();
      bench.signal({ type: 'reconnected' });
      expect((await bench.reconcile()).type).toBe('Ready');
      expect(bench.count('read')).toBe(0);
      bench.loadCount += 1;
      bench.signal({ type: 'reconnected' });
      expect((await bench.reconcile()).type).toBe('Ready');
      expect(bench.count('read')).toBe(1);
    });

    test('that was changed and reloaded in the hub is restored', async () => {
      const bench = sceneBench();
      await bench.reconcileUntilReady();
      bench.stored = bench.running = { ...bench.stored, entities: { 'light.sofa': { state: 'off' } } };
      bench.loadCount += 1;
      await bench.reconcile(); // before the hub reports the reload
      bench.signal({ type: 'external-reload', kind: 'scene' });
      await bench.clock.advance(MIN_WRITE_INTERVAL);
      await bench.reconcile();
      expect(bench.stored).toMatchObject({ entities: { 'light.sofa': { state: 'on', brightness: 20 } } });
    });
  });

  test('a scene whose attributes contain a state is InvalidSpec, and nothing is sent', async () => {
    const entities = [{ entity_id: 'light.sofa', state: 'on', attributes: { state: 'off' } }];
    const spec = { hubRef: { name: 'villa' }, name: 'Film', entities };
    const bench = new Bench(scenes, spec);
    const outcome = await bench.reconcile();
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'InvalidSpec' });
    expect(outcome.message).toContain('light.sofa');
    expect(bench.asked).toEqual([]);
  });

  describe('a dry run', () => {
    const SECRET = { ...AUTOMATION, alias: 'Dim', actions: [{ data: { password: 'hunter2' } }] };
    const inHub = {
      alias: SECRET.alias,
      triggers: [],
      conditions: [],
      actions: SECRET.actions,
      mode: 'single',
    };

    test('names the fields that it would change in a user’s object, but no values', async () => {
      const bench = automationBench();
      bench.stored = bench.running = inHub;
      const { reason, message } = await bench.reconcile({ dryRun: true });
      expect(reason).toBe('DryRun');
      expect(message).toContain('actions');
      expect(message).not.toContain('hunter2');
    });

    test('shows the values that it would change in an object of the operator', async () => {
      const bench = automationBench();
      await bench.reconcileUntilReady();
      Object.assign(bench, { running: { ...bench.running, alias: 'Bright' } });
      bench.stored = bench.running;
      bench.signal({ type: 'reconnected' });
      expect((await bench.reconcile({ dryRun: true })).message).toContain(
        'alias: hub has "Bright", resource says "Dim"',
      );
      expect(bench.count('write')).toBe(1);
    });

    test('leaves the object in the hub when the resource is deleted, with an event', async () => {
      const bench = automationBench({ automationId: 'dim', appliedHash: 'x' });
      const message = expect.stringMatching(/dim stays in the hub.*dry-run/) as string;
      expect(await bench.remove({ dryRun: true })).toEqual([
        { type: 'Warning', reason: 'CleanupSkipped', message },
      ]);
      expect(bench.count('remove')).toBe(0);
      const without = automationBench({ automationId: 'dim', appliedHash: 'x' });
      await without.remove({ dryRun: false });
      await until(() => without.count('remove') === 1);
    });
  });
});
