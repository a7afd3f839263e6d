import type { HubClient } from '../../../operator/client/hub-client';
import type { DeviceRecord } from '../../../operator/client/registries/device-settings';
import type { EntityRecord } from '../../../operator/client/registries/entity-settings';
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
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { startHub } from '../../cluster/onboarded-volume';

let home: Home;
let operator: TestOperator;
let client: HubClient;

const HUB = 'villa';

beforeAll(async () => {
  home = new Home(await freshNamespace('settings'));
  operator = await startTestOperator(home.namespace);
  await startHub(home, HUB);
  await home.apply(configuration(HUB, `${DEFAULT_CONFIGURATION}\ndemo:\nkitchen_sink:\n`));
  await home.ready('hubconfiguration', HUB);
  client = await home.client(HUB);
  await until('the integrations have made their entities', async () => {
    const { all } = await client.settings.entity.entries();
    return [...all].length > 100;
  });
});

async function entityOf(test: (each: EntityRecord) => boolean): Promise<EntityRecord> {
  const found = [...(await client.settings.entity.entries()).all].find(test);
  if (!found) throw new Error('the hub has no such entity');
  return found;
}

const inHub = (entityId: string) => entityOf((each) => each.entityId === entityId);
const settingsOf = async (entityId: string) => (await inHub(entityId)).settings;

async function deviceOf(name: string): Promise<DeviceRecord> {
  const found = [...(await client.settings.device.entries()).all].find((each) => each.originalName === name);
  if (!found) throw new Error(`the hub has no device ${name}`);
  return found;
}

const uniqueOf = ({ integration, entityId, uniqueId }: EntityRecord) => ({
  unique: { integration, domain: entityId.split('.')[0], uniqueId },
});

async function becomes(entityId: string, settings: object): Promise<void> {
  await until(`${entityId} is ${JSON.stringify(settings)}`, async () => {
    expect(await settingsOf(entityId)).toMatchObject(settings);
    return true;
  });
}

test('show', async () => {
  const { all } = await client.settings.entity.entries();
  console.log(
    [...all]
      .map(
        (e) =>
          `${e.entityId} ${e.integration} ${e.uniqueId} dev=${e.deviceId} on=${e.originalName} ${JSON.stringify(e.settings)}`,
      )
      .join('\n'),
  );
  const d = (await client.settings.device.entries()).all;
  console.log([...d].map((e) => JSON.stringify(e)).join('\n'));
  void [area, device, entity, hub, label, operator, deviceOf, uniqueOf, becomes];
});
