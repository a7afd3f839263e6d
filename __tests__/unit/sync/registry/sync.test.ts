import type { RegistryFields, RegistryRecord } from '../../../../operator/client/connection/api-types';
import { type RegistryType, registryTypes } from '../../../../operator/client/connection/registry-types';
import {
  HubFailed,
  HubRejected,
  HubTooLarge,
  HubUnreachable,
  NotFound,
} from '../../../../operator/client/connection/errors';
import type { HubClient } from '../../../../operator/client/hub-client';
import type { YamlZone } from '../../../../operator/client/connection/answers';
import { type Outcome, type Ready, waiting } from '../../../../operator/runtime/outcome';
import type { OwnEntitySettings } from '../../../../operator/sync/objects/own-entity';
import { removeObject } from '../../../../operator/sync/objects/removal';
import { entryKinds, type EntryResource, entryTypes } from '../../../../operator/sync/registry/entry-types';
import { helperTypes } from '../../../../operator/sync/registry/helpers/types';
import { EntryContexts } from '../../../../operator/sync/registry/entry-contexts';
import { RegistrySync } from '../../../../operator/sync/registry/sync';
import type { Services } from '../../../../operator/sync/services';
import { silentLog } from '../../../cluster/silent-log';
import { ManualClock } from '../../manual-clock';
import { aHub, services } from '../fixtures';
import { anEntry } from './entries';
import { hubClient } from '../../stand-in-hub/hub-client';

let clock: ManualClock;
let resources: EntryResource[];
let entries: Record<RegistryType, Map<string, RegistryRecord>>;
let writes: string[];
/** Returns the hub's form of the fields that it is sent. */
let accept: (fields: RegistryFields) => RegistryFields;
let hubState: { state: string; recovery_mode: boolean };
/** Zones of the configuration file. */
let yamlZones: readonly YamlZone[];
/** Ids of users by their login names. */
let users: Record<string, string>;
/** Persons of the configuration file. */
let yamlPersons: readonly object[];
/** By `<kind> <id>`; absent: one with the id of the entry. */
let entities: Record<string, { id?: string; entity_id: string; disabled_by?: string } | undefined>;
/** Ids of other entities. */
let entityIds: Set<string>;
/** Attributes by entity id; null: no state. */
let states: Record<string, Record<string, unknown> | null>;
/** The state of all entities. */
let value: string;
/** Components that the hub has not set up. */
let notLoaded: Set<string>;
let related: Record<string, readonly string[]>;
let drifts: string[];
/** Volume of the hub. */
let volume: string | undefined;
let client: HubClient;
/** The sync modules by kind. */
let modules: Record<string, RegistrySync>;
let given: Services;

function registry(type: RegistryType) {
  const write = async (action: string, id: string, fields: RegistryFields) => {
    writes.push(`${action} ${type} ${id} ${JSON.stringify(fields)}`);
    const isWhole = helperTypes.some((each) => each.type === type);
    const record = {
      name: id,
      ...(!isWhole && entries[type].get(id)),
      ...accept(fields),
      [`${type}_id`]: id,
    };
    entries[type].set(id, record);
    return record;
  };
  return {
    onChange: () => () => undefined,
    invalidate: () => writes.push(`read ${type}`),
    entries: async () => entries[type],
    create: (fields: { name: string }) =>
      write('create', fields.name.toLowerCase().replaceAll(' ', '_'), fields),
    update: (id: string, fields: RegistryFields) => write('update', id, fields),
    remove: async (id: string) => void (writes.push(`remove ${type} ${id}`), entries[type].delete(id)),
  };
}

beforeEach(() => {
  clock = new ManualClock();
  resources = [];
  entries = Object.fromEntries(registryTypes.map((type) => [type, new Map()])) as typeof entries;
  writes = [];
  accept = (fields) => fields;
  hubState = { state: 'RUNNING', recovery_mode: false };
  yamlZones = [];
  users = { anna: 'u1' };
  yamlPersons = [];
  entities = {};
  entityIds = new Set();
  states = {};
  value = 'on';
  notLoaded = new Set();
  related = {};
  drifts = [];
  volume = undefined;
  client = hubClient({
    components: { isLoaded: async (component: string) => !notLoaded.has(component) },
    connection: {
      command: async (type: string) =>
        type === 'search/related' ? related : type === 'person/list' ? { config: yamlPersons } : hubState,
    },
    rest: {
      redact: (text: string) => text,
      post: async () => JSON.stringify(yamlZones),
      get: async (path: string) => {
        const state = states[path.replace('/api/states/', '')];
        if (state === null) throw new NotFound('404', 'no');
        return { state: value, attributes: state ?? {} };
      },
    },
    entityRegistry: {
      onChange: () => undefined,
      onAppearance: () => undefined,
      withoutEntry: async (ids: string[]) => ids.filter((id) => !entityIds.has(id)),
      find: async (kind: string, id: string) => entities[`${kind} ${id}`] ?? { entity_id: `${kind}.${id}` },
      get: async (entityId: string) => (entityIds.has(entityId) ? { entity_id: entityId } : undefined),
    },
    users: { onChange: () => undefined, find: async (name: string) => users[name] },
    registries: Object.fromEntries(registryTypes.map((type) => [type, registry(type)])),
  });
  given = services({
    clock,
    cache: {
      get: () => aHub({ status: { ...(volume !== undefined && { volumeID: volume }) } }) as never,
      ofHub: <T>(kind: string) => resources.filter((each) => each.kind === kind) as never as Generator<T>,
    },
    metrics: { countDrift: (kind, action) => void drifts.push(`${kind} ${action}`) },
  });
  const contexts = new EntryContexts(given, entryTypes);
  modules = Object.fromEntries(
    entryKinds.map((definition) => [definition.kind, new RegistrySync(definition, given, contexts)]),
  );
});

const context = (fields: { dryRun?: boolean; forced?: boolean } = {}) => ({
  signal: new AbortController().signal,
  log: silentLog,
  forced: false,
  dryRun: false,
  ...fields,
});

const removeFloor = () => removeObject(given, modules['HubFloor']!, resources[0]!, client, context());

/** Reconciles once. The resource in `resources` then has the status and the condition of the outcome. */
async function reconcile(name: string, fields: Parameters<typeof context>[0] = {}): Promise<Outcome> {
  const index = resources.findIndex(({ metadata }) => metadata.name === name);
  const resource = resources[index]!;
  const outcome = await modules[resource.kind]!.sync(resource, client, context(fields));
  if (outcome.type === 'Waiting' && outcome.unreported) return outcome;
  const { reason, message } = outcome;
  const ready = { type: 'Ready', status: outcome.type === 'Ready' ? 'True' : 'False', reason, message };
  const observedGeneration = resource.metadata.generation;
  const status = { ...resource.status, ...outcome.status, conditions: [{ ...ready, observedGeneration }] };
  const present = Object.entries(status).filter(([, value]) => value !== null && value !== undefined);
  resources[index] = { ...resource, status: Object.fromEntries(present) };
  return outcome;
}

/** Reconciles until nothing is written to status before a write to the hub. */
async function settle(name: string): Promise<Outcome> {
  for (;;) {
    const outcome = await reconcile(name);
    if (outcome.type !== 'Waiting' || outcome.after > 0) return outcome;
  }
}

const floor = (fields: Parameters<typeof anEntry>[2] = {}) => anEntry('HubFloor', 'attic', fields);
const status = (name: string) => resources.find(({ metadata }) => metadata.name === name)!.status!;

describe('RegistrySync', () => {
  test('the name and the fields are in status before the entry is created', async () => {
    resources = [floor({ spec: { level: 2 } })];
    expect(await reconcile('attic')).toMatchObject({ type: 'Waiting', after: 0 });
    expect(status('attic')).toMatchObject({ pendingName: 'attic', appliedFields: ['level'] });
    expect(writes).toEqual([]);
    expect(await reconcile('attic')).toMatchObject({ type: 'Ready', reason: 'FloorRegistered' });
    expect(writes).toEqual(['create floor attic {"name":"attic","level":2}']);
    expect(status('attic')).toMatchObject({ floorID: 'attic' });
    expect(status('attic')).not.toHaveProperty('pendingName');
  });

  describe('after a recorded creation whose end is not in status', () => {
    const entry = { name: 'Attic', floor_id: 'attic', level: null };
    const announced = async () => {
      resources = [floor({ spec: { level: 2 } })];
      await reconcile('attic');
      expect(status('attic')).toMatchObject({ pendingName: 'attic' });
    };
    const adopted = { type: 'Warning', reason: 'Adopted' };

    test('an entry of that name may be a user’s: it is adopted, and stays at the deletion', async () => {
      await announced();
      entries.floor.set('attic', entry);
      expect(await reconcile('attic')).toMatchObject({ events: [adopted] });
      expect(status('attic')).toMatchObject({ floorID: 'attic', adopted: true });
      expect(status('attic')).not.toHaveProperty('pendingName');
      expect(await settle('attic')).toMatchObject({ type: 'Ready' });
      expect(await removeFloor()).toEqual([]);
      expect(entries.floor.has('attic')).toBe(true);
    });

    test('an entry that this process has created is its own, by the id that the hub has given', async () => {
      await announced();
      const [before] = resources;
      expect(await reconcile('attic')).toMatchObject({ type: 'Ready' });
      resources = [before!]; // the write of status failed
      expect(await settle('attic')).toMatchObject({ type: 'Ready' });
      expect(status('attic')).toMatchObject({ floorID: 'attic' });
      expect(status('attic')).not.toHaveProperty('adopted');
      expect(writes).toHaveLength(1);
    });

    test('an entry that this process has created is deleted with a resource that is deleted before status has the id', async () => {
      await announced();
      const [before] = resources;
      await reconcile('attic');
      expect(entries.floor.size).toBe(1);
      resources = [before!];
      expect(await removeFloor()).toEqual([]);
      expect(entries.floor.size).toBe(0);
    });

    test('an entry that a user makes after the id was recorded and the entry was removed is not', async () => {
      await announced();
      await settle('attic');
      await settle('attic');
      resources = [{ ...resources[0]!, status: { pendingName: 'attic' } }];
      expect(await settle('attic')).toMatchObject({ type: 'Ready' });
      expect(status('attic')).toMatchObject({ adopted: true });
    });

    test('under a name that was changed since, an entry is named and not renamed, and another one is created', async () => {
      await announced();
      entries.floor.set('attic', entry);
      resources = [{ ...resources[0]!, spec: { ...resources[0]!.spec, name: 'Roof' } }];
      expect(await reconcile('attic')).toMatchObject({
        events: [{ reason: 'CleanupSkipped', message: expect.stringContaining('floor “Attic” stays') }],
      });
      expect(await settle('attic')).toMatchObject({ type: 'Ready' });
      expect(entries.floor.get('attic')).toEqual(entry);
      expect(status('attic')).toMatchObject({ floorID: 'roof' });
      expect(status('attic')).not.toHaveProperty('adopted');
    });

    test('an entry of that name stays when the resource is deleted, with an event', async () => {
      await announced();
      entries.floor.set('attic', entry);
      expect(await removeFloor()).toMatchObject([
        { reason: 'CleanupSkipped', message: expect.stringContaining('floor “Attic” stays') },
      ]);
      expect(writes).toEqual([]);
    });
  });

  test('a reconcile that was given up while it waited for the hub sends nothing', async () => {
    resources = [floor()];
    await reconcile('attic');
    const signal = AbortSignal.abort(new HubUnreachable('the hub did not respond within 5 s'));
    const running = modules['HubFloor']!.sync(resources[0]!, client, { ...context(), signal });
    await expect(running).rejects.toThrow(HubUnreachable);
    expect(writes).toEqual([]);
  });

  test('a field is in status before it is set, and only differences are sent', async () => {
    resources = [floor({ spec: { level: 2 } })];
    await settle('attic');
    resources[0] = { ...resources[0]!, spec: { ...resources[0]!.spec, icon: 'mdi:x' } };
    expect(await reconcile('attic')).toMatchObject({ type: 'Waiting', after: 0 });
    expect(status('attic')).toMatchObject({ appliedFields: ['icon', 'level'] });
    await clock.advance(2_000);
    await reconcile('attic');
    expect(writes.slice(1)).toEqual(['update floor attic {"icon":"mdi:x"}']);
  });

  test('a difference that returns after each of three corrections is reported and left', async () => {
    resources = [floor({ spec: { level: 2 } })];
    await settle('attic');
    for (let time = 0; time < 3; time++) {
      await clock.advance(2_000);
      entries.floor.set('attic', { name: 'attic', floor_id: 'attic', level: 7 });
      expect(await reconcile('attic')).toMatchObject({ type: 'Ready' });
    }
    await clock.advance(2_000);
    entries.floor.set('attic', { name: 'attic', floor_id: 'attic', level: 7 });
    expect(await reconcile('attic')).toMatchObject({ type: 'Stalled', reason: 'DriftDetected' });
    expect(writes).toHaveLength(4);
    expect(drifts).toEqual([...Array<string>(3).fill('HubFloor corrected'), 'HubFloor reported']);
  });

  describe('of a person', () => {
    const person = (name: string, spec: Record<string, unknown>) => anEntry('HubPerson', name, { spec });
    const edit = (name: string, fields: Record<string, unknown>) => {
      const index = resources.findIndex(({ metadata }) => metadata.name === name);
      const { metadata, ...rest } = resources[index]!;
      const generation = metadata.generation + 1;
      resources[index] = { ...rest, metadata: { ...metadata, generation }, spec: person(name, fields).spec };
    };
    const phone = 'device_tracker.phone';
    const inHub = (id: string, fields: object = {}) =>
      entries.person.set(id, { name: 'Anna', id, person_id: id, device_trackers: [], ...fields });

    test('each command has all four fields', async () => {
      resources = [person('anna', { name: 'Änna', id: 'mother', username: 'anna', deviceTrackers: [phone] })];
      entityIds.add(phone);
      expect(await settle('anna')).toMatchObject({ type: 'Ready', reason: 'PersonRegistered' });
      const others = '"user_id":"u1","device_trackers":["device_tracker.phone"],"picture":null';
      expect(writes).toEqual([
        `create person mother {${others},"name":"mother"}`,
        `update person mother {${others},"name":"Änna"}`,
      ]);
      expect(status('anna')).toMatchObject({ id: 'mother', entityId: 'person.mother', userId: 'u1' });
    });

    test('what the spec does not set is sent as it is, and what the hub stores besides is not', async () => {
      inHub('anna', { user_id: 'u2', device_trackers: [phone], picture: '/a.png', other: 1 });
      resources = [person('anna', { name: 'Anna B.', username: null })];
      await settle('anna');
      expect(writes).toEqual([
        'update person anna {"user_id":"u2","device_trackers":["device_tracker.phone"],"picture":"/a.png","name":"Anna B."}',
      ]);
    });

    test('a person without a user gets one of null with the first write, and an equal one is not written', async () => {
      inHub('anna');
      resources = [person('anna', { name: 'Anna', username: '', deviceTrackers: [] })];
      expect(await settle('anna')).toMatchObject({ type: 'Ready' });
      expect(writes).toEqual([]);
      edit('anna', { name: 'Anna B.', username: '' });
      await settle('anna');
      expect(writes).toEqual([
        'update person anna {"user_id":null,"device_trackers":[],"picture":null,"name":"Anna B."}',
      ]);
    });

    test('an unknown user is waited for, and nothing is written', async () => {
      resources = [person('bob', { username: 'bob', name: 'Bob' })];
      expect(await reconcile('bob')).toMatchObject({ unreported: true });
      await clock.advance(2_000);
      const message = 'Waiting for the user “bob” in username: the hub has none of this name.';
      expect(await reconcile('bob')).toMatchObject({ reason: 'UserNotFound', after: 30_000, message });
      expect(writes).toEqual([]);
    });

    test('the id comes before the user, the user before the name, and none is taken twice', async () => {
      inHub('a', { user_id: 'u1' });
      inHub('b', { name: 'Bea' });
      inHub('c', { name: 'Cleo' });
      resources = [
        person('b', { name: 'Bea', username: 'anna' }),
        person('x', { name: 'Cleo', username: 'anna' }),
        person('y', { name: 'Cleo' }),
      ];
      const ids: unknown[] = [];
      for (const name of ['b', 'x', 'y']) {
        await reconcile(name);
        ids.push(status(name)['id']);
      }
      expect(ids).toEqual(['b', 'a', 'c']);
      resources.push(person('z', { name: 'Bea', username: 'anna' }));
      await reconcile('z');
      expect(status('z')).toMatchObject({ pendingName: 'z' });
    });

    describe('that exchanges its user', () => {
      const write = (id: string, user: string | null) =>
        `update person ${id} {"user_id":${JSON.stringify(user)},"device_trackers":["${phone}"],"picture":"/${id}.png","name":"${id}"}`;

      /** The persons a, b and c with the users u1, u2 and u3, as the hub refuses the same user twice. */
      beforeEach(async () => {
        users = { anna: 'u1', bea: 'u2', cleo: 'u3', dora: 'u4' };
        for (const [id, user] of Object.entries({ a: 'u1', b: 'u2', c: 'u3' }))
          inHub(id, { name: id, user_id: user, device_trackers: [phone], picture: `/${id}.png` });
        const logins = { a: 'anna', b: 'bea', c: 'cleo' };
        resources = Object.entries(logins).map(([id, username]) => person(id, { name: id, username }));
        for (const id of ['a', 'b', 'c']) await settle(id);
        expect(writes).toEqual([]);
        accept = (fields) => {
          const taken = [...entries.person.values()].some(
            ({ name, user_id: user }) =>
              name !== fields['name'] && user !== null && user === fields['user_id'],
          );
          if (taken) throw new HubRejected('invalid_format', 'User already taken');
          return fields;
        };
      });

      async function reconcileAll(): Promise<void> {
        for (const id of ['a', 'b', 'c']) await settle(id);
        await clock.advance(30_000);
      }
      const accepted = () => writes.filter((each) => each.startsWith('update'));
      const user = (id: string) => entries.person.get(id)!['user_id'];

      test('with another one: the first has none until the other has its user', async () => {
        edit('a', { name: 'a', username: 'bea' });
        edit('b', { name: 'b', username: 'anna' });
        await reconcileAll();
        await reconcileAll();
        expect(accepted()).toEqual([write('a', null), write('b', 'u1'), write('a', 'u2')]);
        for (const id of ['a', 'b']) expect(await reconcile(id)).toMatchObject({ type: 'Ready' });
      });

      test('and says that it has none while the other one, suspended since, keeps its user', async () => {
        edit('a', { name: 'a', username: 'bea' });
        edit('b', { name: 'b', username: 'anna' });
        await settle('a');
        edit('b', { name: 'b', username: 'bea', suspend: true });
        await clock.advance(30_000);
        const message =
          'The hub rejected it: User already taken. Until it accepts it, the person has no user.';
        for (let attempt = 0; attempt < 2; attempt++)
          expect(await settle('a')).toMatchObject({ reason: 'RejectedByHub', message });
      });

      test('in a circle of three', async () => {
        edit('a', { name: 'a', username: 'bea' });
        edit('b', { name: 'b', username: 'cleo' });
        edit('c', { name: 'c', username: 'anna' });
        for (let round = 0; round < 3; round++) await reconcileAll();
        expect([user('a'), user('b'), user('c')]).toEqual(['u2', 'u3', 'u1']);
        expect(accepted().filter((each) => each.includes('"user_id":null'))).toEqual([write('a', null)]);
      });

      test('and keeps it while the other one does not give up its user', async () => {
        edit('a', { name: 'a', username: 'bea' });
        expect(await settle('a')).toMatchObject({ reason: 'RejectedByHub' });
        edit('b', { name: 'b', username: 'anna', suspend: true });
        await clock.advance(30_000);
        expect(await settle('a')).toMatchObject({ reason: 'RejectedByHub' });
        expect(user('a')).toBe('u1');
      });

      test('and keeps it until the other one has another user', async () => {
        edit('a', { name: 'a', username: 'bea' });
        edit('b', { name: 'b', username: 'dora' });
        await reconcileAll();
        await reconcileAll();
        expect(accepted().filter((each) => each.includes('"user_id":null'))).toEqual([]);
        expect([user('a'), user('b')]).toEqual(['u2', 'u4']);
      });

      test('and gives up none for one that gets no user', async () => {
        edit('a', { name: 'a', username: '' });
        await reconcileAll();
        writes = [];
        edit('a', { name: 'a', username: 'bea' });
        edit('b', { name: 'b', username: '' });
        await reconcileAll();
        await reconcileAll();
        const attempt = write('a', 'u2');
        expect(accepted()).toEqual([attempt, write('b', null), attempt]);
      });

      /** A person exchanges the users in the hub. */
      function exchangeInHub(): void {
        for (const [id, of] of Object.entries({ a: 'u2', b: 'u1' }))
          entries.person.set(id, { ...entries.person.get(id)!, user_id: of });
      }

      test('and keeps it while the other one will leave the exchange that a person made', async () => {
        edit('b', { name: 'b', username: 'bea', driftPolicy: 'Warn' });
        await reconcileAll();
        exchangeInHub();
        expect(await settle('a')).toMatchObject({ reason: 'RejectedByHub' });
        expect(user('a')).toBe('u2');
        expect(await settle('b')).toMatchObject({ reason: 'DriftDetected' });
        await clock.advance(30_000);
        await settle('a');
        expect(user('a')).toBe('u2');
      });

      test('and both leave drift: one gives up its user once the other one waits for it', async () => {
        for (const [id, username] of Object.entries({ a: 'anna', b: 'bea' }))
          edit(id, { name: id, username, driftPolicy: 'Warn' });
        await reconcileAll();
        edit('a', { name: 'a', username: 'bea', driftPolicy: 'Warn' });
        edit('b', { name: 'b', username: 'anna', driftPolicy: 'Warn' });
        for (let round = 0; round < 3; round++) await reconcileAll();
        expect([user('a'), user('b')]).toEqual(['u2', 'u1']);
      });

      test('and gets its old one again if its spec has that again, also where drift is left', async () => {
        edit('a', { name: 'a', username: 'anna', driftPolicy: 'Warn' });
        await reconcileAll();
        edit('b', { name: 'b', username: 'anna' });
        edit('a', { name: 'a', username: 'bea', driftPolicy: 'Warn' });
        await settle('b');
        await clock.advance(30_000);
        for (const id of ['a', 'b']) if (user(id) !== null) await settle(id);
        const [released] = ['a', 'b'].filter((id) => user(id) === null);
        expect(released).toBeDefined();
        edit('a', { name: 'a', username: 'anna', driftPolicy: 'Warn' });
        edit('b', { name: 'b', username: 'bea' });
        for (let round = 0; round < 3; round++) await reconcileAll();
        expect([user('a'), user('b')]).toEqual(['u1', 'u2']);
        expect(drifts).toEqual([]);
      });

      test('back from a person who made the exchange: each names that change once', async () => {
        exchangeInHub();
        const events: unknown[] = [];
        for (let round = 0; round < 3; round++) {
          for (const id of ['a', 'b'])
            for (let outcome; !outcome || (outcome.type === 'Waiting' && outcome.after === 0);) {
              outcome = await reconcile(id);
              events.push(...(outcome.events ?? []).map(({ message }) => message));
            }
          await clock.advance(30_000);
        }
        expect([user('a'), user('b')]).toEqual(['u1', 'u2']);
        expect(events).toEqual([
          'The person was changed in the hub (user_id: hub has "u2", resource says "u1"). The change is reverted.',
          'The person was changed in the hub (user_id: hub has "u1", resource says "u2"). The change is reverted.',
        ]);
      });

      test('and keeps it when another client reverts each exchange', async () => {
        for (let round = 0; round < 4; round++) {
          exchangeInHub();
          for (let pass = 0; pass < 3; pass++) {
            for (const id of ['a', 'b']) await settle(id);
            await clock.advance(2_000);
          }
        }
        expect([user('a'), user('b')]).toEqual(['u2', 'u1']);
        expect(await settle('a')).toMatchObject({ reason: 'DriftDetected' });
      });
    });

    test.each([
      ['id', { id: 'x', name: 'Anna' }],
      ['name', { name: 'MO M' }],
      ['user', { name: 'Anna', username: 'anna' }],
    ])('one of the YAML with the %s is waited for', async (_, spec) => {
      yamlPersons = [{ id: 'x', name: 'Mom', user_id: 'u1' }];
      resources = [person('anna', spec)];
      expect(await reconcile('anna')).toMatchObject({ type: 'Waiting', reason: 'NameConflict' });
      yamlPersons = [{ id: 'other', name: 'Other', user_id: null }];
      expect(await settle('anna')).toMatchObject({ type: 'Ready' });
    });

    describe('with a tracker whose entity was removed', () => {
      beforeEach(async () => {
        entityIds.add(phone);
        resources = [person('anna', { name: 'Anna', deviceTrackers: [phone] })];
        await settle('anna');
        entityIds.delete(phone);
        states[phone] = null;
        inHub('anna', { user_id: null, picture: null });
        writes = [];
        await clock.advance(2_000);
      });

      test('it is named and not put back, also by another correction', async () => {
        const message = expect.stringContaining(`There is no entity ${phone} yet`);
        expect(await reconcile('anna')).toMatchObject({ type: 'Ready', message });
        inHub('anna', { name: 'Other', user_id: null, picture: null });
        expect(await reconcile('anna')).toMatchObject({ type: 'Ready', message });
        expect(writes).toEqual([
          'update person anna {"user_id":null,"device_trackers":[],"picture":null,"name":"Anna"}',
        ]);
      });

      test.each([
        ['entry', () => void entityIds.add(phone)],
        ['state', () => void delete states[phone]],
      ])('it is put back once it has an %s', async (_, appear) => {
        await reconcile('anna');
        appear();
        expect(await reconcile('anna')).toMatchObject({
          type: 'Ready',
          message: 'The hub has it as person anna.',
        });
        expect(writes).toHaveLength(1);
        expect(drifts).toEqual(['HubPerson corrected']);
      });

      test('a new spec sends it again', async () => {
        edit('anna', { name: 'Anna', deviceTrackers: [phone, 'device_tracker.watch'] });
        await settle('anna');
        expect(writes).toEqual([expect.stringContaining('["device_tracker.phone","device_tracker.watch"]')]);
      });
    });
  });

  describe('with settings of the entity', () => {
    const calls: string[] = [];
    let settled: (made: Ready) => Outcome;
    beforeEach(() => {
      calls.length = 0;
      settled = (made) => ({ ...made, status: { ...made.status, settingsHash: 'h' } });
      entities = { 'timer bell': { id: 'r1', entity_id: 'timer.bell' } };
      const settings: OwnEntitySettings = {
        settle: async (made, registryId) => (calls.push(`settle ${registryId}`), settled(made)),
        putBack: async () => (calls.push('put back'), []),
        objectOf: () => 'settings of timer.bell',
        forget: () => void calls.push('forget'),
      };
      const contexts = new EntryContexts(given, entryTypes);
      const { definition } = helperTypes[0]!;
      modules['HubHelper'] = new RegistrySync(definition, given, contexts, settings);
      resources = [anEntry('HubHelper', 'bell', { spec: { type: 'timer' } })];
    });
    const remove = () => removeObject(given, modules['HubHelper']!, resources[0]!, client, context());

    test('they are written once the hub has loaded the entry, and their outcome is that of the resource', async () => {
      states['timer.bell'] = null;
      expect(await settle('bell')).toMatchObject({ reason: 'EntityNotLoaded' });
      expect(calls).toEqual([]);
      delete states['timer.bell'];
      settled = (made) => waiting('AreaNotFound', 'Waiting.', 30_000, { status: made.status ?? {} });
      expect(await reconcile('bell')).toMatchObject({ type: 'Waiting', reason: 'AreaNotFound' });
      expect(calls).toEqual(['settle r1']);
      expect(status('bell')).toMatchObject({ id: 'bell', appliedHash: expect.any(String) });
    });

    test('the event of a corrected entry does not replace that of the settings', async () => {
      await settle('bell');
      entries.timer.set('bell', { name: 'Other', timer_id: 'bell' });
      const event = { type: 'Warning', reason: 'DriftDetected', message: 'The icon.' } as const;
      settled = (made) => ({ ...made, events: [event] });
      await clock.advance(2_000);
      const { events } = await reconcile('bell');
      expect(events).toEqual([expect.objectContaining({ reason: 'DriftDetected' }), event]);
    });

    test('they are compared in a dry run, if the entry is equal', async () => {
      await reconcile('bell', { dryRun: true });
      expect(calls).toEqual([]);
      await settle('bell');
      calls.length = 0;
      expect(await reconcile('bell', { dryRun: true })).toMatchObject({ reason: 'DryRun' });
      expect(calls).toEqual(['settle r1']);
    });

    test('they are put back where the entry stays, and go with one that is removed', async () => {
      await settle('bell');
      calls.length = 0;
      await remove();
      expect(calls).toEqual(['forget']);
      resources[0] = { ...resources[0]!, spec: { ...resources[0]!.spec, deletionPolicy: 'Orphan' } };
      expect(modules['HubHelper']!.objectOf(resources[0])).toBe('settings of timer.bell');
      await remove();
      expect(calls).toEqual(['forget', 'put back', 'forget']);
    });

    test('on another volume their record is dropped', async () => {
      volume = 'v1';
      await settle('bell');
      resources[0] = {
        ...resources[0]!,
        status: { ...resources[0]!.status, registryId: 'r1', previous: {} },
      };
      volume = 'v2';
      expect(await reconcile('bell')).toMatchObject({
        status: { id: null, registryId: null, previous: null, settingsHash: null },
      });
    });
  });

  describe('of a helper', () => {
    const text = (name: string, fields: object = {}) =>
      anEntry('HubHelper', name, { spec: { type: 'text', ...fields } });
    const settings = { max: 20, pattern: '[a-z]+' };
    const edit = (name: string, fields: object) => {
      const index = resources.findIndex(({ metadata }) => metadata.name === name);
      resources[index] = { ...resources[index]!, spec: text(name, fields).spec };
    };

    test('one whose id is that of its name is created by one write with all its fields', async () => {
      resources = [text('front-door', { name: 'Front Door', text: settings })];
      expect(await reconcile('front-door')).toMatchObject({ type: 'Waiting', after: 0 });
      expect(status('front-door')).toMatchObject({ pendingName: 'front_door' });
      expect(await settle('front-door')).toMatchObject({ type: 'Ready', reason: 'HelperRegistered' });
      expect(writes).toEqual([
        'create input_text front_door {"name":"Front Door","min":0,"max":20,"pattern":"[a-z]+","mode":"text"}',
      ]);
      expect(status('front-door')).toMatchObject({ id: 'front_door', entityId: 'input_text.front_door' });
      expect(status('front-door')).not.toHaveProperty('appliedFields');
    });

    test('one with another name is created under its id and gets the name at once', async () => {
      resources = [text('code', { name: 'Haustür' })];
      expect(await settle('code')).toMatchObject({ type: 'Ready' });
      expect(writes).toEqual([
        'create input_text code {"name":"code","min":0,"max":100,"mode":"text"}',
        'update input_text code {"name":"Haustür","min":0,"max":100,"mode":"text"}',
      ]);
    });

    test('a name that is refused after the creation does not create it twice', async () => {
      resources = [text('code', { name: 'Haustür' })];
      await reconcile('code');
      accept = (fields) => {
        if (fields['name'] === 'Haustür') throw new HubRejected('invalid_format', 'no');
        return fields;
      };
      expect(await reconcile('code')).toMatchObject({ reason: 'RejectedByHub' });
      accept = (fields) => fields;
      await clock.advance(2_000);
      expect(await settle('code')).toMatchObject({ type: 'Ready' });
      expect(writes.map((write) => write.split(' ')[0])).toEqual(['create', 'update', 'update']);
    });

    test('an update has all fields, those that the operator does not know as well, and none that was removed', async () => {
      resources = [text('code', { text: settings })];
      entries.input_text.set('code', {
        name: 'code',
        id: 'code',
        input_text_id: 'code',
        min: 0,
        max: 20,
        mode: 'text',
        pattern: 'old',
        icon: 'mdi:x',
        future: { a: 1 },
      });
      expect(await settle('code')).toMatchObject({ type: 'Ready' });
      expect(writes).toEqual([
        'update input_text code {"name":"code","min":0,"max":20,"mode":"text","pattern":"[a-z]+","future":{"a":1}}',
      ]);
      expect(status('code')).toMatchObject({ adopted: true });
    });

    test('an entry that a hub of an earlier version stored without its defaults is equal', async () => {
      resources = [text('code')];
      entries.input_text.set('code', { name: 'code' });
      expect(await settle('code')).toMatchObject({ type: 'Ready' });
      expect(writes).toEqual([]);
    });

    test('an initial value of a number, which the hub forgets, is neither compared nor sent', async () => {
      const spec = { type: 'number', number: { min: 0, max: 10 } };
      resources = [anEntry('HubHelper', 'level', { spec })];
      const record = { name: 'level', min: 0, max: 10, step: 1, mode: 'slider', initial: 99 };
      entries.input_number.set('level', record);
      await settle('level');
      expect(writes).toEqual([]);
      resources[0] = { ...resources[0]!, spec: { ...resources[0]!.spec, number: { min: 0, max: 5 } } };
      await settle('level');
      expect(writes).toEqual([
        'update input_number level {"name":"level","min":0,"max":5,"step":1,"mode":"slider"}',
      ]);
    });

    test('two of one name and different sorts do not concern each other', async () => {
      resources = [text('bell'), anEntry('HubHelper', 'Bell', { spec: { type: 'button', id: 'bell' } })];
      await settle('bell');
      await settle('Bell');
      expect(writes).toHaveLength(2);
    });

    test('an update that does not allow the present text is not sent, and the text is not quoted', async () => {
      resources = [text('code')];
      await settle('code');
      value = 'Pin1234';
      edit('code', { text: settings });
      await clock.advance(2_000);
      const outcome = await settle('code');
      expect(outcome).toMatchObject({ type: 'Stalled', reason: 'RejectedByHub', after: 30_000 });
      expect(outcome.message).toContain('the present value of input_text.code does not match text.pattern');
      expect(outcome.message).not.toContain('1234');
      expect(writes).toHaveLength(1);
      value = 'unknown';
      expect(await settle('code')).toMatchObject({ type: 'Ready' });
      value = 'pin';
      edit('code', { text: { max: 4 } });
      await clock.advance(2_000);
      expect(await settle('code')).toMatchObject({ type: 'Ready' });
      expect(writes).toHaveLength(3);
    });

    test('an invalid spec sends nothing', async () => {
      resources = [text('code', { text: { pattern: '(' } })];
      expect(await reconcile('code')).toMatchObject({ type: 'Stalled', reason: 'InvalidSpec' });
      expect(writes).toEqual([]);
    });

    test('a component that the hub has not set up is named while the hub runs', async () => {
      notLoaded.add('input_text');
      resources = [text('code')];
      expect(await reconcile('code')).toMatchObject({ type: 'Waiting', reason: 'ComponentNotLoaded' });
      hubState = { state: 'STARTING', recovery_mode: false };
      expect(await reconcile('code')).toMatchObject({ type: 'Waiting', reason: 'HubNotReady' });
    });

    test('a helper of the YAML with the id is waited for, and one that has gone is not', async () => {
      states['input_text.code'] = { editable: false };
      resources = [text('code')];
      expect(await reconcile('code')).toMatchObject({ type: 'Waiting', reason: 'NameConflict' });
      expect(writes).toEqual([]);
      states['input_text.code'] = { editable: false, restored: true };
      expect(await reconcile('code')).toMatchObject({ type: 'Waiting', reason: 'HelperRegistered' });
      expect(writes).toEqual([]); // announced
      states = {};
      expect(await settle('code')).toMatchObject({ type: 'Ready' });
    });

    test.each([
      [
        'is disabled',
        () => (entities['input_text code'] = { entity_id: 'input_text.code', disabled_by: 'user' }),
        'EntityDisabled',
      ],
      ['has no state', () => (states['input_text.code'] = null), 'EntityNotLoaded'],
      ['is restored', () => (states['input_text.code'] = { restored: true }), 'EntityNotLoaded'],
      [
        'has another id, since that one is taken',
        () => {
          entities['input_text code'] = { entity_id: 'input_text.code_2' };
          entityIds.add('input_text.code');
        },
        'EntityIdTaken',
      ],
    ])('one whose entity %s is not Ready, and status has its id', async (_, given, reason) => {
      resources = [text('code')];
      await reconcile('code');
      given();
      expect(await reconcile('code')).toMatchObject({ reason });
      expect(status('code')).toMatchObject({ id: 'code', entityId: expect.any(String) });
    });

    test('one whose entity belongs to a helper of the YAML, which was added later with the same id, is not Ready', async () => {
      resources = [text('code')];
      await settle('code');
      states['input_text.code'] = { editable: false };
      expect(await reconcile('code')).toMatchObject({ type: 'Waiting', reason: 'NameConflict' });
      expect(status('code')).toMatchObject({ id: 'code' });
      states['input_text.code'] = { editable: true };
      expect(await reconcile('code')).toMatchObject({ type: 'Ready' });
      expect(writes).toHaveLength(1);
    });

    test('one whose entity a person renamed is Ready', async () => {
      resources = [text('code')];
      entities['input_text code'] = { entity_id: 'input_text.door' };
      expect(await settle('code')).toMatchObject({ type: 'Ready' });
      expect(status('code')).toMatchObject({ entityId: 'input_text.door' });
    });

    test('the removal of one in use names its users', async () => {
      resources = [text('code')];
      await settle('code');
      related = { automation: ['automation.b', 'automation.a'], area: ['kitchen'] };
      expect(
        await removeObject(given, modules['HubHelper']!, resources[0]!, client, context()),
      ).toMatchObject([
        { reason: 'RemovedInUse', message: expect.stringContaining('automation.a, automation.b.') },
      ]);
      expect(writes.at(-1)).toBe('remove input_text code');
    });

    test.each([
      [
        'the list of entities is too large',
        () => (client.entityRegistry.find = () => Promise.reject(new HubTooLarge('entities', 1))),
      ],
      [
        'the search for its users fails',
        () => (client.connection.command = () => Promise.reject(new HubFailed('Unknown error'))),
      ],
    ])('one is removed although %s', async (_, fail) => {
      resources = [text('code')];
      await settle('code');
      fail();
      const events = await removeObject(given, modules['HubHelper']!, resources[0]!, client, context());
      expect(events).toEqual([]);
      expect(writes.at(-1)).toBe('remove input_text code');
    });

    test('of several of its name none is adopted, and a removed one is created again', async () => {
      for (const id of ['a', 'b']) entries.input_text.set(id, { name: 'Lamp', input_text_id: id });
      resources = [text('code', { name: 'Lamp' })];
      expect(await reconcile('code')).toMatchObject({ type: 'Stalled', reason: 'NameConflict' });
      entries.input_text.delete('b');
      await settle('code');
      expect(status('code')).toMatchObject({ id: 'a', adopted: true });
      entries.input_text.clear();
      entries.input_text.set('z', { name: 'Lamp' });
      await clock.advance(2_000);
      edit('code', { name: 'Lamp' });
      await settle('code');
      expect(status('code')).toMatchObject({ id: 'code' });
      expect([...entries.input_text.keys()]).toEqual(['z', 'code']);
    });
  });

  describe('of a zone', () => {
    const spec = { latitude: '52.5200', longitude: '13.4050' };
    const zone = (fields: object = {}) => anEntry('HubZone', 'School', { spec: { ...spec, ...fields } });
    const lastWrite = () => writes.at(-1);
    const change = (fields: object) => (resources[0] = { ...resources[0]!, spec: zone(fields).spec });

    test('numbers are sent for the texts of the spec, and equal ones are not sent again', async () => {
      resources = [zone({ radius: 150 })];
      expect(await settle('School')).toMatchObject({ type: 'Ready', reason: 'ZoneRegistered' });
      expect(writes).toEqual([
        'create zone school {"name":"School","latitude":52.52,"longitude":13.405,"radius":150}',
      ]);
      expect(status('School')).toMatchObject({ zoneID: 'school', entityId: 'zone.school' });
      change({ radius: 150, latitude: '+52.52' });
      await settle('School');
      expect(writes).toHaveLength(1);
    });

    test('a cleared field gets the default of a new zone, and the icon, which the hub cannot clear, stays', async () => {
      resources = [zone({ radius: 150, passive: true, icon: 'mdi:school' })];
      await settle('School');
      change({});
      await clock.advance(2_000);
      expect(await settle('School')).toMatchObject({ type: 'Ready' });
      expect(lastWrite()).toBe('update zone school {"radius":100,"passive":false}');
      expect(entries.zone.get('school')).toMatchObject({ icon: 'mdi:school' });
    });

    test('radius and passive of an adopted zone stay when the spec does not set them', async () => {
      entries.zone.set('work', {
        name: 'school',
        latitude: 52.52,
        longitude: 13.405,
        radius: 42,
        passive: true,
      });
      entries.zone.set('school', { name: 'School', latitude: 1, longitude: 1, radius: 7 });
      resources = [zone()];
      expect(await settle('School')).toMatchObject({ type: 'Ready' });
      expect(writes).toEqual(['update zone work {"name":"School"}']);
      expect(status('School')).toMatchObject({ zoneID: 'work', adopted: true });
    });

    test('a zone of that name in the YAML of the hub is reported, and none is created beside it', async () => {
      yamlZones = [{ entityId: 'zone.pupils', name: 'SCHOOL' }];
      resources = [zone()];
      expect(await reconcile('School', { dryRun: true })).toMatchObject({ reason: 'NameConflict' });
      expect(await reconcile('School')).toMatchObject({ type: 'Stalled', reason: 'NameConflict' });
      const { conditions } = status('School') as { conditions: readonly { message: string }[] };
      expect(conditions[0]!.message).toContain('“SCHOOL” (zone.pupils) is part of the hub’s YAML');
      expect(status('School')).not.toHaveProperty('pendingName');
      yamlZones = [{ entityId: 'zone.other', name: 'Other' }];
      expect(await settle('School')).toMatchObject({ type: 'Ready' });
    });

    test('the hub’s home zone, which has the name of its location, is reported as coming from the core settings', async () => {
      yamlZones = [{ entityId: 'zone.home', name: 'School' }];
      resources = [zone()];
      const { reason, message } = await reconcile('School');
      expect(reason).toBe('NameConflict');
      expect(message).toContain('“School” (zone.home) is the hub’s own');
      expect(message).toContain('bootstrap.location');
      expect(message).not.toContain('YAML');
    });
  });

  test('a rejection by the hub is Stalled, stays so until the next attempt, and is retried every 30 s', async () => {
    resources = [floor()];
    accept = () => {
      throw new HubRejected('invalid_info', 'no');
    };
    expect(await settle('attic')).toMatchObject({ type: 'Stalled', reason: 'RejectedByHub', after: 30_000 });
    await clock.advance(500);
    expect(await reconcile('attic')).toMatchObject({
      type: 'Stalled',
      reason: 'RejectedByHub',
      after: 1_500,
    });
    await clock.advance(30_000);
    await reconcile('attic');
    expect(writes).toHaveLength(2);
  });

  test('an entry that a user made after the rejection is adopted, and is not removed with the resource', async () => {
    resources = [floor()];
    accept = () => {
      throw new HubRejected('invalid_info', 'no');
    };
    await settle('attic');
    entries.floor.set('attic', { name: 'Attic', floor_id: 'attic' });
    expect(await removeFloor()).toEqual([]);
    expect(entries.floor.has('attic')).toBe(true);
    expect((await reconcile('attic')).events).toMatchObject([{ reason: 'Adopted' }]);
    expect(status('attic')).toMatchObject({ adopted: true });
  });

  describe('an area keeps its name in an exchange', () => {
    const area = (name: string, to: string, fields: object = {}) =>
      anEntry('HubArea', name, { spec: { name: to, ...fields }, status: { areaID: name } });

    beforeEach(() => {
      for (const [id, name] of Object.entries({ a: 'A', b: 'B' }))
        entries.area.set(id, { area_id: id, name, labels: [], aliases: [] });
    });

    test('if the hub refuses it for another reason', async () => {
      resources = [area('a', 'B', { temperatureEntityId: 'sensor.none' }), area('b', 'A')];
      accept = (fields) => {
        if ('temperature_entity_id' in fields) throw new HubRejected('invalid_info', 'it is no sensor');
        return fields;
      };
      expect(await settle('a')).toMatchObject({ reason: 'RejectedByHub' });
      expect(entries.area.get('a')).toMatchObject({ name: 'A' });
    });

    test('but not if the other one is suspended after that: status has the name in between', async () => {
      resources = [area('a', 'B'), area('b', 'A')];
      await settle('a');
      resources[1] = { ...resources[1]!, spec: { ...resources[1]!.spec, suspend: true } };
      await clock.advance(2_000);
      const message =
        'The area “B” in the hub belongs to the HubArea b, whose spec.name is different. This resource waits until the HubArea b ' +
        'has renamed it or is deleted, and its area has the name “B (a)” until then. That one is suspended or in dry-run.';
      expect(await settle('a')).toMatchObject({ reason: 'DuplicateId', message });
    });

    test('until the floor of the other one exists', async () => {
      resources = [area('a', 'B'), area('b', 'A', { floorName: 'Attic' })];
      expect(await settle('a')).toMatchObject({ reason: 'DuplicateId' });
      expect(writes).toEqual([]);
      entries.floor.set('attic', { name: 'Attic' });
      for (let round = 0; round < 3; round++) {
        for (const name of ['a', 'b']) await settle(name);
        await clock.advance(2_000);
      }
      expect(entries.area.get('a')).toMatchObject({ name: 'B' });
      expect(entries.area.get('b')).toMatchObject({ name: 'A', floor_id: 'attic' });
    });
  });

  test('a label that the hub drops is not a success', async () => {
    entries.label.set('wood', { name: 'Wood', label_id: 'wood' });
    resources = [anEntry('HubArea', 'den', { spec: { labels: ['Wood'] } })];
    accept = (fields) => ({ ...fields, labels: [] });
    expect(await settle('den')).toMatchObject({
      type: 'Waiting',
      message: expect.stringContaining('labels: hub has [], resource says ["wood"]'),
    });
    expect(status('den')).toMatchObject({ areaID: 'den' });
    expect(status('den')).not.toHaveProperty('appliedHash');
  });

  test('an area whose floor and labels appear one after the other is written to status only when it is created', async () => {
    const floorOfArea = anEntry('HubFloor', 'attic');
    const labelOfArea = anEntry('HubLabel', 'wood');
    resources = [anEntry('HubArea', 'den', { spec: { floorName: 'attic', labels: ['wood'] } })];
    const { status: before } = resources[0]!;
    const waits = async (reason: string) => {
      const outcome = await reconcile('den');
      expect(outcome).toMatchObject({ type: 'Waiting', reason, unreported: true, priority: 'resync' });
      await clock.advance(1_900);
    };
    await waits('FloorNotReady');
    resources.push(labelOfArea); // the text of the missing references changes
    await waits('FloorNotReady');
    await settle('wood');
    await waits('FloorNotReady');
    resources.push(floorOfArea);
    await settle('attic');
    expect(resources[0]!.status).toBe(before);
    expect(await settle('den')).toMatchObject({ type: 'Ready' });
  });

  test('a floor that stays missing is reported, immediately if requested', async () => {
    resources = [anEntry('HubArea', 'den', { spec: { floorName: 'attic' } })];
    expect(await reconcile('den', { forced: true })).not.toHaveProperty('unreported');
    await clock.advance(100);
    expect(await reconcile('den')).toMatchObject({ unreported: true, after: 1_900 });
    await clock.advance(1_900);
    const outcome = await reconcile('den');
    expect(outcome).toMatchObject({ type: 'Waiting', reason: 'FloorNotReady', after: 30_000 });
    expect(outcome).not.toHaveProperty('unreported');
  });

  test('in recovery mode a missing entry is neither created again nor treated as removed', async () => {
    resources = [floor({ status: { floorID: 'attic' } })];
    hubState = { state: 'RUNNING', recovery_mode: true };
    expect(await reconcile('attic')).toMatchObject({ type: 'Waiting', reason: 'HubNotReady' });
    expect(await removeFloor()).toMatchObject([
      { reason: 'CleanupSkipped', message: expect.stringContaining('recovery mode') },
    ]);
    expect(writes).toEqual([]);
  });

  describe('on another volume of the hub', () => {
    beforeEach(async () => {
      volume = 'first';
      resources = [floor({ spec: { driftPolicy: 'Warn', level: 2 } })];
      await settle('attic');
      expect(status('attic')).toMatchObject({ volumeID: 'first' });
      volume = 'second';
      entries.floor.clear();
      writes = [];
      await clock.advance(2_000);
    });

    test('a missing entry is created as for a new resource, also with driftPolicy Warn', async () => {
      expect(await settle('attic')).toMatchObject({ type: 'Ready' });
      expect(writes).toEqual(['create floor attic {"name":"attic","level":2}']);
      expect([status('attic'), drifts]).toMatchObject([{ volumeID: 'second', floorID: 'attic' }, []]);
    });

    test('an entry of that name is a user’s: it is adopted, and none of its fields is cleared', async () => {
      entries.floor.set('attic', { name: 'Attic', floor_id: 'attic', icon: 'mdi:home', level: 7 });
      await settle('attic');
      expect(status('attic')).toMatchObject({ adopted: true, volumeID: 'second', appliedFields: ['level'] });
      expect(writes).toEqual(['update floor attic {"name":"attic","level":2}']);
    });

    test('nothing is removed there for a resource that was not reconciled since', async () => {
      entries.floor.set('attic', { name: 'Attic', floor_id: 'attic' });
      expect(await removeFloor()).toMatchObject([
        { reason: 'CleanupSkipped', message: expect.stringContaining('floor attic was on another volume') },
      ]);
      expect(writes).toEqual([]);
    });

    test('a dry run writes nothing to status', async () => {
      expect(await reconcile('attic', { dryRun: true })).toMatchObject({ reason: 'DryRun' });
      expect(status('attic')).toMatchObject({ volumeID: 'first' });
    });
  });

  test('requested reconciliations of many resources read the registries once', async () => {
    resources = ['a', 'b', 'c'].map((name) => anEntry('HubFloor', name));
    for (const name of ['a', 'b', 'c']) await reconcile(name, { forced: true });
    expect(writes).toEqual(registryTypes.map((type) => `read ${type}`));
  });
});
