import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { HttpConfig } from '../../../operator/client/connection/api-types';
import { hubStartId } from '../../../operator/client/setup/hub-start-id';
import { readHttpConfig } from '../../../operator/client/setup/http-settings';
import { freshNamespace, until } from '../../cluster';
import { configuration, Home, hub, type Stored } from '../../cluster/home';
import { ObjectHistory } from '../../cluster/object-history';
import { oneOfThree } from '../../cluster/one-of-three';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { ConfiguredHub } from './configured-hub';

// Settings of the web server that no client confirms, so that the hub reverts to the former ones.

/** The settings whose trial is short. */
const ORIGINS = ['https://trial.example.org'];

const SHORT_TRIAL = 'short_trial';
const MANIFEST = {
  domain: SHORT_TRIAL,
  name: 'Short trial',
  version: '1.0.0',
  codeowners: [],
  requirements: [],
};
/**
 * An integration that shortens the hub's trial from five minutes to three seconds after its start. Everything
 * else is the hub's own code.
 */
const INIT = `
from datetime import timedelta
from homeassistant.components.http import config as http
from homeassistant.helpers.start import async_at_started

async def async_setup(hass, config):
    async def shorten(hass):
        store = await http.async_get_and_load_store(hass)
        if store.revert_deadline and store.pending["cors_allowed_origins"] == ["${ORIGINS[0]}"]:
            http.AUTO_REVERT_DELAY = timedelta(seconds=3)
            store.async_schedule_revert_to_stable()

    async_at_started(hass, shorten)
    return True
`;

const BASE = `${SHORT_TRIAL}:\nlogger:\n  default: warning\n`;

let home: Home;
let operator: TestOperator;
let villa: ConfiguredHub;

beforeAll(async () => {
  home = new Home(await freshNamespace('http'));
  operator = await startTestOperator(home.namespace);
  const component = join(await restoreOnboarded(home, 'villa'), 'custom_components', SHORT_TRIAL);
  await mkdir(component, { recursive: true });
  await writeFile(join(component, 'manifest.json'), JSON.stringify(MANIFEST));
  await writeFile(join(component, '__init__.py'), INIT);
  await home.apply(hub('villa'), configuration('villa', BASE));
  villa = new ConfiguredHub(home, 'villa');
  await villa.loaded();
  await villa.connect();
});

const slots = async () => (await readHttpConfig(villa.client.connection))!;
const change = (settings: object) => villa.change(`${BASE}http: ${JSON.stringify(settings)}\n`);

/**
 * Waits for the report that the hub has reverted to its former settings, with its words about the rejected
 * ones.
 */
async function reverted(words: string): Promise<void> {
  const { message } = await home.ready('hubconfiguration', 'villa', {
    status: 'False',
    reason: 'InvalidConfiguration',
  });
  expect(message).toMatch(/gone back to its former settings.*Change the section\.$/);
  expect(message).toContain(words);
  expect(await home.condition('hubconfiguration', 'villa', 'HttpSettingsReady')).toMatchObject({
    status: 'False',
    reason: 'Reverted',
    message,
  });
  await home.ready('hub', 'villa');
}

/** Returns how often the current settings were sent to the hub; 0 when the hub has them. */
async function timesSent(): Promise<number> {
  return timesIn(await home.get('configmap', ACCEPTED));
}

const ACCEPTED = 'villa-configuration-accepted';

const timesIn = ({ data }: Stored): number =>
  (JSON.parse(data!['.loaded']!) as { sentSettings?: { times: number } }).sentSettings?.times ?? 0;

/** Reads the slots from the volume, since the hub may be going down or unreachable. */
async function storedSlots(): Promise<Pick<HttpConfig, 'stable' | 'pending'>> {
  const text = await readFile(join(await home.volumeOf('villa'), '.storage', 'http'), 'utf8');
  return (JSON.parse(text) as { data: Pick<HttpConfig, 'stable' | 'pending'> }).data;
}

/**
 * Kills the operator when the hub has stored the trial, which was sent `times` times, and before the operator
 * can promote it.
 */
async function killedInTrial(times: number): Promise<void> {
  await until('the hub has stored the trial', async () => {
    const { pending } = await storedSlots();
    return (
      isDeepStrictEqual(pending?.cors_allowed_origins, ORIGINS) &&
      !pending?.error &&
      (await timesSent()) === times
    );
  });
  await operator.kill();
  await until('the hub has given it up', async () => Boolean((await storedSlots()).pending?.error));
}

/** Checks that rejected settings are not sent again, because the hub would restart for them. */
async function staysReverted(settings: object, error: string): Promise<void> {
  const present = () => until('the hub answers', () => hubStartId(villa.client.connection));
  const start = await present();
  await operator.calm();
  expect(await present()).toBe(start);
  expect(await slots()).toMatchObject({
    active_config_type: 'stable',
    pending: { ...settings, error },
  });
}

describe('HubConfiguration with a section http: that the hub reverts', () => {
  test('settings that no operator promotes in time are sent once more, and reported when that happens again', async () => {
    await change({ cors_allowed_origins: ORIGINS });
    await killedInTrial(1);
    await operator.start();
    await killedInTrial(2);
    await operator.start();
    await reverted('not_promoted');
    expect(await timesSent()).toBe(2);
    await staysReverted({ cors_allowed_origins: ORIGINS }, 'not_promoted');
  });

  test('a section that is corrected is applied', async () => {
    await villa.change(`${BASE}http:\n  use_x_frame_options: false\n`);
    await villa.loaded();
    await until('the hub has it for good', async () => {
      const { stable, active_config_type: active } = await slots();
      return active === 'stable' && stable!.use_x_frame_options === false;
    });
    expect(await home.condition('hubconfiguration', 'villa', 'HttpSettingsReady')).toMatchObject({
      status: 'True',
      reason: 'Applied',
    });
  });

  test('a trial that a killed operator left is confirmed by the next one, and not sent again', async () => {
    // The operator may have confirmed the trial before it is killed.
    await oneOfThree(
      async (attempt) => {
        const origins = [`https://${attempt}.example.org`];
        const has = (slot: HttpConfig['stable']) => isDeepStrictEqual(slot?.cors_allowed_origins, origins);
        await villa.change(`${BASE}http:\n  cors_allowed_origins: ${origins[0]}\n`);
        await until('the hub has stored the trial', async () => {
          const { stable, pending } = await storedSlots();
          return has(pending) || has(stable);
        });
        await operator.kill();
        const isOnTrial = has((await storedSlots()).pending);
        const before = await timesSent();
        const history = await ObjectHistory.of(home, 'configmap', ACCEPTED);
        const trial = await until('the hub runs with it', async () => {
          const { active_config_type: active, stable, pending } = await slots();
          return active === 'pending' ? pending : active === 'stable' && has(stable) && stable;
        });
        const start = await until('the hub answers', () => hubStartId(villa.client.connection));
        await operator.start();
        await villa.loaded();
        // The slot has the time of its trial.
        expect(await until('the hub answers', slots)).toMatchObject({
          active_config_type: 'stable',
          stable: trial,
          pending: null,
        });
        expect(await until('the hub answers', () => hubStartId(villa.client.connection))).toBe(start);
        expect(Math.max(...history.states.map(timesIn))).toBeLessThanOrEqual(before);
        expect(await timesSent()).toBe(0);
        return isOnTrial;
      },
      (isOnTrial) => isOnTrial,
    );
  });
});
