import type { EntityPayload } from '../../../../../operator/client/connection/config-entity';
import { HubFailed, HubRejected, HubUnreachable } from '../../../../../operator/client/connection/errors';
import type { HubClient } from '../../../../../operator/client/hub-client';
import type { HubEvent } from '../../../../../operator/client/hub-events';
import type { HubBlueprint } from '../../../../../operator/kinds';
import { GROUP_VERSION } from '../../../../../operator/kinds/group';
import type { CustomResource } from '../../../../../operator/kinds/resource';
import { MIN_WRITE_INTERVAL, REJECTED_WRITE_RETRY_INTERVAL } from '../../../../../operator/base/limits';
import type { Outcome } from '../../../../../operator/runtime/outcome';
import { BlueprintContexts } from '../../../../../operator/sync/configuration/blueprint/contexts';
import { BlueprintSync } from '../../../../../operator/sync/configuration/blueprint/sync';
import { silentLog } from '../../../../cluster/silent-log';
import { ManualClock } from '../../../manual-clock';
import { objectMetadata } from '../../../object-metadata';
import { aHub, services } from '../../fixtures';
import { hubClient } from '../../../stand-in-hub/hub-client';

const PATH = 'tests/lamp.yaml';
const COPY = /^hub-operator-check\/[0-9a-f]{64}[.]yaml$/;
const text = (body = 'one', header = '') =>
  `blueprint: { name: Lamp, domain: automation${header} }\ntriggers: [${body}]\nactions: []\n`;

interface Stored {
  readonly yaml: string;
  readonly source?: string | undefined;
}

let clock: ManualClock;
let files: Map<string, Stored>;
/** Commands that change something, such as `save tests/lamp.yaml`. */
let writes: string[];
let users: string[] | undefined;
/** The hub's error for a definition with this trigger. */
let invalid: Map<string, string>;
let disabled: Map<string, string>;
/** The list that the client has kept until it is invalidated. */
let stale: Map<string, object> | undefined;
let reloads: string[];
/** How often the hub has parsed its whole file. */
let reads: number;
let reloadFails: boolean;
let requeued: string[];
let fault: ((command: string) => Error | undefined) | undefined;
let others: CustomResource[];
let version: string | undefined;
let emit: (event: HubEvent) => void;
let resource: HubBlueprint;
let client: HubClient;
let sync: BlueprintSync;

const bodyOf = (yaml: string): string => /triggers: \[(.*)\]/.exec(yaml)?.[1] ?? '';

function strike(command: string): void {
  const error = fault?.(command);
  if (error) throw error;
}

const blueprints = {
  invalidate: () => void (stale = undefined),
  list: () =>
    Promise.resolve(
      stale ??
        new Map(
          [...files].map(([path, { yaml, source }]) => [
            path,
            yaml === 'broken'
              ? {}
              : {
                  metadata: { name: 'Lamp', input: {}, ...(source !== undefined && { source_url: source }) },
                },
          ]),
        ),
    ),
  save: ({ path, yaml, sourceUrl }: { path: string; yaml: string; sourceUrl?: string }, isNew: boolean) => {
    const name = COPY.test(path) ? 'copy' : path;
    writes.push(`save ${name}`);
    strike(`save ${name}`);
    const isThere = files.has(path);
    if (isNew && isThere) throw new HubRejected('already_exists', 'File already exists');
    files.set(path, { yaml, source: sourceUrl });
    return Promise.resolve(isThere);
  },
  remove: (_: string, path: string) => {
    const name = COPY.test(path) ? 'copy' : path;
    writes.push(`delete ${name}`);
    strike(`delete ${name}`);
    files.delete(path);
    return Promise.resolve();
  },
  substitute: (_: string, path: string): Promise<EntityPayload> => {
    const file = files.get(path);
    if (!file || file.yaml === 'broken') return Promise.reject(new HubFailed('Failed to load blueprint'));
    return Promise.resolve({ triggers: [bodyOf(file.yaml)], actions: [] });
  },
  usersOf: () => Promise.resolve(users),
};

const { list } = blueprints;

beforeEach(() => {
  blueprints.list = list;
  clock = new ManualClock();
  files = new Map();
  writes = [];
  users = [];
  invalid = new Map();
  disabled = new Map();
  reloads = [];
  reads = 0;
  stale = undefined;
  reloadFails = false;
  requeued = [];
  fault = undefined;
  others = [];
  version = '2026.11.0';
  client = hubClient({
    blueprints,
    components: { isLoaded: () => Promise.resolve(true) },
    connection: {
      command: (_: string, { triggers: [trigger] }: { triggers: string[] }) =>
        Promise.resolve({ triggers: { error: invalid.get(trigger!) ?? null } }),
    },
    entities: {
      read: (_: string, id: string) => {
        reads += 1;
        return Promise.resolve({ use_blueprint: { path: PATH, input: { id } } });
      },
    },
    entityRegistry: { get: (entityId: string) => Promise.resolve({ unique_id: entityId }) },
    events: {
      watch: () => Promise.resolve(),
      onEvent: (listener: (event: HubEvent) => void) => void (emit = listener),
    },
    repairIssues: {
      onChange: () => undefined,
      validationErrorOf: (entityId: string) => Promise.resolve(disabled.get(entityId)),
    },
    reloads: {
      request: (component: string) => {
        reloads.push(component);
        return Promise.resolve(reloadFails ? { ok: false, message: 'it is broken' } : { ok: true });
      },
    },
    rest: { redact: (words: string) => words },
  });
  const given = services({
    clock,
    requeue: (...key) => void requeued.push(key.slice(0, 3).join(' ')),
    metrics: { countDrift: () => undefined },
    applier: { find: () => Promise.resolve({ data: { a: text('from a file') } }) as never },
    cache: {
      get: (kind: string) =>
        (kind === 'Hub'
          ? aHub({ status: { volumeID: 'v1', ...(version !== undefined && { version }) } })
          : others.find((each) => each.kind === kind)) as never,
      ofHub: (kind: string) => [resource, ...others].filter((each) => each.kind === kind) as never,
      ofHubByStatus: (kind: string, _: string, __: string, field: string, value: string) =>
        others.filter((each) => each.kind === kind && each.status?.[field] === value) as never,
    },
  });
  sync = new BlueprintSync(given, new BlueprintContexts(given));
  apply({});
});

function apply(spec: object, status: HubBlueprint['status'] = {}): void {
  resource = {
    apiVersion: GROUP_VERSION,
    kind: 'HubBlueprint',
    metadata: { ...objectMetadata, name: 'lamp', namespace: 'home', uid: 'uid-of-lamp', generation: 1 },
    spec: { hubRef: { name: 'villa' }, domain: 'automation', path: PATH, content: text(), ...spec },
    status,
  };
}

const change = (spec: object) => apply(spec, resource.status);
const context = { signal: new AbortController().signal, log: silentLog, forced: false, dryRun: false };

async function reconcile(overrides: object = {}): Promise<Outcome> {
  const outcome = await sync.sync(resource, client, { ...context, ...overrides });
  const status = { ...resource.status, ...outcome.status };
  const present = Object.entries(status).filter(([, value]) => value !== null && value !== undefined);
  resource = { ...resource, status: Object.fromEntries(present) };
  return outcome;
}

/** Reconciles until the outcome is final. The hub reports each reload. */
async function settle(): Promise<Outcome> {
  for (let step = 0; ; step++) {
    const outcome = await reconcile();
    if (outcome.type !== 'Waiting' || outcome.reason !== 'BlueprintLoaded' || step > 9) return outcome;
    emit({ type: 'reloaded', kind: 'automation' });
    await clock.advance(MIN_WRITE_INTERVAL);
  }
}

const automationWith = (input: object, fields: object = {}): CustomResource =>
  ({
    apiVersion: GROUP_VERSION,
    kind: 'HubAutomation',
    metadata: { ...objectMetadata, name: 'hall', namespace: 'home', uid: 'u', generation: 1, ...fields },
    spec: { hubRef: { name: 'villa' }, useBlueprint: { path: PATH, input } },
    status: { entityId: 'automation.hall' },
  }) as never;

describe('BlueprintSync', () => {
  test('a new one is in status before it is saved, once; a forced reconcile sends nothing', async () => {
    expect(await reconcile()).toMatchObject({ type: 'Waiting', status: { path: PATH, adopted: null } });
    expect(writes).toEqual([]);
    expect(await settle()).toMatchObject({
      type: 'Ready',
      status: { appliedHash: expect.stringContaining('sha256:') },
    });
    expect(writes).toEqual([`save ${PATH}`]);
    expect(reloads).toEqual([]);
    expect(await reconcile({ forced: true })).toMatchObject({ type: 'Ready' });
    expect(writes).toHaveLength(1);
  });

  test('one that a user makes at the same moment is not replaced, but compared', async () => {
    await reconcile();
    fault = (command) => {
      if (command !== `save ${PATH}`) return undefined;
      files.set(PATH, { yaml: text('two') });
      fault = undefined;
      return undefined;
    };
    expect(await reconcile()).toMatchObject({ type: 'Waiting' });
    expect(files.get(PATH)?.yaml).toBe(text('two'));
    expect(await settle()).toMatchObject({ type: 'Ready' });
    expect(resource.status).toMatchObject({ adopted: true });
  });

  test('a file that the hub has and does not list is left, and the save is not repeated', async () => {
    files.set(PATH, { yaml: text('two') });
    blueprints.list = () => Promise.resolve(new Map());
    expect(await settle()).toMatchObject({ reason: 'RejectedByHub' });
    await clock.advance(MIN_WRITE_INTERVAL);
    expect(await reconcile()).toMatchObject({ reason: 'RejectedByHub' });
    expect(writes).toEqual([`save ${PATH}`]);
    expect(files.get(PATH)?.yaml).toBe(text('two'));
    expect(resource.status).not.toHaveProperty('path');
  });

  test('a list that is a second old does not hide a blueprint that a user has imported since', async () => {
    stale = new Map();
    files.set(PATH, { yaml: text() });
    await settle();
    expect(resource.status).toMatchObject({ adopted: true });
  });

  test('an equal one is adopted without a save of its own', async () => {
    files.set(PATH, { yaml: text(), source: 'https://example.org' });
    expect(await reconcile()).toMatchObject({ events: [{ reason: 'Adopted' }], status: { adopted: true } });
    expect(await settle()).toMatchObject({ type: 'Ready' });
    expect(writes).toEqual(['save copy', 'delete copy']);
    expect(reloads).toEqual([]);
  });

  test('a source that a user has set stays; that of the spec is cleared when it is removed', async () => {
    files.set(PATH, { yaml: text('two'), source: 'https://person' });
    await settle();
    expect(files.get(PATH)).toEqual({ yaml: text(), source: 'https://person' });
    change({ sourceUrl: 'https://ours' });
    await settle();
    expect(files.get(PATH)?.source).toBe('https://ours');
    change({});
    await settle();
    expect(files.get(PATH)?.source).toBeUndefined();
  });

  test('a file that the hub cannot read is replaced', async () => {
    files.set(PATH, { yaml: 'broken' });
    expect(await settle()).toMatchObject({ type: 'Ready' });
    expect(files.get(PATH)?.yaml).toBe(text());
  });

  test('a text that breaks a running user is not saved, also for one without a resource', async () => {
    await settle();
    users = ['automation.hall', 'automation.of_person', 'automation.invalid_before'];
    disabled.set('automation.invalid_before', 'Missing input');
    others = [automationWith({})];
    invalid.set('two', 'unknown trigger');
    change({ content: text('two') });
    const outcome = await settle();
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'UsersBroken' });
    expect(outcome.message).toContain(
      'automation.hall (unknown trigger), automation.of_person (unknown trigger)',
    );
    expect(outcome.message).not.toContain('invalid_before');
    expect(files.get(PATH)?.yaml).toBe(text());
    expect(files.size).toBe(1);
    // Nothing has changed, so the hub is not asked again.
    const count = writes.length;
    await reconcile();
    expect(writes).toHaveLength(count);
    expect(reads).toBe(1);
    // A reload may have changed the definition of a user.
    emit({ type: 'reloaded', kind: 'automation' });
    await reconcile();
    expect(writes).toHaveLength(count);
    expect(reads).toBe(2);
    // The resource of the automation now sets other inputs.
    others = [automationWith({ more: true })];
    await reconcile();
    expect(writes.slice(count)).toEqual(['save copy', 'delete copy']);
  });

  test('a user that is also invalid with the current text does not block another one', async () => {
    await settle();
    users = ['automation.of_person'];
    invalid.set('one', 'unknown device').set('two', 'unknown device');
    change({ content: text('two') });
    expect(await settle()).toMatchObject({ type: 'Ready' });
  });

  test('a person’s blueprint is not taken over if the text would break a user', async () => {
    files.set(PATH, { yaml: text('two') });
    users = ['automation.of_person'];
    invalid.set('one', 'unknown trigger');
    expect(await reconcile()).toMatchObject({ reason: 'UsersBroken' });
    expect(resource.status).not.toHaveProperty('path');
  });

  test('a replaced one is Ready when the hub reports a reload; otherwise it is reloaded once more', async () => {
    await settle();
    users = ['automation.hall'];
    change({ content: text('two') });
    await reconcile();
    expect(await reconcile()).toMatchObject({ type: 'Waiting', message: expect.stringContaining('reloads') });
    await clock.advance(10_000);
    expect(reloads).toEqual(['automation']);
    expect(await settle()).toMatchObject({ type: 'Ready', status: { users: 1 } });
    change({ content: text('three') });
    await settle();
    expect(reloads).toHaveLength(1);
  });

  test('a reload that fails is reported, and repeated', async () => {
    await settle();
    users = ['automation.hall'];
    reloadFails = true;
    change({ content: text('two') });
    await reconcile();
    await clock.advance(10_000);
    expect(await reconcile()).toMatchObject({
      reason: 'ReloadFailed',
      message: expect.stringContaining('it is broken'),
    });
    await clock.advance(REJECTED_WRITE_RETRY_INTERVAL);
    reloadFails = false;
    await reconcile();
    await clock.advance(0);
    expect(await settle()).toMatchObject({ type: 'Ready' });
    expect(reloads).toHaveLength(2);
  });

  test('a process that finds a save after a kill reloads the users', async () => {
    await settle();
    users = ['automation.hall'];
    change({ content: text('two') });
    files.set(PATH, { yaml: text('two') }); // the blueprint was saved, and status does not have the hash
    await reconcile();
    await clock.advance(0);
    expect(reloads).toEqual(['automation']);
    // A text with other comments is the same blueprint.
    change({ content: `# a\n${text('two')}` });
    expect(await settle()).toMatchObject({ type: 'Ready' });
    expect(reloads).toHaveLength(1);
  });

  test('drift is reverted, or only reported; a text that is reverted repeatedly is left', async () => {
    await settle();
    files.set(PATH, { yaml: text('two') });
    await clock.advance(MIN_WRITE_INTERVAL);
    expect(await reconcile()).toMatchObject({ events: [{ reason: 'DriftDetected' }] });
    expect(files.get(PATH)?.yaml).toBe(text());
    for (let n = 0; n < 3; n++) {
      await settle();
      files.set(PATH, { yaml: text('two') });
      await clock.advance(MIN_WRITE_INTERVAL);
    }
    expect(await settle()).toMatchObject({
      reason: 'DriftDetected',
      message: expect.stringContaining('reverted'),
    });
    change({ driftPolicy: 'Warn' });
    files.delete(PATH);
    expect(await settle()).toMatchObject({ type: 'Stalled', reason: 'DriftDetected' });
    expect(files.size).toBe(0);
  });

  test('a text that the hub refuses is sent once', async () => {
    fault = (command) =>
      command.startsWith('save') ? new HubRejected('invalid_format', 'bad selector') : undefined;
    expect(await settle()).toMatchObject({
      reason: 'RejectedByHub',
      message: expect.stringContaining('bad selector'),
    });
    await reconcile();
    expect(writes).toHaveLength(1);
  });

  test('a copy that a process has left is removed, and no file of a user', async () => {
    const left = `hub-operator-check/${'0'.repeat(64)}.yaml`;
    for (const path of [left, 'hub-operator-check/mine.yaml', `a/${'0'.repeat(64)}.yaml`])
      files.set(path, { yaml: text() });
    await settle();
    expect([...files.keys()]).toEqual(['hub-operator-check/mine.yaml', `a/${'0'.repeat(64)}.yaml`, PATH]);
    // The removal is not repeated because of an old list.
    expect(writes.filter((each) => each === 'delete copy')).toHaveLength(1);
  });

  test('a copy whose removal got no answer is removed later', async () => {
    await settle();
    change({ content: text('two') });
    fault = (command) => (command === 'delete copy' ? new HubUnreachable('cut') : undefined);
    await expect(reconcile()).rejects.toThrow('cut');
    expect([...files.keys()].filter((path) => COPY.test(path))).toHaveLength(1);
    fault = undefined;
    await settle();
    expect([...files.keys()]).toEqual([PATH]);
  });

  test('a dry run sends nothing', async () => {
    expect(await reconcile({ dryRun: true })).toMatchObject({
      reason: 'DryRun',
      message: expect.stringContaining('create'),
    });
    files.set(PATH, { yaml: text('two') });
    files.set(`hub-operator-check/${'0'.repeat(64)}.yaml`, { yaml: text() });
    expect(await reconcile({ dryRun: true })).toMatchObject({ message: expect.stringContaining('compare') });
    expect(writes).toEqual([]);
  });

  test('a newer version that the text needs is waited for', async () => {
    change({ content: text('one', ', homeassistant: { min_version: 2027.1.0 }') });
    expect(await reconcile()).toMatchObject({
      reason: 'InvalidSpec',
      message:
        'spec.content: homeassistant.min_version is 2027.1.0, and the hub runs 2026.11.0: update the hub, or give a blueprint that is for it.',
    });
    version = '2027.1.0';
    expect(await settle()).toMatchObject({ type: 'Ready' });
  });

  test('a ConfigMap that does not exist, lacks the key or belongs to the operator', async () => {
    change({ content: undefined, configMapRef: { name: 'texts', key: 'a' } });
    expect(await reconcile()).toMatchObject({ reason: 'ConfigMapNotFound' });
    others = [{ kind: 'ConfigMap', metadata: { name: 'texts' } } as never];
    expect(await settle()).toMatchObject({ type: 'Ready' });
    expect(files.get(PATH)?.yaml).toBe(text('from a file'));
    change({ content: undefined, configMapRef: { name: 'texts', key: 'b' } });
    expect(await reconcile()).toMatchObject({ message: expect.stringContaining('has no key b') });
    change({ content: undefined, configMapRef: { name: 'villa-configuration', key: 'a' } });
    expect(await reconcile()).toMatchObject({ reason: 'InvalidSpec' });
  });

  test('users that the hub has disabled are named; a hub that cannot list users is treated as one without', async () => {
    users = ['automation.a', 'automation.b'];
    disabled.set('automation.b', 'Missing input x');
    expect(await settle()).toMatchObject({
      status: { users: 2, brokenUsers: ['automation.b'] },
      conditions: {
        UsersReady: { status: 'False', message: expect.stringContaining('automation.b (Missing input x)') },
      },
    });
    users = undefined;
    expect(await settle()).toMatchObject({ status: { users: null }, conditions: { UsersReady: null } });
  });

  describe('a deletion', () => {
    const remove = () => sync.remove(resource, client);

    test('removes the file; a missing file is no error', async () => {
      await settle();
      expect(await remove()).toEqual([]);
      expect(files.size).toBe(0);
      expect(await remove()).toEqual([]);
      expect(writes.filter((each) => each.startsWith('delete'))).toHaveLength(1);
    });

    test('leaves an adopted one', async () => {
      files.set(PATH, { yaml: text() });
      await settle();
      expect(sync.objectOf(resource)).toBeUndefined();
      expect(await remove()).toEqual([]);
      expect(files.size).toBe(1);
    });

    test('waits at most a minute for a user that is deleted too, and for no other', async () => {
      await settle();
      users = ['automation.hall'];
      others = [automationWith({})];
      expect(await remove()).toMatchObject([
        { reason: 'CleanupSkipped', message: expect.stringContaining('it is used by automation.hall') },
      ]);
      others = [automationWith({}, { deletionTimestamp: '2026-11-28T00:00:00Z' })];
      expect(await remove()).toMatchObject({ type: 'Waiting' });
      await clock.advance(60_000);
      expect(await remove()).toMatchObject([{ reason: 'CleanupSkipped' }]);
      expect(files.size).toBe(1);
    });

    test('goes on when the hub lists its blueprints again, after it was away for long', async () => {
      await settle();
      blueprints.list = () => Promise.reject(new HubUnreachable('connection closed'));
      await expect(remove()).rejects.toThrow('closed');
      await clock.advance(300_000);
      blueprints.list = list;
      expect(await remove()).toEqual([]);
      expect(files.size).toBe(0);
    });

    test('ends after a minute without the list of a hub that answers other requests', async () => {
      await settle();
      const failing = () => Promise.reject(new HubUnreachable('the answer is too large'));
      blueprints.list = failing;
      await expect(remove()).rejects.toThrow('too large');
      await clock.advance(59_000);
      blueprints.list = list;
      others = [automationWith({}, { deletionTimestamp: '2026-11-28T00:00:00Z' })];
      users = ['automation.hall'];
      expect(await remove()).toMatchObject({ type: 'Waiting' });
      blueprints.list = failing;
      await expect(remove()).rejects.toThrow('too large');
      await clock.advance(59_000);
      await expect(remove()).rejects.toThrow('too large');
      await clock.advance(1_000);
      expect(await remove()).toMatchObject([
        {
          reason: 'CleanupSkipped',
          message:
            'The blueprint automation/tests/lamp.yaml stays in the hub: the hub does not list its blueprints.',
        },
      ]);
      expect(files.size).toBe(1);
    });

    test('reports the hub’s error', async () => {
      await settle();
      fault = () => new HubRejected('home_assistant_error', 'Blueprint in use');
      expect(await remove()).toMatchObject([
        { message: expect.stringContaining('the hub says “Blueprint in use”') },
      ]);
    });
  });

  test('reloads in the hub are followed by one comparison of all blueprints of the domain', async () => {
    await settle();
    await clock.advance(10_000);
    requeued = [];
    for (let n = 0; n < 12; n++) {
      emit({ type: 'reloaded', kind: 'automation' });
      await clock.advance(100);
    }
    emit({ type: 'external-reload', kind: 'script' });
    await clock.advance(1_000);
    expect(requeued).toEqual(['HubBlueprint home lamp']);
    for (let n = 0; n < 60; n++) {
      emit({ type: 'reloaded', kind: 'automation' });
      await clock.advance(100);
    }
    expect(requeued).toHaveLength(2); // after 5 s at the latest
    emit({ type: 'reconnected' });
    await clock.advance(1_000);
    expect(requeued.length).toBeGreaterThan(2);
  });
});
