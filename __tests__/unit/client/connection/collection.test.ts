import { FollowedCollection } from '../../../../operator/client/connection/collection';

type State = Map<string, number>;

let lose: () => void;
let fetches: (() => void)[];
let subscribe: jest.Mock<Promise<void>>;
let source: Map<string, number>;

function collection({ refreshes = false } = {}): FollowedCollection<State> {
  const connection = {
    onLost: (listener: () => void) => {
      lose = listener;
      return () => undefined;
    },
    onReconnect: () => () => undefined,
  };
  return new FollowedCollection<State>(connection, {
    subscribe,
    fetch: () =>
      new Promise((resolve) => {
        const read = new Map(source);
        fetches.push(() => resolve(read));
      }),
    ...(refreshes && {
      refresh: (state: State, keys: readonly string[]) => {
        for (const key of keys) state.set(key, source.get(key)!);
        return Promise.resolve();
      },
    }),
  });
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

async function read(states: FollowedCollection<State>): Promise<object> {
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
  test('subscribes and fetches once for all who ask', async () => {
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
    states.change((present) => present.set('b', 2));
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

  test('reads only the invalid key again if its source can', async () => {
    const states = collection({ refreshes: true });
    await read(states);
    source.set('a', 2);
    states.invalidate('a');
    expect(Object.fromEntries(await states.get())).toEqual({ a: 2 });
    expect(fetches).toHaveLength(1);
  });
});
