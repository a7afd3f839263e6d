import type { HubClient } from '../../../operator/client/hub-client';
import { stateOf } from '../../../operator/client/states';
import { freshNamespace } from '../../cluster';
import { Home } from '../../cluster/home';
import { startTestOperator } from '../../cluster/operator';
import { startHub } from '../../cluster/onboarded-volume';

// Changes of one configuration, each with its effect asked of the hub. One hub for all: a start takes longest.

const HEAD = 'logger:\n  default: warning\n';

let home: Home;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('reload'));
  await startTestOperator(home.namespace);
  await startHub(home, 'villa');
  await home.ready('hubconfiguration', 'villa');
  client = await home.client('villa');
});

const podUid = async () => (await home.get('pod', 'villa-0')).metadata.uid;
const status = async () => (await home.get('hubconfiguration', 'villa')).status!;
const state = (entityId: string) => stateOf(client.rest, entityId);
const change = (configuration: string, spec: object = {}) =>
  home.change('hubconfiguration', 'villa', { configuration, ...spec });

/** Applies a configuration and waits until the hub has it; resolves with how it came there. */
async function loaded(configuration: string, spec: object = {}): Promise<string> {
  await change(configuration, spec);
  await home.ready('hubconfiguration', 'villa', { reason: 'ConfigurationLoaded' });
  const { lastReloadMethod, appliedHash, configHash, changedSections } = await status();
  expect(appliedHash).toBe(configHash);
  expect(changedSections).toEqual([]);
  return String(lastReloadMethod);
}

/** The same, for a change that must not restart the hub. */
async function hotReloaded(configuration: string, spec: object = {}): Promise<void> {
  const before = await podUid();
  expect(await loaded(configuration, spec)).toBe('hot-reload');
  expect(await podUid()).toBe(before);
}

describe('HubConfiguration', () => {
  test('what the hub started with is loaded', async () => {
    expect(await status()).toMatchObject({ lastReloadMethod: 'restart', changedSections: [] });
    expect((await status())['appliedHash']).toBe((await status())['configHash']);
  });

  test('an input_boolean is there without a restart, and goes without one', async () => {
    await hotReloaded(`${HEAD}input_boolean:\n  first:\n`);
    expect(await state('input_boolean.first')).toBe('off');
    await hotReloaded(`${HEAD}input_boolean:\n  second:\n`);
    expect(await state('input_boolean.second')).toBe('off');
    expect(await state('input_boolean.first')).not.toBe('off');
  });

  test('a level of the logger is set while the hub runs', async () => {
    await hotReloaded(
      'logger:\n  default: warning\n  logs:\n    homeassistant.components.sun: debug\ninput_boolean:\n  second:\n',
    );
  });
});
