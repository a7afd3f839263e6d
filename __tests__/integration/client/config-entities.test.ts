import type { HubClient } from '../../../operator/client/hub-client';
import { HubRejected, HubUnreachable } from '../../../operator/client/connection/errors';
import { HubClientCache } from '../../../operator/client/hub-client-cache';
import { callService } from '../../../operator/client/services';
import { stateOf } from '../../../operator/client/config-entities/states';
import { systemClock } from '../../../operator/base/clock';
import { until } from '../../cluster';
import { startOnboardedHub, type OnboardedHub } from '../../cluster/onboarded-hub';
import { silentLog } from '../../cluster/silent-log';

const automation = {
  alias: 'Porch light at sunset',
  triggers: [{ trigger: 'time', at: '20:00:00' }],
  conditions: [],
  actions: [{ action: 'persistent_notification.create', data: { message: 'evening' } }],
  mode: 'single',
};
const scene = { name: 'Film night', entities: { 'light.sofa': { state: 'on', brightness: 20 } } };
const script = { alias: 'Good night', sequence: [{ delay: { seconds: 1 } }] };

let started: OnboardedHub;
const hubs = new HubClientCache({ clock: systemClock, log: silentLog });
let client: HubClient;

beforeAll(async () => {
  started = await startOnboardedHub();
  client = hubs.get('home/mill', { url: started.hub.url, token: started.token }, ['tulip-bulb']);
});

afterAll(async () => {
  hubs.close();
  await started.hub.dispose();
});

describe('an automation', () => {
  test('is written, found, runs as written, and is removed', async () => {
    const { entities, entityRegistry } = client;
    await entities.write('automation', 'porch', automation);
    await entities.write('automation', 'porch', automation);
    expect(await entities.read('automation', 'porch')).toEqual({ id: 'porch', ...automation });
    const entity = await until('its entity', () => entityRegistry.find('automation', 'porch'));
    expect(entity).toMatchObject({ entity_id: 'automation.porch_light_at_sunset', disabled_by: null });
    const config = await until('it runs', () => entities.running('automation.porch_light_at_sunset'));
    expect(config).toMatchObject(automation);

    expect(await entities.remove('automation', 'porch')).toBe(true);
    expect(await entities.remove('automation', 'porch')).toBe(false);
    expect(await entities.read('automation', 'porch')).toBeUndefined();
    // The hub reloads after it has answered the request.
    await until(
      'it does not run any more',
      async () => (await entities.running('automation.porch_light_at_sunset')) === undefined,
    );
    await until('its entity is gone', async () => !(await entityRegistry.find('automation', 'porch')));
  });

  test('may have an id of any characters', async () => {
    const id = 'a/b c.d-ü%';
    await client.entities.write('automation', id, automation);
    expect(await client.entities.read('automation', id)).toMatchObject({ alias: automation.alias });
    expect(await client.entities.remove('automation', id)).toBe(true);
  });

  test('is refused with the words of the hub, without secrets', async () => {
    const bad = { ...automation, max: 'tulip-bulb' };
    const failure = await client.entities.write('automation', 'bad', bad).catch((error: unknown) => error);
    if (!(failure instanceof HubRejected)) throw new Error('was not refused');
    expect(failure.code).toBe('400');
    expect(failure.message).toMatch(/^Message malformed: .*max/);
    expect(failure.message).not.toContain('tulip');
    expect(await client.entities.read('automation', 'bad')).toBeUndefined();
  });
});

test('writes scenes and scripts, each to its own file', async () => {
  const { entities, entityRegistry } = client;
  await Promise.all([
    entities.write('scene', 'film', scene),
    entities.write('script', 'good_night', script),
    entities.write('automation', 'porch', automation),
  ]);
  expect(await entities.read('scene', 'film')).toEqual({ id: 'film', ...scene });
  expect(await entities.read('script', 'good_night')).toEqual(script);
  expect(await until('its entity', () => entityRegistry.find('scene', 'film'))).toMatchObject({
    entity_id: 'scene.film_night',
    platform: 'homeassistant',
  });
  expect(await until('its entity', () => entityRegistry.find('script', 'good_night'))).toBeDefined();
  expect(await until('it runs', () => entities.running('script.good_night'))).toMatchObject(script);
  await expect(entities.write('script', 'good-night', script)).rejects.toThrow(/Key malformed/);
});

describe('services', () => {
  const porchState = () => stateOf(client.rest, 'automation.porch_light_at_sunset');

  test('are called, and fail as the hub says', async () => {
    // The hub ignores a call for an automation that is not loaded yet.
    await until('it is loaded', async () => (await porchState()) === 'on');
    await callService(client.rest, 'automation', 'turn_off', {
      entity_id: 'automation.porch_light_at_sunset',
    });
    await until('it is off', async () => (await porchState()) === 'off');
    await expect(callService(client.rest, 'automation', 'no_such')).rejects.toMatchObject({ code: '400' });
  });
});

describe('reloads', () => {
  test('happen once for a burst of writes, and the hub sends an event', async () => {
    let scenesReloaded = 0;
    const cancel = await client.connection.subscribeEvents('scene_reloaded', () => scenesReloaded++);
    const ids = ['a', 'b', 'c'];
    await Promise.all(ids.map((id) => client.entities.write('scene', id, { ...scene, name: `Scene ${id}` })));
    // All are requested at the same time: on a busy machine the answers to the writes may be further apart
    // than a reload waits for the next one.
    const results = await Promise.all(ids.map(() => client.reloads.request('scene')));
    expect(new Set(results.map((result) => result.reloadId)).size).toBe(1);
    expect(results[0]).toMatchObject({ ok: true });
    await until('all reloads are told', () => scenesReloaded === 4); // one for each POST, one requested here
    await cancel();
  });

  test('of an entity that the hub has not loaded end with the reason', async () => {
    expect(await client.reloads.request('mqtt')).toMatchObject({ ok: false, reason: 'ComponentNotLoaded' });
  });
});

test('comes back with its subscriptions after a restart of the hub', async () => {
  const told: string[] = [];
  let meanwhile: Promise<unknown> | undefined;
  client.connection.onLost(() => {
    told.push('lost');
    meanwhile ??= client.connection.command('get_config').catch((error: unknown) => error);
  });
  client.connection.onReconnect(() => told.push('back'));
  await client.connection.subscribeEvents('automation_reloaded', () => told.push('reloaded'));
  // the hub may go down before it answers
  await callService(client.rest, 'homeassistant', 'restart').catch(() => undefined);
  await until('the loss', () => told.includes('lost'));
  expect(await meanwhile).toBeInstanceOf(HubUnreachable);
  await started.hub.answering();
  await until('the return', () => told.includes('back'));
  await started.hub.running(started.token);
  told.length = 0;
  await client.entities.write('automation', 'porch', { ...automation, alias: 'Changed' });
  await until('an event', () => told.includes('reloaded'));
  expect(await client.entityRegistry.find('automation', 'porch')).toMatchObject({
    entity_id: 'automation.porch_light_at_sunset',
  });
});

test('gives up on a frozen hub and continues when the hub runs again', async () => {
  started.hub.signal('SIGSTOP');
  try {
    await expect(client.rest.get('/api/config', { timeout: 500 })).rejects.toThrow(HubUnreachable);
    await expect(client.connection.command('get_config', {}, { timeout: 500 })).rejects.toThrow(
      HubUnreachable,
    );
  } finally {
    started.hub.signal('SIGCONT');
  }
  await until('it goes on', async () => (await client.connection.command('get_config')).state === 'RUNNING');
});
