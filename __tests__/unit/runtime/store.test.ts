import { objectKeyOf } from '../../../operator/runtime/object-key';
import type { ClusterObject } from '../../../operator/runtime/objects';
import { type Change, Store } from '../../../operator/runtime/store';
import fc from '../../fast-check';

interface Thing extends ClusterObject {
  readonly value: number;
  readonly status: { readonly id?: unknown };
}

/** A value up to 9 determines one of three hubs and one of these ids. The last id is not text. */
const IDS = ['x', 'y', 'x y', 5];
const hubOf = ({ value }: Thing) => String(value % 3);

const thing = (name: string, version: number, value = 0, uid = name): Thing => ({
  kind: 'Thing',
  metadata: { namespace: 'home', name, uid, resourceVersion: String(version) },
  value,
  status: { id: IDS[Math.floor(value / 3)] },
});

const names = (changes: readonly Change<Thing>[]) =>
  changes.map(({ type, object }) => `${type} ${object.metadata.name}`);

// The server's history: each step makes the next resource version. The store sees it through a watch that may
// lag, break and be replaced by a list, and through answers to its own writes, which may overtake the watch
// or come late. A restored backup is recognized by a list that is older than the last one. Any other restore
// looks like a normal server.
const NAMES = ['a', 'b', 'c'];

type Step =
  | { readonly type: 'write'; readonly name: string; readonly value: number; readonly recorded: boolean }
  | { readonly type: 'delete'; readonly name: string }
  | { readonly type: 'watch'; readonly events: number }
  | { readonly type: 'relist' }
  | { readonly type: 'restore'; readonly back: number }
  | { readonly type: 'late answer'; readonly index: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    type: fc.constant('write' as const),
    name: fc.constantFrom(...NAMES),
    value: fc.nat(9),
    recorded: fc.boolean(),
  }),
  fc.record({ type: fc.constant('delete' as const), name: fc.constantFrom(...NAMES) }),
  fc.record({ type: fc.constant('watch' as const), events: fc.nat(5) }),
  fc.constant({ type: 'relist' as const }),
  fc.record({ type: fc.constant('restore' as const), back: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ type: fc.constant('late answer' as const), index: fc.nat() }),
);

class Server {
  version = 0;
  readonly objects = new Map<string, Thing>();
  history: { readonly type: 'put' | 'remove'; readonly object: Thing }[] = [];

  restore(version: number): void {
    this.version = version;
    this.history = this.history.filter(({ object }) => Number(object.metadata.resourceVersion) <= version);
    this.objects.clear();
    for (const { type, object } of this.history) {
      if (type === 'put') this.objects.set(object.metadata.name, object);
      else this.objects.delete(object.metadata.name);
    }
  }

  write(name: string, value: number): Thing {
    const before = this.objects.get(name);
    const object = thing(name, ++this.version, value, before?.metadata.uid ?? `${name}-${this.version}`);
    this.objects.set(name, object);
    this.history.push({ type: 'put', object });
    return object;
  }

  delete(name: string): void {
    const before = this.objects.get(name);
    if (!before) return;
    this.objects.delete(name);
    const object = { ...before, metadata: { ...before.metadata, resourceVersion: String(++this.version) } };
    this.history.push({ type: 'remove', object });
  }
}

/** Step sequences that once failed, or would without a guard, in a minimal form. */
const examples: [Step[]][] = [
  // The watch had delivered versions that a restored backup lacked, and the last list was older than that
  // backup.
  [
    [
      { type: 'write', name: 'a', value: 0, recorded: false },
      { type: 'relist' },
      { type: 'write', name: 'b', value: 0, recorded: false },
      { type: 'write', name: 'c', value: 0, recorded: false },
      { type: 'watch', events: 2 },
      { type: 'restore', back: 1 },
    ],
  ],
  // The answer to a write came after the object was deleted, and restored it in the store.
  [
    [
      { type: 'write', name: 'a', value: 0, recorded: false },
      { type: 'delete', name: 'a' },
      { type: 'watch', events: 2 },
      { type: 'late answer', index: 0 },
    ],
  ],
];

const byName = (a: Thing, b: Thing) => (a.metadata.name < b.metadata.name ? -1 : 1);

describe('Store', () => {
  test('each method that writes answers with the changes that it made', () => {
    const store = new Store<Thing>();
    const [first, second] = [thing('a', 1), thing('a', 2)];
    expect(store.put(first)).toEqual([{ type: 'added', object: first }]);
    expect(store.put(second)).toEqual([{ type: 'modified', object: second, previous: first }]);
    expect(store.put(first)).toEqual([]);
    expect(store.remove(thing('a', 3))).toEqual([{ type: 'deleted', object: thing('a', 3) }]);
    expect(store.remove(thing('a', 4))).toEqual([]);
    expect(store.size).toBe(0);
  });

  test('an answer to a write restores neither a deleted object nor one that was recreated under the name', () => {
    const store = new Store<Thing>();
    store.observeVersion('6'); // the version of its deletion
    expect(store.recordWrite(thing('a', 5))).toEqual([]);
    store.put(thing('a', 8, 0, 'another'));
    store.observeVersion('8');
    expect(store.recordWrite(thing('a', 7))).toEqual([]);
    expect(store.get('Thing/home/a')).toEqual(thing('a', 8, 0, 'another'));
  });

  test('an answer to the write of a new object is reported before the watch delivers it', () => {
    const store = new Store<Thing>();
    store.replace([], '4');
    expect(names(store.recordWrite(thing('a', 5)))).toEqual(['added a']);
    expect(store.put(thing('a', 5))).toEqual([]);
  });

  test('an object that was deleted and recreated while disconnected is reported as two changes', () => {
    const store = new Store<Thing>();
    const [before, after] = [thing('a', 1), thing('a', 9, 0, 'another')];
    store.put(before);
    expect(store.replace([after], '10')).toEqual([
      { type: 'deleted', object: before },
      { type: 'added', object: after },
    ]);
  });

  test('a list that was read before our write does not undo it', () => {
    const store = new Store<Thing>();
    store.put(thing('a', 1));
    store.recordWrite(thing('a', 8, 1));
    expect(store.replace([thing('a', 1)], '5')).toEqual([]);
    expect(store.get('Thing/home/a')?.value).toBe(1);
  });

  test('after the server was restored from a backup its list is used, with all its older versions', () => {
    const store = new Store<Thing>();
    store.replace([thing('a', 90), thing('b', 95)], '100');
    store.put(thing('c', 101));
    expect(names(store.replace([thing('a', 40), thing('d', 50)], '60'))).toEqual([
      'deleted b',
      'deleted c',
      'modified a',
      'added d',
    ]);
  });

  test('a backup that is newer than the last list, but older than the versions of the watch, is distinguished from a late list', () => {
    const store = new Store<Thing>();
    store.replace([thing('a', 90)], '100');
    store.put(thing('b', 500));
    store.observeVersion('500');
    store.observeVersion('480'); // an older bookmark changes nothing
    expect(names(store.replace([thing('a', 200)], '300'))).toEqual(['deleted b', 'modified a']);
  });

  test('after a restored list the next one is a list like any other', () => {
    const store = new Store<Thing>();
    store.observeVersion('500');
    store.replace([thing('a', 200)], '300');
    store.recordWrite(thing('a', 310));
    expect(store.replace([thing('a', 200)], '305')).toEqual([]);
  });

  describe('byIndex', () => {
    const indexed = () => new Store<Thing>(({ value }) => (value === 0 ? undefined : String(value)));
    const found = (store: Store<Thing>, value: number) =>
      [...store.byIndex(String(value))].map(({ metadata }) => metadata.name);

    test('finds each object only under its current value', () => {
      const store = indexed();
      store.put(thing('a', 1, 1));
      store.put(thing('b', 2, 1));
      store.put(thing('c', 3, 0));
      store.put(thing('b', 4, 2));
      expect([found(store, 1), found(store, 2), found(store, 3)]).toEqual([['a'], ['b'], []]);
      store.put(thing('a', 5, 0));
      expect(found(store, 1)).toEqual([]);
    });

    test('finds no object that was deleted or is missing from a list', () => {
      const store = indexed();
      store.replace([thing('a', 1, 1), thing('b', 2, 1)], '2');
      store.remove(thing('a', 3, 1));
      expect(found(store, 1)).toEqual(['b']);
      store.replace([], '9');
      expect(found(store, 1)).toEqual([]);
    });
  });

  describe('byStatus', () => {
    const found = (store: Store<Thing>, hub: string, id: string) =>
      [...store.byStatus(hub, 'id', id)].map(({ metadata }) => metadata.name);

    test('finds objects that were in the store before the first query, and later ones', () => {
      const store = new Store<Thing>(hubOf);
      store.put(thing('a', 1, 0));
      store.put(thing('b', 2, 1));
      expect([found(store, '0', 'x'), found(store, '0', 'y'), found(store, '1', 'x')]).toEqual([
        ['a'],
        [],
        ['b'],
      ]);
      store.put(thing('c', 3, 0));
      expect(found(store, '0', 'x')).toEqual(['a', 'c']);
      store.put(thing('c', 4, 3));
      expect([found(store, '0', 'x'), found(store, '0', 'y')]).toEqual([['a'], ['c']]);
      store.remove(thing('a', 5, 0));
      expect(found(store, '0', 'x')).toEqual([]);
    });

    test('reads only the found objects', () => {
      const store = new Store<Thing>(hubOf);
      const looked = jest.fn(() => 'y');
      expect(found(store, '0', 'x')).toEqual([]);
      store.put({ ...thing('other', 101, 0), status: Object.defineProperty({}, 'id', { get: looked }) });
      looked.mockClear();
      for (let question = 0; question < 50; question++) found(store, '0', 'x');
      expect(looked).not.toHaveBeenCalled();
    });
  });

  test('equals the last state of the server for every order of updates, and so does a copy made from its changes', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const server = new Server();
        const store = new Store<Thing>(hubOf);
        const told = new Map<string, Thing>();
        let seen = 0;
        let shown = 0;
        const tell = (changes: readonly Change<Thing>[]) => {
          for (const change of changes) {
            const key = objectKeyOf(change.object);
            expect(told.has(key)).toBe(change.type !== 'added');
            if (change.type === 'modified') expect(told.get(key)).toBe(change.previous);
            if (change.type === 'deleted') told.delete(key);
            else told.set(key, change.object);
          }
        };
        const watch = (events: number) => {
          for (const { type, object } of server.history.slice(seen, seen + events)) {
            tell(type === 'put' ? store.put(object) : store.remove(object));
            store.observeVersion(object.metadata.resourceVersion!);
            shown = Number(object.metadata.resourceVersion);
            seen += 1;
          }
        };
        const relist = () => {
          tell(store.replace([...server.objects.values()], String(server.version)));
          seen = server.history.length;
          shown = server.version;
        };
        for (const each of steps) {
          switch (each.type) {
            case 'write': {
              const answer = server.write(each.name, each.value);
              if (each.recorded) tell(store.recordWrite(answer));
              break;
            }
            case 'delete':
              server.delete(each.name);
              break;
            case 'watch':
              watch(each.events);
              break;
            case 'restore':
              if (shown === 0) break;
              server.restore(Math.max(0, shown - each.back));
              relist();
              break;
            case 'relist':
              relist();
              break;
            case 'late answer': {
              const late = server.history[each.index % Math.max(1, server.history.length)];
              if (late?.type === 'put') tell(store.recordWrite(late.object));
            }
          }
          expect(new Map([...store.values()].map((object) => [objectKeyOf(object), object]))).toEqual(told);
          for (const hub of ['0', '1', '2']) {
            const those = [...store.values()].filter((object) => hubOf(object) === hub);
            expect(new Set(store.byIndex(hub))).toEqual(new Set(those));
            for (const id of ['x', 'y', 'x y', '5'])
              expect(new Set(store.byStatus(hub, 'id', id))).toEqual(
                new Set(those.filter(({ status }) => status.id === id)),
              );
          }
        }
        watch(Infinity);
        const truth = [...server.objects.values()];
        expect([...store.values()].sort(byName)).toEqual(truth.sort(byName));
      }),
      { numRuns: 500, examples },
    );
  });
});
