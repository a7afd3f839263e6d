import { join } from 'node:path';
import { readManifests } from '../../../manifests/read-manifests';
import type { HubClient } from '../../../operator/client/hub-client';
import { freshNamespace, until } from '../../cluster';
import { Home, integration, secret } from '../../cluster/home';
import { MqttBroker } from '../../cluster/mqtt-broker';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

// How answers are assigned to the forms of real integrations.

const KIND = 'HubIntegration';

interface IntegrationSpec {
  readonly domain: string;
  readonly configuration: object;
}

let home: Home;
let operator: TestOperator;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('answers'));
  operator = await startTestOperator(home.namespace);
  await startHub(home, 'villa');
  client = await home.client('villa');
});

const texts = (fields: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, { value }]));
const loaded = (name: string) => home.ready(KIND, name, { reason: 'EntryLoaded' });
const entryIdOf = async (name: string) => String((await home.get(KIND, name)).status!['entryID']);

/** Returns the current values of an entry, as its options form shows them. */
async function optionsOf(entryId: string): Promise<Readonly<Record<string, unknown>>> {
  const step = await client.flows.start({ kind: 'options', entryId });
  await client.flows.abort('options', step.flow_id);
  if (step.type !== 'form') throw new Error('the options have no form');
  return Object.fromEntries(
    (step.data_schema ?? []).map(({ name, description, default: preset }) => {
      const suggested = typeof description === 'object' ? description?.suggested_value : undefined;
      return [name, suggested ?? preset];
    }),
  );
}

describe('answers', () => {
  test('answers to options are used for the options form even if a step of the creation has the same name', async () => {
    const dice = (maximum: string) =>
      integration('villa', 'dice', 'random', {
        steps: [
          { stepId: 'user', menuOption: 'sensor' },
          { stepId: 'sensor', values: texts({ name: 'Dice', minimum: '1', maximum: '6' }) },
        ],
        options: texts({ minimum: '2', maximum }),
      });
    await home.apply(dice('12'));
    await loaded('dice');
    const id = await entryIdOf('dice');
    expect(await optionsOf(id)).toMatchObject({ minimum: 2, maximum: 12 });
    await home.apply(dice('20'));
    await until('it is applied', async () => (await optionsOf(id))['maximum'] === 20);
    await loaded('dice');
    expect(await entryIdOf('dice')).toBe(id);
  });

  test('a changed answer that an option overrides changes nothing', async () => {
    const evening = (after: string) =>
      integration('villa', 'evening', 'tod', {
        configuration: texts({ name: 'Evening', after_time: after, before_time: '22:00:00' }),
        options: texts({ after_time: '19:00:00' }),
      });
    await home.apply(evening('17:00:00'));
    await loaded('evening');
    const id = await entryIdOf('evening');
    expect(await optionsOf(id)).toMatchObject({ after_time: '19:00:00' });
    await home.apply(evening('18:00:00'));
    await loaded('evening');
    await operator.calm();
    await loaded('evening');
    expect(await entryIdOf('evening')).toBe(id);
    expect(await optionsOf(id)).toMatchObject({ after_time: '19:00:00' });
    expect((await operator.events(KIND, 'evening')).join()).not.toContain('EntryRecreated');
  });

  test('mqtt needs a broker and a port, as in the hub’s UI', async () => {
    const broker = await MqttBroker.create();
    await broker.start();
    // The broker of the tests supports only this version of the protocol.
    const address = { broker: '127.0.0.1', port: String(broker.port), protocol: '3.1.1' };
    const configuration = texts(address);
    await home.apply(integration('villa', 'mqtt', 'mqtt', { configuration }));
    await loaded('mqtt');
    expect((await home.get(KIND, 'mqtt')).status).toMatchObject({ entryID: expect.any(String) });
    await home.delete(KIND, 'mqtt');
  });

  test('the sample of mosquitto is connected to a broker that has its login', async () => {
    const file = join(__dirname, '..', '..', '..', 'samples', 'companions', 'mosquitto.yaml');
    const [login, entry] = ['Secret', KIND].map((kind) =>
      (
        readManifests(file) as { kind: string; stringData: Record<string, string>; spec: IntegrationSpec }[]
      ).find((each) => each.kind === kind),
    );
    const { username, password } = login!.stringData as { username: string; password: string };
    const broker = await MqttBroker.create();
    await broker.start({ user: username, password });
    await home.apply(secret('mosquitto', { username, password }));
    const { domain, configuration } = entry!.spec;
    const address = texts({ broker: '127.0.0.1', port: String(broker.port), protocol: '3.1.1' });
    await home.apply(
      integration('villa', 'mqtt', domain, { configuration: { ...configuration, ...address } }),
    );
    await loaded('mqtt');
    expect((await home.get(KIND, 'mqtt')).status).toMatchObject({ entryID: expect.any(String) });
  });
});
