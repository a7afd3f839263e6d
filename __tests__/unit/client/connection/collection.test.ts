import { type Changes, FollowedCollection } from '../../../../operator/client/connection/collection';
import { HubTooLarge } from '../../../../operator/client/connection/errors';
import { KeptLists, Scale } from '../../../../operator/client/connection/kept-lists';
import { shippedHeapLimit } from '../../../../manifests/memory';
import { ManualClock } from '../../manual-clock';
import { listsOf } from '../kept';

let lose: () => void;
let fetches: (() => void)[];
let subscribe: jest.Mock<Promise<void>>;
let source: Map<string, number | string>;

interface Options {
  readonly lists?: ReturnType<typeof listsOf>;
  readonly refresh?: (keys: readonly string[]) => Promise<Changes<number | string>>;
}

const refresh = (keys: readonly string[]) =>
  Promise.resolve(keys.map((key) => [key, source.get(key)] as const));

function collection({ lists = listsOf(), ...refreshing }: Options = {}): FollowedCollection<number | string> {
  const connection = {
    lists,
    onLost: (listener: () => void) => {
      lose = listener;
      return () => undefined;
    },
    onReconnect: () => () => undefined,
  };
  return new FollowedCollection<number | string>(connection, {
    name: 'things',
    subscribe,
    fetch: () =>
      new Promise((resolve) => {
        const read = new Map(source);
        fetches.push(() => resolve(read));
      }),
    ...refreshing,
  });
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

async function read(states: FollowedCollection<number | string>): Promise<object> {
  const state = states.get();
  await settle();
  fetches.at(-1)?.();
  return Object.fromEntries(await state);
}

beforeEach(() => {
  fetches = [];
  subscribe = jest.fn(() => Promise.resolve());
  source = new Map([['a', 1]]);
});

describe('FollowedCollection', () => {
  test('subscribes and fetches once for all callers', async () => {
    const states = collection();
    const answers = [states.get(), states.get()];
    await settle();
    fetches[0]!();
    await Promise.all(answers);
    await states.get();
    expect([subscribe.mock.calls.length, fetches.length]).toEqual([1, 1]);
  });

  test('subscribes again when the first attempt failed', async () => {
    subscribe.mockRejectedValueOnce(new Error('not yet'));
    const states = collection();
    await expect(states.get()).rejects.toThrow('not yet');
    expect(await read(states)).toEqual({ a: 1 });
    expect(subscribe).toHaveBeenCalledTimes(2);
  });

  test('applies a change that arrives during the fetch to its result', async () => {
    const states = collection();
    const state = states.get();
    await settle();
    states.change('b', 2);
    fetches[0]!();
    expect(Object.fromEntries(await state)).toEqual({ a: 1, b: 2 });
  });

  test('fetches again after an invalidation during the fetch', async () => {
    const states = collection();
    const state = states.get();
    await settle();
    source.set('a', 2);
    states.invalidate();
    fetches[0]!();
    await settle();
    fetches[1]!();
    expect(Object.fromEntries(await state)).toEqual({ a: 2 });
  });

  test('fetches again after the connection was lost', async () => {
    const states = collection();
    await read(states);
    source.set('a', 2);
    lose();
    expect(await read(states)).toEqual({ a: 2 });
    expect(fetches).toHaveLength(2);
  });

  test('reads only the invalid key again if its source supports that', async () => {
    const states = collection({ refresh });
    await read(states);
    source.set('a', 2);
    states.invalidate('a');
    expect(Object.fromEntries(await states.get())).toEqual({ a: 2 });
    expect(fetches).toHaveLength(1);
  });

  test('keeps a removal that arrives in one frame with the answer about an invalid key', async () => {
    let answer: () => void = () => undefined;
    const states = collection({
      refresh: (keys) =>
        new Promise((resolve) => {
          const entries = keys.map((key) => [key, source.get(key)] as const);
          answer = () => resolve(entries);
        }),
    });
    await read(states);
    states.invalidate('a');
    const state = states.get();
    await settle();
    answer();
    states.change('a', undefined);
    expect(Object.fromEntries(await state)).toEqual({});
  });
});

const MEGABYTE = 1_000_000;
const texts = (count: number, length: number) =>
  new Map(Array.from({ length: count }, (_, index) => [`thing-${index}`, 'x'.repeat(length)]));

const expectTooLarge = (error: unknown) => expect(error).toBeInstanceOf(HubTooLarge);

describe('the lists that are kept of all hubs', () => {
  test('are not affected while they fit: 300 hubs with 50 objects, one with 10,000', async () => {
    const kept = new KeptLists(40 * MEGABYTE);
    const small = Array.from({ length: 300 }, () => collection({ lists: listsOf(kept) }));
    source = texts(50, 500);
    for (const each of small) await read(each);
    const large = collection({ lists: listsOf(kept) });
    source = texts(10_000, 500);
    await read(large);
    const before = fetches.length;
    for (const each of small) expect((await each.get()).size).toBe(50);
    expect((await large.get()).size).toBe(10_000);
    expect(fetches).toHaveLength(before);
  });

  test('are limited: the largest list of the hub with the most memory is dropped, and not read for a minute, then for longer', async () => {
    const clock = new ManualClock();
    const kept = new KeptLists(3 * MEGABYTE);
    const honest = collection({ lists: listsOf(kept, clock) });
    source = texts(50, 500);
    await read(honest);
    const hostile = Array.from({ length: 20 }, () => {
      const lists = listsOf(kept, clock);
      return [collection({ lists }), collection({ lists })] as const;
    });
    for (const [larger, smaller] of hostile) {
      source = texts(10, 50_000);
      await read(larger).catch(expectTooLarge);
      source = texts(10, 20_000);
      await read(smaller).catch(expectTooLarge);
      expect(kept.weight).toBeLessThanOrEqual(3 * MEGABYTE);
    }
    expect((await honest.get()).size).toBe(50);
    const left = (index: 0 | 1) => hostile.filter((lists) => lists[index].lastKnown).length;
    expect(left(0)).toBeLessThan(5);
    expect(left(1)).toBeGreaterThan(5);
    const one = collection({ lists: listsOf(kept, clock) });
    source = texts(1, 4 * MEGABYTE);
    let asked = fetches.length;
    for (const pause of [60_000, 120_000, 240_000, 480_000, 600_000, 600_000]) {
      one.invalidate();
      await expect(read(one)).rejects.toThrow(HubTooLarge);
      expect(fetches.length).toBe((asked += 1));
      await clock.advance(pause - 1);
      await expect(one.get()).rejects.toThrow('the things of the hub are not kept');
      expect(fetches.length).toBe(asked);
      await clock.advance(1);
    }
  });

  test('release their memory when the connection is closed, including later messages', async () => {
    const kept = new KeptLists(MEGABYTE);
    const lists = listsOf(kept);
    const states = collection({ lists });
    await read(states);
    expect(kept.weight).toBeGreaterThan(0);
    states.invalidate();
    void states.get();
    await settle();
    lists.close();
    fetches.at(-1)!();
    await settle();
    states.change('c', 'x'.repeat(1_000));
    expect(kept.weight).toBe(0);
  });

  test('count by their changes: a replaced entry counts once', async () => {
    const weigh = jest.spyOn(Scale.prototype, 'entry');
    const kept = new KeptLists(MEGABYTE);
    const states = collection({ lists: listsOf(kept), refresh });
    source = texts(1_000, 100);
    await read(states);
    const { weight } = kept;
    weigh.mockClear();
    for (let round = 0; round < 1_000; round++) states.change('thing-1', `${round}`.padStart(100));
    expect(weigh).toHaveBeenCalledTimes(2_000);
    expect(kept.weight).toBe(weight);
    states.change('other', 'x'.repeat(50_000));
    expect(kept.weight).toBeGreaterThan(weight + 50_000);
    states.change('other', undefined);
    expect(kept.weight).toBe(weight);
    source.set('thing-1', 'y'.repeat(1_100));
    states.invalidate('thing-1');
    expect(kept.weight).toBeGreaterThan(weight);
    await states.get();
    expect(kept.weight).toBe(weight + 1_000);
    weigh.mockRestore();
  });

  test('include data that waits for an answer: changes, and keys to be read again', async () => {
    const kept = new KeptLists(MEGABYTE);
    const states = collection({ lists: listsOf(kept), refresh });
    const state = states.get();
    await settle();
    for (let index = 0; index < 100; index++) states.change(`new-${index}`, 'x'.repeat(20_000));
    fetches.at(-1)!();
    await expect(state).rejects.toThrow(HubTooLarge);
    expect(kept.weight).toBe(0);
    const other = collection({ lists: listsOf(kept), refresh });
    await read(other);
    for (let index = 0; index < 100; index++) other.invalidate(`${index}`.padStart(20_000));
    await expect(other.get()).rejects.toThrow(HubTooLarge);
    expect(kept.weight).toBe(0);
  });

  test('include the first of two answers while the second is awaited', async () => {
    const kept = new KeptLists(MEGABYTE);
    const connection = {
      lists: listsOf(kept),
      onLost: () => () => undefined,
      onReconnect: () => () => undefined,
    };
    const follow = (held: number) =>
      new FollowedCollection<string>(connection, {
        name: 'things',
        subscribe,
        fetch: (hold) => {
          hold('x'.repeat(held));
          return new Promise(() => undefined);
        },
      }).get();
    void follow(100_000);
    await settle();
    expect(kept.weight).toBeGreaterThan(100_000);
    await expect(follow(2 * MEGABYTE)).rejects.toThrow(HubTooLarge);
  });

  test('include the kept part of a list also while it is read again, and when this fails', async () => {
    const kept = new KeptLists(MEGABYTE);
    let fail: ((error: Error) => void) | undefined;
    const states = new FollowedCollection<string>(
      { lists: listsOf(kept), onLost: () => () => undefined, onReconnect: () => () => undefined },
      {
        name: 'things',
        subscribe,
        fetch: (hold) => {
          if (!fail) {
            fail = () => undefined;
            return Promise.resolve(new Map([['a', 'x'.repeat(400_000)]]));
          }
          hold('x');
          return new Promise((_, reject) => (fail = reject));
        },
      },
    );
    await states.get();
    const { weight } = kept;
    states.invalidate();
    const again = states.get();
    await settle();
    expect(kept.weight).toBeGreaterThan(weight);
    fail!(new Error('no answer'));
    await expect(again).rejects.toThrow('no answer');
    expect(kept.weight).toBe(weight);
    states.change('a', undefined);
    expect(kept.weight).toBe(0);
  });
});

/** Returns the data that a hub with this many objects sends of them, of its areas, entries and components. */
function shownBy(objects: number): unknown[] {
  const many = <T>(count: number, of: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, index) => of(index));
  return [
    ...many(objects, (index) => ({
      entity_id: `automation.turn_on_the_light_${index}`,
      unique_id: `home-turn-on-the-light-${index}`,
      platform: 'automation',
      disabled_by: null,
      original_name: `Turn on the light ${index}`,
      original_icon: null,
      labels: ['hub_operator'],
    })),
    ...many(20, (index) => ({
      area_id: `living_room_${index}`,
      aliases: ['a parlour'],
      created_at: 1_700_000_000.5,
      floor_id: 'ground',
      humidity_entity_id: null,
      icon: 'mdi:sofa',
      labels: ['one'],
      modified_at: 1_700_000_000.5,
      name: `Living room ${index}`,
      picture: null,
      temperature_entity_id: null,
    })),
    ...many(25, (index) => ({
      created_at: 1_700_000_000.5,
      entry_id: `01JABCDEFGHIJKLMNOPQRS${index}`,
      domain: 'mqtt',
      modified_at: 1_700_000_000.5,
      title: `MQTT ${index}`,
      source: 'user',
      state: 'loaded',
      supports_options: true,
      supports_remove_device: true,
      supports_unload: true,
      supports_reconfigure: true,
      supported_subentry_types: {},
      pref_disable_new_entities: false,
      pref_disable_polling: false,
      disabled_by: null,
      reason: null,
      error_reason_translation_key: null,
      error_reason_translation_placeholders: null,
      num_subentries: 0,
    })),
    ...many(200, (index) => `sensor.component_${index}`),
  ];
}

test('normal hubs fit into a quarter of the shipped heap: 300 with 50 objects, or one with 10,000 automations', () => {
  const most = (shippedHeapLimit() * 2 ** 20) / 4;
  const weightOf = (objects: number) => {
    const scale = new Scale();
    return shownBy(objects).reduce<number>(
      (sum, each) => sum + scale.entry('a key of the usual length', each),
      0,
    );
  };
  expect(300 * weightOf(50)).toBeLessThan(0.9 * most);
  expect(weightOf(10_000)).toBeLessThan(most / 4);
});

describe('Scale', () => {
  /** Lower bound of the bytes per key and value in V8, for each of the contents that take the most. */
  test.each<[string, unknown, number]>([
    ['empty objects', Array.from({ length: 1_000 }, () => ({})), 64],
    ['objects whose keys differ', Array.from({ length: 1_000 }, (_, index) => ({ [index]: 'x' })), 205],
    ['one object with many keys', Object.fromEntries(texts(1_000, 1)), 85],
    ['texts with one wide character', Array.from({ length: 1_000 }, () => `${'x'.repeat(99)}\u1234`), 216],
  ])('counts %s in full', (_, content, perItem) => {
    expect(new Scale().weigh(content)).toBeGreaterThanOrEqual(perItem * 1_000);
  });
});
