import type { HubClient } from '../../../operator/client/hub-client';
import { freshNamespace, until } from '../../cluster';
import { automation, Home, type Manifest, scene, script } from '../../cluster/home';
import type { HubProxy } from '../../cluster/hub-proxy';
import { watchTraffic } from '../../cluster/hub-traffic';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { proxiedHub, throughProxies } from './proxied-hub';

// Many at once, and many times the same: the hub is asked for no more than is needed.

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
/** The list of the entity registry does not show an icon. */
const sceneWithIcon = (hubName: string, name: string) => scene(hubName, name, { icon: 'mdi:movie' });
const sceneReads = () => proxy.passed.filter(({ what }) => what.startsWith('GET /api/config/scene/'));
const allReady = () =>
  until('all are Ready', async () =>
    (await home.list(KINDS)).every(({ status, metadata }) =>
      status?.conditions?.some(
        ({ type, status: is, observedGeneration }) =>
          type === 'Ready' && is === 'True' && observedGeneration === metadata.generation,
      ),
    ),
  );
const versions = async () =>
  (await home.list(`${KINDS},events`))
    .map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
    .sort();

describe('a burst of automations', () => {
  test('30 automations at once are 30 writes and at most 3 reloads, with scenes and scripts beside them', async () => {
    const traffic = await watchTraffic(client);
    await home.apply(...many(30, automation), ...many(10, sceneWithIcon), ...many(10, script));
    await allReady();
    await operator.calm(); // our own sweep finds nothing to do
    // If a reload by the operator counts as one of another client, every scene is read.
    expect(sceneReads()).toEqual([]);
    expect(traffic.automationWrites.sort()).toEqual(
      many(30, automation)
        .map(({ metadata }) => metadata.name)
        .sort(),
    );
    expect(traffic.automationReloads).toBeGreaterThan(0);
    expect(traffic.automationReloads).toBeLessThanOrEqual(3);
    expect(traffic.sceneReloads).toBeLessThanOrEqual(13);
    expect(traffic.scriptReloads).toBe(10);
    expect(await operator.metric('hub_operator_drift_total')).toBe(0);
  });

  test('a restart of the operator with all unchanged, scenes with icons among them, writes, reads and reloads nothing', async () => {
    const traffic = await watchTraffic(client);
    const before = await versions();
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
    expect(await versions()).toEqual(before);
    expect(sceneReads()).toEqual([]);
    expect(traffic).toEqual({
      automationWrites: [],
      automationReloads: 0,
      sceneReloads: 0,
      scriptReloads: 0,
    });
  });

  test('many edits to one are written at once, then every 2 s, and the last one wins', async () => {
    const traffic = await watchTraffic(client);
    const began = Date.now();
    let edits = 0;
    const edit = () => home.change('hubautomation', 'n0', { description: `edit ${edits++}` });
    await edit();
    await until('the first is written before there are others', () => traffic.automationWrites.length === 1);
    while (traffic.automationWrites.length < 3) await edit(); // as long as they go on
    await edit();
    await home.ready('hubautomation', 'n0');
    expect(traffic.automationWrites.length).toBeLessThan(edits);
    expect(await client.entities.read('automation', 'n0')).toMatchObject({
      description: `edit ${edits - 1}`,
    });
    expect(traffic.automationWrites.length).toBeLessThanOrEqual(Math.ceil((Date.now() - began) / 2_000) + 1);
    expect(new Set(traffic.automationWrites)).toEqual(new Set(['n0']));
  });

  test('all of them deleted at once are gone, from the hub too', async () => {
    for (const kind of KINDS.split(',')) await home.deleteAll(kind);
    await until('all are gone', async () => (await home.list(KINDS)).length === 0);
    for (const kind of ['automation', 'scene', 'script'] as const) {
      expect(await client.entities.read(kind, 'n7')).toBeUndefined();
    }
    const entities = await client.connection.command('config/entity_registry/list');
    expect(entities.map(({ unique_id: id }) => id).filter((id) => /^n\d+$/.test(id))).toEqual([]);
  });

  test('SIGTERM in the middle of a burst: what went to the hub is finished, and stands in status', async () => {
    const all = many(30, automation);
    const isWrite = (what: string) => what.startsWith('POST /api/config/automation/');
    const sent: string[] = [];
    proxy.fault = (what) => void (isWrite(what) && sent.push(what));
    const before = proxy.passed.length;
    const accepted = () => proxy.passed.slice(before).filter(({ what }) => isWrite(what));
    await home.apply(...all);
    await until('some are written', () => accepted().length >= 5);
    const began = Date.now();
    expect(await operator.stop()).toBe(0);
    expect(Date.now() - began).toBeLessThan(30_000); // the grace of its pod
    expect(sent.length).toBeLessThan(all.length);
    expect(accepted().map(({ what }) => what)).toEqual(sent); // none was cut off
    expect(accepted().every(({ status }) => status === 200)).toBe(true);
    const told = (await home.list('hubautomations')).filter(({ status }) => status?.['appliedHash']);
    expect(told.map(({ metadata }) => metadata.name).sort()).toEqual(
      sent.map((what) => what.slice(what.lastIndexOf('/') + 1)).sort(),
    );
    await operator.start();
    await allReady();
    expect(sent).toHaveLength(all.length); // nothing twice
  });
});
