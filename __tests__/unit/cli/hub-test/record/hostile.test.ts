import { once } from 'node:events';
import { readHistory } from '../../../../../cli/test/record/history';
import { readRunningHub } from '../../../../../cli/test/record/running-hub';
import type { HubClient } from '../../../../../operator/client/hub-client';
import { MAX_ANSWER_SIZE, RestClient } from '../../../../../operator/client/connection/rest';
import { type Answer, CONFIG, FakeHub, json, text } from '../../../client/fake-hub';
import { ManualClock } from '../../../manual-clock';
import { until } from '../../../until';
import { hubClient } from '../../../stand-in-hub/hub-client';

// A hub that is broken, or whose owner is hostile to the user of this machine.

const HOUR = 3_600_000;
const UNTIL = Date.UTC(2026, 10, 28, 3);
const ENTITY = 'sensor.a';
const PATH = `/api/history/period/${encodeURIComponent(new Date(UNTIL - HOUR).toISOString())}?filter_entity_id=${ENTITY}&end_time=${encodeURIComponent(new Date(UNTIL).toISOString())}&significant_changes_only=0`;

let hub: FakeHub;
let rest: RestClient;
const clock = new ManualClock();

beforeEach(async () => {
  hub = await FakeHub.start();
  rest = new RestClient({ url: hub.url, token: hub.token, clock, redact: (each) => each });
});
afterEach(async () => {
  rest.close();
  await hub.close();
});

const read = (signal = new AbortController().signal) =>
  readHistory(rest, { entities: [ENTITY], until: UNTIL, period: HOUR, signal, progress: () => undefined });

/** Returns the error of reading one hour of history when the hub gives this answer. */
function faultOf(answer: Answer): Promise<string> {
  hub.routes.set(`GET ${PATH}`, answer);
  return read().then(
    () => 'no fault',
    (error: Error) => error.message,
  );
}

const row = (minutes: number, state: unknown, more: object = {}) => ({
  ...{ entity_id: ENTITY, state, attributes: {} },
  last_updated: new Date(UNTIL + minutes * 60_000).toISOString(),
  ...more,
});

/** Returns the states of the answer as they are played, each with the minutes before the end. */
async function playedOf(rows: readonly object[]) {
  hub.routes.set(`GET ${PATH}`, json(200, [rows]));
  const { history, changes } = await read();
  const { after, states, texts } = history.entities[ENTITY]!;
  let at = history.from * 1_000;
  const played = after.map((milliseconds, index) => {
    at += milliseconds;
    return [(at - UNTIL) / 60_000, texts[states[index]!]];
  });
  return { played, changes };
}

describe('an answer to the question for the history', () => {
  test.each<[string, unknown, string]>([
    ['an object', {}, 'an object instead of a list'],
    ['a text', 'no', 'a text instead of a list'],
    ['a list of objects', [{}], 'an object instead of a list at [0]'],
    ['a state that is a number', [[row(-1, 7)]], 'a number instead of a text at [0][0].state'],
    ['a long state', [[row(-1, 'x'.repeat(256))]], 'a longer one instead of a state of at most 255'],
    ['no attributes', [[row(-1, 'on', { attributes: null })]], 'null instead of an object'],
    ['no time', [[row(-1, 'on', { last_updated: 'soon' })]], 'a text instead of a time'],
    ['another entity', [[row(-1, 'on', { entity_id: 'sensor.b' })]], 'answered with another entity'],
  ])('is refused if it has %s', async (_, answer, message) => {
    expect(await faultOf(json(200, answer))).toContain(message);
    expect(hub.asked(PATH)).toHaveLength(1);
  });

  test('may have a state of 255 emojis', async () => {
    const { played } = await playedOf([row(-1, '💡'.repeat(255))]);
    expect(played).toEqual([[-1, '💡'.repeat(255)]]);
  });

  test('is refused if it is no JSON', async () => {
    expect(await faultOf(text(200, '<html>', 'text/html'))).toContain('not JSON');
    expect(await faultOf(text(200, '[[{"state": ', 'application/json'))).toContain('not JSON');
  });

  test('may have keys that mean something to JavaScript', async () => {
    hub.routes.set(
      `GET ${PATH}`,
      text(
        200,
        `[[${JSON.stringify(row(-1, '__proto__')).replace('{}', '{"__proto__": {"x": 1}, "constructor": 2}')}]]`,
        'application/json',
      ),
    );
    const { sets, texts } = (await read()).history.entities[ENTITY]!;
    expect(texts).toEqual(['__proto__']);
    expect(JSON.stringify(sets)).toBe('[{"__proto__":{"x":1},"constructor":2}]');
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test('without an order is put in order, and states of the future are left out', async () => {
    const rows = [row(-10, 'b'), row(600_000_000, 'never'), row(-30, 'a'), row(-5, 'c'), row(1, 'later')];
    expect(await playedOf(rows)).toEqual({
      played: [
        [-30, 'a'],
        [-10, 'b'],
        [-5, 'c'],
      ],
      changes: 2,
    });
  });

  test('may repeat states', async () => {
    const rows = [row(-30, 'a'), row(-30, 'a'), row(-20, 'unavailable'), row(-20, 'unknown'), row(-20, 'b')];
    expect((await playedOf(rows)).played.map(([, state]) => state)).toEqual([
      'a',
      'unavailable',
      'unknown',
      'b',
    ]);
  });

  test('that is too large is requested in parts, and then given up', async () => {
    const large: Answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(' '.repeat(MAX_ANSWER_SIZE + 1));
    };
    hub.routes.get = () => large;
    await expect(read()).rejects.toThrow('is not read');
    expect(hub.requests.length).toBeLessThan(10);
  });

  test('that never ends is given up', async () => {
    hub.routes.get = () => (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
        if (!response.destroyed) void once(response, 'drain').then(more, () => undefined);
      };
      more();
    };
    await expect(read()).rejects.toThrow('is not read');
  });

  test('that is cut off is an error of the connection', async () => {
    const cut: Answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 });
      response.write('[[', () => response.destroy());
    };
    expect(await faultOf(cut)).toBe(`${hub.url} cannot be reached: the connection broke`);
    expect(hub.asked(PATH)).toHaveLength(1);
  });

  test('that does not come is given up after a minute, and at Ctrl-C', async () => {
    hub.routes.set(`GET ${PATH}`, () => undefined);
    const reading = expect(read()).rejects.toThrow('no answer within 60 s');
    await until(() => hub.asked(PATH).length === 1);
    await clock.advance(60_000);
    await reading;
    const interrupt = new AbortController();
    const stopped = expect(read(interrupt.signal)).rejects.toThrow('interrupted');
    await until(() => hub.asked(PATH).length === 2);
    interrupt.abort(new Error('interrupted'));
    await stopped;
  });
});

test('a token that the hub rejects is sent once', async () => {
  hub.routes.get = () => text(401, '401: Unauthorized');
  const running = readRunningHub({ rest } as HubClient, 'villa', () => undefined);
  await expect(running).rejects.toThrow('the hub rejected the token (HTTP 401)');
  expect(hub.requests).toHaveLength(1);
  expect(hub.connects).toBe(0);
});

const PLACE = { time_zone: 'Europe/Berlin', latitude: 52.5, longitude: 13.4, elevation: 30 };

test.each<[string, object, string]>([
  ['no version', { version: 'latest --privileged' }, 'another text than a version'],
  ['a version with a control character', { version: '2026.11.0\u001b[2J' }, 'another text than a version'],
  ['a latitude that is a text', { latitude: '52' }, 'a text instead of a number at latitude'],
  ['a zone that is a number', { time_zone: 1 }, 'a number instead of a text at time_zone'],
  ['a language that is an object', { language: {} }, 'an object instead of a text at language'],
])('a hub with %s is refused', async (_, part, message) => {
  hub.routes.set('GET /api/components', json(200, ['recorder', 'history']));
  hub.routes.set('GET /api/config', json(200, { ...CONFIG, ...PLACE, components: [], ...part }));
  const connection = { command: () => Promise.resolve([]) };
  hub.routes.set('POST /api/template', text(200, '[]'));
  const registries = Object.fromEntries(
    ['zone', 'floor', 'label', 'area'].map((type) => [type, { entries: () => Promise.resolve(new Map()) }]),
  );
  const client = hubClient({ rest, connection, registries });
  await expect(readRunningHub(client, 'villa', () => undefined)).rejects.toThrow(message);
});
