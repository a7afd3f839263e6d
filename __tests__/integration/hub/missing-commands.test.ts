import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dump, load } from 'js-yaml';
import { callService } from '../../../operator/client/services';
import { getEntityState } from '../../../operator/client/config-entities/states';
import { freshNamespace, until } from '../../cluster';
import { automation, configuration, Home, hub, scene, script } from '../../cluster/home';
import type { HubRecorder } from '../../cluster/hub-recorder';
import { recorderOf, throughRecorders } from '../../cluster/recorded-hub';
import { startTestOperator } from '../../cluster/operator';

// A hub whose version has renamed commands: everything that does not need them works.

const LACKING = [
  'automation/config',
  'config/auth/list',
  'config/entity_registry/get_entries',
  'config/label_registry/list',
  'script/config',
  'subscribe_trigger',
];

let home: Home;
let recorder: HubRecorder | undefined;

const statusOf = async (kind: string, name: string) => (await home.get(kind, name)).status ?? {};
const file = async (name: string) => join(await home.volumeOf('villa'), name);
const stored = async (id: string) =>
  (load(await readFile(await file('automations.yaml'), 'utf8')) as { id: string; alias: string }[]).find(
    (each) => each.id === id,
  );

beforeAll(async () => {
  home = new Home(await freshNamespace('missing'));
  await startTestOperator(home.namespace, { settings: throughRecorders });
  await home.apply(hub('villa'), configuration('villa'));
  recorder = await recorderOf(home, 'villa', (each) => {
    each.lacking = new Set(LACKING);
  });
});

afterAll(() => recorder?.stop());

test('a hub that cannot list its users gets its token', async () => {
  await home.ready('hub', 'villa');
  expect(recorder!.sent).toContain('command config/auth/list');
});

test('automations, scenes and scripts are written, changed and removed', async () => {
  await home.apply(
    automation('villa', 'dim'),
    scene('villa', 'film'),
    script('villa', 'tidy', { alias: 'Tidy' }),
  );
  for (const [kind, name] of [
    ['hubautomation', 'dim'],
    ['hubscene', 'film'],
    ['hubscript', 'tidy'],
  ] as const)
    await home.ready(kind, name);
  await home.change('hubautomation', 'dim', { alias: 'Dimmed' });
  await home.change('hubscript', 'tidy', { alias: 'Tidied' });
  await home.ready('hubautomation', 'dim');
  await home.ready('hubscript', 'tidy');
  const client = await home.client('villa');
  for (const [kind, name, alias] of [
    ['hubautomation', 'dim', 'Dimmed'],
    ['hubscript', 'tidy', 'Tidied'],
  ] as const) {
    const { entityId } = await statusOf(kind, name);
    await until(`the hub runs ${alias}`, async () => {
      const state = await getEntityState(client.rest, String(entityId));
      return state?.attributes['friendly_name'] === alias;
    });
  }
  await home.delete('hubautomation', 'dim');
  expect(await stored('dim')).toBeUndefined();
});

test('a change that another client makes the hub load is reverted', async () => {
  await home.apply(automation('villa', 'watched', { alias: 'Watched' }));
  await home.ready('hubautomation', 'watched');
  const client = await home.client('villa');
  const path = await file('automations.yaml');
  const all = load(await readFile(path, 'utf8')) as { id: string }[];
  await writeFile(path, dump(all.map((each) => (each.id === 'watched' ? { ...each, alias: 'Mine' } : each))));
  await callService(client.rest, 'automation', 'reload');
  await home.event('HubAutomation', 'watched', /^Warning DriftDetected: .*Mine/);
  await until('it is reverted', async () => (await stored('watched'))?.alias === 'Watched');
});

test('a user’s automation is adopted and stays when its resource is deleted', async () => {
  const client = await home.client('villa');
  await client.entities.write('automation', 'theirs', { alias: 'Theirs', triggers: [], actions: [] });
  await until('the hub runs it', () => getEntityState(client.rest, 'automation.theirs'));
  await home.apply(automation('villa', 'theirs', { alias: 'Ours' }));
  await home.ready('hubautomation', 'theirs');
  expect(await statusOf('hubautomation', 'theirs')).toMatchObject({ adopted: true });
  await home.delete('hubautomation', 'theirs');
  expect(await stored('theirs')).toBeDefined();
});

describe('a configuration', () => {
  // The answer to script/config proves that the hub has loaded a configuration.
  beforeAll(() => {
    recorder!.lacking = new Set(['http/config', 'integration/setup_info']);
  });

  test('is loaded by a hub that does not identify its starts', async () => {
    const text = 'logger:\ninput_boolean:\n  first:\n';
    await home.change('hubconfiguration', 'villa', { configuration: text });
    await home.ready('hubconfiguration', 'villa');
    await home.change('hubconfiguration', 'villa', { configuration: `${text}  second:\n` });
    await home.ready('hubconfiguration', 'villa');
    const client = await home.client('villa');
    await until('the second one is there', async () => {
      const present = await getEntityState(client.rest, 'input_boolean.second');
      return present?.state === 'off';
    });
    expect(recorder!.sent).toContain('command integration/setup_info');
  });

  test('has its settings of the web server reported, never taken for applied, where the hub does not show them', async () => {
    const text = 'logger:\ninput_boolean:\n  first:\nhttp:\n  login_attempts_threshold: 50\n';
    await home.change('hubconfiguration', 'villa', { configuration: text });
    const condition = await until('the condition is there', () =>
      home.condition('hubconfiguration', 'villa', 'HttpSettingsReady'),
    );
    expect(condition).toMatchObject({ status: 'False', reason: 'Rejected' });
    expect(condition.message).toContain('does not show the settings of its web server');
    expect(await statusOf('hubconfiguration', 'villa')).toMatchObject({ httpSource: 'Api' });
  });
});
