import { freshNamespace, until } from '../../cluster';
import { forceReconcile } from '../../cluster/forced-reconcile';
import { automation, configuration, floor, Home, hub, scene } from '../../cluster/home';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

// Objects of resources whose hub gets another volume, or that outlive their resource.

let home: Home;
let operator: TestOperator;

beforeAll(async () => {
  home = new Home(await freshNamespace('volumes'));
  operator = await startTestOperator(home.namespace);
  await startHub(home, 'villa');
});

const statusOf = async (kind: string, name: string) => (await home.get(kind, name)).status!;

describe('an object that outlives its resource', () => {
  test('is named by the Hub and in an event, and removed when the annotation lists it', async () => {
    await home.apply(automation('villa', 'attic'));
    await home.ready('hubautomation', 'attic');
    const client = await home.client('villa');
    // Restores the automation, like a backup from before the deletion of the resource.
    await client.entities.write('automation', 'porch', { alias: 'Porch', triggers: [], actions: [] });
    const { entity_id: entityId } = await until('its entity', () =>
      client.entityRegistry.find('automation', 'porch'),
    );
    await client.entityRegistry.setLabels(entityId, [(await client.labels.find('Managed by Hub Operator'))!]);
    await forceReconcile(home, 'hub', 'villa');
    await until('the Hub names it', async () => {
      const condition = await home.condition('hub', 'villa');
      return (
        condition?.status === 'True' && condition.message.includes(`no resource describes: ${entityId}. `)
      );
    });
    await home.event('Hub', 'villa', new RegExp(`^Warning LeftBehind: .*${entityId}`));
    expect(await client.entities.read('automation', 'porch')).toBeDefined();

    await home.annotate('hub', 'villa', `hub-operator.dev/remove-left-behind=${entityId}`);
    await until('it is gone', async () => (await client.entities.read('automation', 'porch')) === undefined);
    await until('the Hub does not name it any more', async () => {
      await forceReconcile(home, 'hub', 'villa');
      return !(await home.ready('hub', 'villa')).message.includes('no resource');
    });
    expect(await client.entities.read('automation', 'attic')).toBeDefined();
    await home.delete('hubautomation', 'attic');
  });
});

test('an entity that a user disabled is not Ready and left alone, until it is enabled', async () => {
  await home.apply(scene('villa', 'film'));
  await home.ready('hubscene', 'film');
  const client = await home.client('villa');
  const entityId = String((await statusOf('hubscene', 'film'))['entityId']);
  const set = (by: 'user' | null) =>
    client.connection.command('config/entity_registry/update', { entity_id: entityId, disabled_by: by });
  await set('user');
  await home.ready('hubscene', 'film', { status: 'False', reason: 'DriftDetected' });
  await operator.calm();
  expect(await client.entityRegistry.findNow('scene', 'film')).toMatchObject({ disabled_by: 'user' });
  await set(null);
  await home.ready('hubscene', 'film');
  await home.delete('hubscene', 'film');
});

test('a Hub that is deleted and applied again gets all objects again, including those with driftPolicy Warn', async () => {
  const drifts = () => operator.metric('hub_operator_drift_total');
  const watched = [
    automation('villa', 'lights', { driftPolicy: 'Warn' }),
    floor('villa', 'attic', { name: 'Attic', driftPolicy: 'Warn' }),
  ];
  const first = await home.client('villa');
  await first.entities.write('automation', 'lights', { alias: 'By hand', triggers: [], actions: [] });
  // The hub loads the automation after it has answered, and the operator learns of it after that.
  await until('it is loaded', () => first.entityRegistry.find('automation', 'lights'));
  await operator.calm();
  await home.apply(...watched);
  await home.ready('hubautomation', 'lights');
  await home.ready('hubfloor', 'attic');
  expect(await statusOf('hubautomation', 'lights')).toMatchObject({ adopted: true });
  const { volumeID: before } = await statusOf('hub', 'villa');
  expect(await statusOf('hubfloor', 'attic')).toMatchObject({ volumeID: before });
  const reported = await drifts();

  await home.delete('hub', 'villa');
  await until(
    'the volume is gone',
    async () => !(await home.exists('persistentvolumeclaim', 'villa-config')),
  );
  await home.apply(hub('villa'), configuration('villa'));
  await home.ready('hub', 'villa');
  const { volumeID: after } = await statusOf('hub', 'villa');
  expect(after).not.toBe(before);
  await until('both are on the new volume', async () => {
    for (const [kind, name] of [
      ['hubautomation', 'lights'],
      ['hubfloor', 'attic'],
    ] as const) {
      // prettier-ignore
      expect(await statusOf(kind, name)).toMatchObject({ volumeID: after });
      await home.ready(kind, name);
    }
    return true;
  });
  expect(await statusOf('hubautomation', 'lights')).not.toHaveProperty('adopted');
  const second = await home.client('villa');
  expect(await second.entities.read('automation', 'lights')).toMatchObject({
    alias: 'The automation lights',
  });
  expect([...(await second.registries.floor.entries()).values()]).toContainEqual(
    expect.objectContaining({ name: 'Attic' }),
  );
  expect(await drifts()).toBe(reported);
});

test('objects that were delivered as files to another volume are kept, named by the Hub and not run', async () => {
  await home.change('hub', 'villa', { delivery: 'File', storage: { retain: true } });
  await home.apply(automation('villa', 'ghost'));
  await until('both are delivered', async () => {
    for (const name of ['lights', 'ghost']) {
      await home.ready('hubautomation', name);
      expect(await statusOf('hubautomation', name)).toMatchObject({ delivery: 'File' });
    }
    return true;
  });
  const { volumeID: before } = await statusOf('hub', 'villa');
  expect((await home.get('configmap', 'villa-delivery-0')).metadata.annotations).toMatchObject({
    'hub-operator.dev/volume': before,
  });
  await home.delete('hub', 'villa');
  await home.delete('hubautomation', 'ghost');
  // A user starts with an empty hub, and does not know of the ConfigMaps.
  await home.delete('persistentvolumeclaim', 'villa-config');
  await home.apply(hub('villa', { delivery: 'File' }));
  await home.ready('hub', 'villa');
  await until('the other one is delivered again', async () => {
    await home.ready('hubautomation', 'lights');
    const status = await statusOf('hubautomation', 'lights');
    return status['volumeID'] !== before && status['delivery'] === 'File';
  });
  const client = await home.client('villa');
  expect(await client.entityRegistry.findNow('automation', 'lights')).toBeDefined();
  expect(await client.entityRegistry.findNow('automation', 'ghost')).toBeUndefined();
  const { message } = await home.ready('hub', 'villa');
  const [, kept = ''] = /are kept in (villa-delivery-0-[0-9a-f]{8}) \(ConfigMaps\)/.exec(message) ?? [];
  const { data } = (await home.get('configmap', kept)) as unknown as { data: Record<string, string> };
  expect(data['automations.yaml']).toContain('"ghost"');
  await home.delete('configmap', kept);
  await until(
    'the Hub does not name it any more',
    async () => !(await home.ready('hub', 'villa')).message.includes(kept),
  );
});
