import type { RegistryRecord, RegistryUpdated } from '../../../../operator/client/connection/api-types';
import type { CollectionChanges } from '../../../../operator/client/connection/registry-types';
import type { HubConnection } from '../../../../operator/client/connection/connection';
import { HubRejected, HubUnreachable, NotFound } from '../../../../operator/client/connection/errors';
import { Registry } from '../../../../operator/client/registries/registry';
import { listsOf } from '../kept';

/**
 * A floor registry that answers as the hub does: the event of a change comes before the answer to its
 * command.
 */
class FakeRegistry {
  readonly floors = new Map<string, RegistryRecord>();
  lists = 0;
  /** Called in the hub between the event of a write and its answer. */
  interfere: () => void = () => undefined;
  /** Delays creations: they get no answer, and are carried out before the next list. */
  isLate = false;
  private readonly late: RegistryRecord[] = [];
  reconnected!: () => void;
  missChanges!: () => void;
  private tell!: (data: RegistryUpdated) => void;

  readonly connection = {
    lists: listsOf(),
    onLost: () => () => undefined,
    onReconnect: (listener: () => void) => {
      const before = this.reconnected as (() => void) | undefined;
      this.reconnected = () => {
        before?.();
        listener();
      };
      return () => undefined;
    },
    onMissedChanges: (listener: () => void) => {
      this.missChanges = listener;
    },
    subscribeEvents: async (_type: string, listener: (data: RegistryUpdated) => void) => {
      this.tell = listener;
      return async () => undefined;
    },
    command: async (type: string, fields: Record<string, string> = {}) => {
      const action = type.split('/').at(-1);
      if (action === 'list') {
        this.lists += 1;
        for (const record of this.late.splice(0)) this.change('create', String(record['floor_id']), record);
        return [...this.floors.values()];
      }
      const id = fields['floor_id'] ?? fields['name']!.toLowerCase();
      if (action === 'delete') {
        if (!this.floors.has(id)) throw new HubRejected('invalid_info', "Floor ID doesn't exist");
        this.change('remove', id);
        return null;
      }
      const record = { ...this.floors.get(id), name: id, ...fields, floor_id: id };
      if (this.isLate) {
        this.late.push(record);
        throw new HubUnreachable('the hub did not answer within 10 s');
      }
      this.change(action === 'create' ? 'create' : 'update', id, record);
      this.interfere();
      return record;
    },
  } as unknown as HubConnection;

  change(action: 'create' | 'update' | 'remove', id: string, record?: RegistryRecord): void {
    if (record) this.floors.set(id, record);
    else this.floors.delete(id);
    this.tell({ action, floor_id: id });
  }
}

let hub: FakeRegistry;
let registry: Registry;
let changes: number;

beforeEach(() => {
  hub = new FakeRegistry();
  registry = new Registry(hub.connection, 'floor');
  changes = 0;
  registry.onChange(() => (changes += 1));
});

const names = async () => [...(await registry.entries()).keys()].sort();

describe('Registry', () => {
  test('is read once, and own writes of any number are known without reading it again', async () => {
    await registry.entries();
    await Promise.all(['A', 'B', 'C'].map((name) => registry.create({ name })));
    await registry.update('a', { level: 3 });
    await registry.remove('b');
    expect(await names()).toEqual(['a', 'c']);
    expect((await registry.entries()).get('a')).toMatchObject({ level: 3 });
    expect(hub.lists).toBe(1);
    expect(changes).toBe(0);
  });

  test('a change by another client is reported, and the registry read once more', async () => {
    await registry.entries();
    hub.change('create', 'theirs', { name: 'Theirs', floor_id: 'theirs' });
    hub.change('update', 'theirs', { name: 'Theirs', floor_id: 'theirs', level: 1 });
    expect(changes).toBe(2);
    expect(await names()).toEqual(['theirs']);
    expect(hub.lists).toBe(2);
  });

  test('a change by another client during an own write is not taken for ours, even of the same entry', async () => {
    await registry.entries();
    await registry.create({ name: 'A' });
    hub.interfere = () => hub.change('update', 'a', { name: 'Theirs', floor_id: 'a' });
    await registry.update('a', { level: 2 });
    expect(changes).toBe(1);
    expect((await registry.entries()).get('a')).toMatchObject({ name: 'Theirs' });
  });

  test('the removal of an entry that another client has removed succeeds', async () => {
    await registry.entries();
    await expect(registry.remove('gone')).resolves.toBeUndefined();
    expect(changes).toBe(0);
  });

  test('a write without an answer makes it read the registry again, since the write may have been carried out', async () => {
    await registry.entries();
    hub.interfere = () => {
      throw new HubUnreachable('the connection to the hub was lost');
    };
    await expect(registry.create({ name: 'A' })).rejects.toThrow(HubUnreachable);
    expect(await names()).toEqual(['a']);
    expect(changes).toBe(1);
  });

  test('a write that the hub carries out after its time limit is among the entries of the next read', async () => {
    await registry.entries();
    hub.isLate = true;
    await expect(registry.create({ name: 'A' })).rejects.toThrow(HubUnreachable);
    expect(await names()).toEqual(['a']);
  });

  test('an endless series of changes during a command is not kept, and the registry is read again', async () => {
    await registry.entries();
    hub.interfere = () => {
      for (let index = 0; index < 3_000; index++)
        hub.change('create', `new-${index}`, { name: `New ${index}`, floor_id: `new-${index}` });
    };
    await registry.create({ name: 'A' });
    expect(changes).toBeGreaterThan(1);
    expect(await names()).toHaveLength(3_001);
  });

  test('after a lost connection the registry is read again and reported as changed', async () => {
    await registry.entries();
    hub.floors.set('new', { name: 'New', floor_id: 'new' });
    hub.reconnected();
    expect(changes).toBe(1);
    expect(await names()).toEqual(['new']);
  });

  test('after missed changes the registry is reported as changed', () => {
    hub.missChanges();
    expect(changes).toBe(1);
  });

  test('of zones has the id of a record in zone_id, and follows the stream of the collection', async () => {
    let tell!: (changes: CollectionChanges) => void;
    const sent: unknown[] = [];
    const zones = new Map<string, RegistryRecord>([['work', { id: 'work', name: 'Work' }]]);
    const connection = {
      lists: listsOf(),
      onLost: () => () => undefined,
      onReconnect: () => () => undefined,
      onMissedChanges: () => undefined,
      subscribe: async (type: string, _: object, onMessage: typeof tell) => {
        expect(type).toBe('zone/subscribe');
        tell = onMessage;
      },
      command: async (type: string, fields: Record<string, string> = {}) => {
        sent.push([type, fields]);
        if (type === 'zone/list') return [...zones.values()];
        if (type === 'zone/delete') throw new NotFound('not_found', 'Unable to find zone_id gone');
        const id = fields['zone_id'] ?? 'school';
        tell([{ change_type: zones.has(id) ? 'updated' : 'added', zone_id: id }]);
        const { zone_id: _id, ...rest } = fields;
        zones.set(id, { name: id, ...zones.get(id), ...rest, id });
        return zones.get(id);
      },
    } as unknown as HubConnection;
    registry = new Registry(connection, 'zone');
    registry.onChange(() => (changes += 1));
    expect((await registry.entries()).get('work')).toMatchObject({ name: 'Work', zone_id: 'work' });
    expect(await registry.create({ name: 'School' })).toMatchObject({ zone_id: 'school' });
    await registry.update('school', { radius: 7 });
    expect((await registry.entries()).get('school')).toMatchObject({ radius: 7, zone_id: 'school' });
    await expect(registry.remove('gone')).resolves.toBeUndefined();
    expect(changes).toBe(0);
    expect(sent.filter((each) => (each as string[])[0] === 'zone/list')).toHaveLength(1);
    tell([{ change_type: 'removed', zone_id: 'work' }]);
    expect(changes).toBe(1);
  });
});
