import type { RegistryRecord } from '../../../../operator/client/connection/api-types';
import type { ConfigRegistryType } from '../../../../operator/client/connection/registry-types';
import { HubFailed, HubTooLarge } from '../../../../operator/client/connection/errors';
import { areas, floors, labels } from '../../../../operator/sync/registry/entry-types';
import { persons } from '../../../../operator/sync/registry/persons';
import { helperTypes } from '../../../../operator/sync/registry/helpers/types';
import {
  RegistryWatch,
  type RegistryWatchOptions,
  type WatchedEntry,
} from '../../../../operator/sync/registry/entry-contexts';
import { ManualClock } from '../../manual-clock';
import { RecordingLog } from '../../runtime/recording-log';

let clock: ManualClock;
let log: RecordingLog;
let watch: RegistryWatch;
let reads: number;
let failure: Error | undefined;
let entries: Map<string, RegistryRecord>;
let reconciled: string[];
let resources: Record<ConfigRegistryType | 'counter' | 'person', Omit<WatchedEntry, 'requeue'>[]>;
const changed = {} as Record<ConfigRegistryType | 'counter' | 'person', () => void>;
let changedEntity: (kind: string, id: string) => void;
let appeared: (entityId: string) => void;
let changedUsers: () => void;
/** The types whose resources were looked at. */
let searched: string[];
/** The components that the hub has set up. */
let components: Set<string>;

const record = (id: string): RegistryRecord => ({ name: id, level: 1 });
const watched = (id: string, isReady = true) => ({ id, seen: record(id), isReady });

beforeEach(() => {
  clock = new ManualClock();
  log = new RecordingLog();
  reads = 0;
  failure = undefined;
  reconciled = [];
  searched = [];
  entries = new Map(['a', 'b'].map((id) => [id, record(id)]));
  resources = {
    floor: [watched('a'), watched('b')],
    label: [],
    area: [watched('r'), watched('w', false)],
    counter: [watched('a'), watched('w', false), watched('z')],
    person: [],
  };
  components = new Set(['counter']);
  const registry = (type: ConfigRegistryType | 'counter' | 'person') => ({
    onChange: (listener: () => void) => (changed[type] = listener),
    entries: async () => {
      reads += 1;
      if (failure) throw failure;
      return entries;
    },
  });
  const all = (['floor', 'label', 'area', 'counter', 'person'] as const).map((type) => [
    type,
    registry(type),
  ]);
  const client = {
    registries: Object.fromEntries(all),
    components: { isLoaded: async (component: string) => components.has(component) },
    entityRegistry: {
      onChange: (listener: typeof changedEntity) => (changedEntity = listener),
      onAppearance: (listener: typeof appeared) => (appeared = listener),
    },
    users: { onChange: (listener: () => void) => (changedUsers = listener) },
  };
  const counters = helperTypes.find(({ type }) => type === 'counter')!;
  watch = new RegistryWatch({
    client: client as unknown as RegistryWatchOptions['client'],
    clock,
    log,
    entryTypes: [floors, labels, areas, counters, persons],
    resources: (type) => {
      searched.push(type);
      return resources[type as keyof typeof resources].map((each) => ({
        ...each,
        requeue: (priority = 'change') => reconciled.push(`${type} ${each.id} ${priority}`),
      }));
    },
  });
});

describe('RegistryWatch', () => {
  test('several changes cause one read, which reconciles the resources whose entries have changed', async () => {
    entries.set('b', { name: 'b', level: 9 });
    for (let change = 0; change < 5; change++) changed.floor();
    await clock.advance(300);
    expect(reads).toBe(1);
    expect(reconciled[0]).toBe('floor b change');
    expect(reconciled).not.toContain('floor a change');
  });

  test('a registry without resources is not read, and its changes requeue resources that refer to it', async () => {
    resources.floor = [];
    changed.floor();
    await clock.advance(300);
    expect(reads).toBe(0);
    expect(reconciled).toEqual(['area r resync', 'area w change']);
  });

  test('a changed entity concerns the resource of its entry, and those that may wait for its id', () => {
    changedEntity('counter', 'a');
    expect(reconciled).toEqual(['counter a change', 'counter w change']);
    reconciled = [];
    changedEntity('automation', 'a');
    expect(reconciled).toEqual([]);
  });

  test('a collection that the hub has not set up is not read, since the hub does not know its commands', async () => {
    components.clear();
    changed.counter();
    await clock.advance(300);
    expect(reads).toBe(0);
    expect(reconciled).toEqual(['counter a change', 'counter w change', 'counter z change']);
  });

  test('an entity that the hub gets requeues the resources that name it and miss it', () => {
    resources.person = [
      { ...watched('a'), missing: ['device_tracker.x'] },
      { ...watched('b'), missing: ['device_tracker.y'] },
      watched('c'),
    ];
    appeared('device_tracker.x');
    expect(reconciled).toEqual(['person a change']);
    expect(searched).toEqual(['person']);
  });

  test('a change of users requeues the persons that wait, once, after the user has got a login', async () => {
    resources.person = [watched('a'), watched('w', false)];
    for (let change = 0; change < 3; change++) changedUsers();
    expect(reconciled).toEqual([]);
    await clock.advance(1_000);
    expect(reconciled).toEqual(['person w change']);
  });

  test('a resource whose entry was removed, and one that is not Ready, are reconciled', async () => {
    entries.delete('a');
    resources.floor = [watched('a'), watched('b', false)];
    changed.floor();
    await clock.advance(300);
    expect(reconciled.slice(0, 2)).toEqual(['floor a change', 'floor b change']);
  });

  test('a change of floors requeues areas: those that wait immediately, the others after all changes', async () => {
    changed.floor();
    await clock.advance(300);
    expect(reconciled).toEqual(['area r resync', 'area w change']);
  });

  test('a name that the operator has released requeues those that wait for it, and all that may refer to it', () => {
    resources.floor = [watched('a'), watched('b', false)];
    watch.requeueAfterOwnChange('floor');
    expect(reconciled).toEqual(['floor b change', 'area r resync', 'area w change']);
  });

  test('a registry that cannot be read while the hub starts is read again 5 s later', async () => {
    failure = new HubFailed('Unknown command.');
    entries.delete('a');
    changed.floor();
    await clock.advance(300);
    failure = undefined;
    await clock.advance(5_000);
    expect(reconciled).toContain('floor a change');
  });

  test('a registry that is too large to be kept is requested again later, without a log line each time', async () => {
    failure = new HubTooLarge('floors', 42_000_000);
    entries.delete('a');
    changed.floor();
    await clock.advance(300);
    await clock.advance(3 * 60_000);
    expect([reads, log.lines]).toEqual([7, []]);
    failure = undefined;
    await clock.advance(30_000);
    expect(reconciled).toContain('floor a change');
  });
});
