import type { HubClient } from '../../../operator/client/hub-client';
import { freshNamespace, until } from '../../cluster';
import {
  area,
  configuration,
  DEFAULT_CONFIGURATION,
  device,
  entity,
  Home,
  hub,
  label,
} from '../../cluster/home';
import type { HubRecorder } from '../../cluster/hub-recorder';
import { recorderOf, throughRecorders } from '../../cluster/recorded-hub';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

// A home of 200 entities and 50 devices with German names: each gets its settings by one command, and no
// command is repeated.

const HUB = 'villa';
const ENTITIES = 200;
const DEVICES = 50;
const UPDATE = 'command config/entity_registry/update';
const UPDATE_DEVICE = 'command config/device_registry/update';

/** Entities without a device, so that each can have its own area. */
const templates = Array.from(
  { length: 150 },
  (_, index) => `    - name: T ${index}\n      unique_id: t${index}\n      state: "1"`,
);
const TEXT = `${DEFAULT_CONFIGURATION}\ndemo:\nkitchen_sink:\ntemplate:\n  - sensor:\n${templates.join('\n')}\n`;

let home: Home;
let operator: TestOperator;
let recorder: HubRecorder;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('many-settings'));
  operator = await startTestOperator(home.namespace, { settings: throughRecorders });
  await restoreOnboarded(home, HUB);
  await home.apply(hub(HUB), configuration(HUB));
  recorder = await recorderOf(home, HUB);
  await home.ready('hubconfiguration', HUB);
  client = await home.client(HUB);
  await client.connection.command('config/core/update', { language: 'de' });
  await home.apply(configuration(HUB, TEXT));
  await home.ready('hubconfiguration', HUB);
  await until('the hub has its entities', async () => (await entities()).length > ENTITIES);
  await home.apply(area(HUB, 'kitchen', { name: 'Küche' }), label(HUB, 'energy', { name: 'Energie' }));
  await home.ready('hublabel', 'energy');
  await home.ready('hubarea', 'kitchen');
});

afterAll(() => recorder?.stop());

const entities = async () =>
  [...(await client.settings.entity.entries()).all].filter(({ integration }) =>
    ['template', 'demo', 'kitchen_sink'].includes(integration),
  );

test('each of 200 entities and 50 devices is written once, also after a restart and on request', async () => {
  const { length } = await client.connection.command('system_log/list');
  const some = (await entities()).slice(-ENTITIES);
  const devices = [...(await client.settings.device.entries()).all]
    .filter(({ identifiers }) => identifiers.some(([integration]) => integration === 'demo'))
    .slice(0, DEVICES);
  const resources = [
    ...some.map(({ integration, entityId, uniqueId, originalName, deviceId }, index) =>
      entity(HUB, `e${index}`, {
        select: { unique: { integration, domain: entityId.split('.')[0], uniqueId } },
        icon: 'mdi:sheep',
        labels: ['Energie'],
        ...((deviceId === null || originalName) && { areaName: 'Küche' }),
      }),
    ),
    ...devices.map(({ identifiers }, index) =>
      device(HUB, `d${index}`, {
        select: { identifier: { integration: 'demo', id: identifiers[0]![1] } },
        areaName: 'Küche',
        labels: ['Energie'],
      }),
    ),
  ];
  expect(resources).toHaveLength(ENTITIES + DEVICES);
  recorder.sent.length = 0;
  await Promise.all(resources.map((resource) => home.apply(resource)));
  for (const { kind, metadata } of resources) await home.ready(kind.toLowerCase(), metadata.name);
  const writes = recorder.changes().map((what) => [UPDATE, UPDATE_DEVICE].indexOf(what));
  expect(writes.sort()).toEqual([...Array<number>(ENTITIES).fill(0), ...Array<number>(DEVICES).fill(1)]);
  expect([...(await client.settings.device.entries()).all].map(({ originalName }) => originalName)).toContain(
    'Steckdosenleiste mit 2 Steckdosen',
  );
  expect(await client.connection.command('system_log/list')).toHaveLength(length);

  recorder.sent.length = 0;
  await operator.calm();
  await operator.stop();
  await operator.start();
  for (const { kind, metadata } of resources)
    await home.annotate(kind.toLowerCase(), metadata.name, 'hub-operator.dev/reconcile-requested-at=1');
  for (const { kind, metadata } of resources)
    await until(`${metadata.name} was looked at`, async () => {
      const { status } = await home.get(kind.toLowerCase(), metadata.name);
      return status?.['lastHandledReconcileAt'] === '1';
    });
  expect(recorder.changes()).toEqual([]);
});
