import type { HubClient } from '../../../operator/client/hub-client';
import { freshNamespace, until } from '../../cluster';
import { versionsOfEvents } from '../../cluster/events';
import { automation, Home, type Manifest, scene, script } from '../../cluster/home';
import type { HubProxy } from '../../cluster/hub-proxy';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { proxiedHub, throughProxies } from './proxied-hub';

// Many resources at the same time, and many changes of one: the hub gets no more requests than needed.

const KINDS = 'hubautomations,hubscenes,hubscripts';

let home: Home;
let operator: TestOperator;
let client: HubClient;
let proxy: HubProxy;

beforeAll(async () => {
  home = new Home(await freshNamespace('burst'));
  operator = await startTestOperator(home.namespace, { settings: throughProxies });
  proxy = await proxiedHub(home, 'villa');
  client = await home.client('villa');
});

afterAll(() => proxy?.stop());

const many = (count: number, make: (hubName: string, name: string) => Manifest) =>
  Array.from({ length: count }, (_, index) => make('villa', `n${index}`));
/** A scene with an icon has to be read, since the list of the entity registry has no icons. */
const sceneWithIcon = (hubName: string, name: string) => scene(hubName, name, { icon: 'mdi:movie' });
const passed = (since: number, begin: string) =>
  proxy.passed.slice(since).filter(({ what }) => what.startsWith(begin));
const WRITE = 'POST /api/config/automation/config/';
/** Returns the ids of the automations that were written. */
const automationWrites = (since: number) => passed(since, WRITE).map(({ what }) => what.slice(WRITE.length));
const sceneReads = () => passed(0, 'GET /api/config/scene/');
/**
 * The operator gives up a hub that does not answer this within a second or two, which a busy hub may not do,
 * so the proxy answers it.
 */
const answersAtOnce = (what: string) =>
  what === 'GET /manifest.json' ? { name: 'Home Assistant' } : undefined;
/** Returns the requests that changed the hub since then. */
/** The hub renders a template to list its states, which changes nothing. */
const READ = 'POST /api/template';
const untouched = (since: number) =>
  proxy.passed.slice(since).filter(({ what }) => /^(POST|PUT|DELETE) /.test(what) && what !== READ);
const allReady = () =>
  until('all are Ready', async () =>
    (await home.list(KINDS)).every(({ status, metadata }) =>
      status?.conditions?.some(
        ({ type, status: is, observedGeneration }) =>
          type === 'Ready' && is === 'True' && observedGeneration === metadata.generation,
      ),
    ),
  );
const versions = async () => {
  const resources = (await home.list(KINDS)).map(
    ({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`,
  );
  return [...resources, ...(await versionsOfEvents(home.namespace))].sort();
};

afterEach(() => proxy.mend());

describe('a burst of automations', () => {
  test('30 automations at once are 30 writes and at most 3 reloads, with scenes and scripts beside them', async () => {
    // The operator is started afterwards, so that it sees all resources at the same time.
    await operator.stop();
    await home.apply(...many(30, automation), ...many(10, sceneWithIcon), ...many(10, script));
    const since = proxy.passed.length;
    await operator.start();
    await allReady();
    await operator.calm(); // by then the operator's own check of the entities has found nothing to do
    // If a reload by the operator counted as that of another client, every scene would be read.
    expect(sceneReads()).toEqual([]);
    expect(automationWrites(since).sort()).toEqual(
      many(30, automation)
        .map(({ metadata }) => metadata.name)
        .sort(),
    );
    const reloads = (component: string) => passed(since, `POST /api/services/${component}/reload`).length;
    expect(reloads('automation')).toBeGreaterThan(0);
    expect(reloads('automation')).toBeLessThanOrEqual(3);
    expect(reloads('scene')).toBeLessThanOrEqual(3);
    expect(passed(since, 'POST /api/config/scene/')).toHaveLength(10);
    expect(passed(since, 'POST /api/config/script/')).toHaveLength(10);
    expect(reloads('script')).toBe(0);
    expect(await operator.metric('hub_operator_drift_total')).toBe(0);
  });

  test('after a restart of the operator with all resources unchanged, scenes with icons among them, nothing is written, read or reloaded', async () => {
    await operator.eventsWritten();
    const before = await versions();
    const since = proxy.passed.length;
    await operator.stop();
    await operator.start();
    await until('all were looked at', async () => {
      const passes = await Promise.all(
        ['HubAutomation', 'HubScene', 'HubScript'].map((kind) =>
          operator.metric('controller_runtime_reconcile_total', `controller="${kind}",result="success"`),
        ),
      );
      return passes[0]! >= 30 && passes[1]! >= 10 && passes[2]! >= 10;
    });
    await operator.calm();
    // Nor is there a write without an effect, including the objects that run the hub.
    for (const method of ['PATCH', 'POST', 'PUT', 'DELETE'])
      expect(await operator.metric('rest_client_requests_total', `method="${method}"`)).toBe(0);
    await operator.eventsWritten();
    expect(await versions()).toEqual(before);
    expect(sceneReads()).toEqual([]);
    expect(untouched(since)).toEqual([]);
  });

  test('many edits of one automation are written immediately, then every 2 s, and the last one wins', async () => {
    const since = proxy.passed.length;
    const writes = () => automationWrites(since);
    const began = Date.now();
    let edits = 0;
    const edit = () => home.change('hubautomation', 'n0', { description: `edit ${edits++}` });
    await edit();
    await until('the first is written before there are others', () => writes().length >= 1);
    // While the second write is on its way there are many more edits, for which one write is enough.
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let isHeld = false;
    proxy.hold = (moment, what) => {
      if (moment !== 'request' || what !== `${WRITE}n0`) return undefined;
      isHeld = true;
      return released;
    };
    try {
      await edit();
      await until('the second is on its way', () => isHeld);
      for (let more = 0; more < 8; more++) await edit();
    } finally {
      proxy.hold = () => undefined;
      release();
    }
    await home.ready('hubautomation', 'n0');
    expect(writes().length).toBeLessThan(edits / 2);
    expect(await client.entities.read('automation', 'n0')).toMatchObject({
      description: `edit ${edits - 1}`,
    });
    // The upper bound follows from the operator's pauses, however late this process is.
    expect(writes().length).toBeLessThanOrEqual(Math.floor((Date.now() - began) / 2_000) + 1);
    expect(new Set(writes())).toEqual(new Set(['n0']));
  });

  test('all of them deleted at once are gone, also from the hub', async () => {
    proxy.fault = answersAtOnce;
    for (const kind of KINDS.split(',')) await home.deleteAll(kind);
    await until('all are gone', async () => (await home.list(KINDS)).length === 0);
    for (const kind of ['automation', 'scene', 'script'] as const) {
      expect(await client.entities.read(kind, 'n7')).toBeUndefined();
    }
    const entities = await client.connection.command('config/entity_registry/list');
    expect(entities.map(({ unique_id: id }) => id).filter((id) => /^n\d+$/.test(id))).toEqual([]);
  });

  test('SIGTERM in the middle of a burst: writes to the hub are completed and recorded in status', async () => {
    const all = many(30, automation);
    const sent: string[] = [];
    proxy.fault = (what) => {
      if (what.startsWith(WRITE)) sent.push(what);
      return answersAtOnce(what);
    };
    const before = proxy.passed.length;
    const accepted = () => passed(before, WRITE);
    // The signal is sent at the moment when the hub has answered the fifth write; the answer is passed on
    // after it.
    proxy.hold = (moment, what) => {
      if (moment !== 'answer' || !what.startsWith(WRITE) || accepted().length < 5) return undefined;
      proxy.hold = () => undefined;
      operator.signal('SIGTERM');
      return undefined;
    };
    await home.apply(...all);
    expect(await operator.ended).toBe(0);
    expect(sent.length).toBeGreaterThanOrEqual(5);
    expect(sent.length).toBeLessThan(all.length);
    expect(accepted().map(({ what }) => what)).toEqual(sent); // no write was cut off
    expect(accepted().every(({ status }) => status === 200)).toBe(true);
    const told = (await home.list('hubautomations')).filter(({ status }) => status?.['appliedHash']);
    const names = told.map(({ metadata }) => metadata.name);
    expect(sent.map((what) => what.slice(WRITE.length))).toEqual(expect.arrayContaining(names));
    // On a busy machine the time limits of a shutdown may leave out the last writes of the four workers.
    expect(names.length).toBeGreaterThanOrEqual(sent.length - 4);
    await operator.start();
    await allReady();
    expect(sent).toHaveLength(all.length); // no write was repeated
  });
});
