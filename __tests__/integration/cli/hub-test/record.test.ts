import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { API_GROUP } from '../../../../operator/kinds/group';
import { provideHubSoftware } from '../../../../sandbox/hub-software';
import { freshNamespace, until } from '../../../cluster';
import { kubectlHub } from '../../../cluster/command-line';
import { automation, configuration, Home, hub, label } from '../../../cluster/home';
import { HubRecorder } from '../../../cluster/hub-recorder';
import { onboardedVolume, restoreOnboarded } from '../../../cluster/onboarded-volume';
import { startTestOperator } from '../../../cluster/operator';

// `kubectl hub test --record` with a hub that has run for some seconds.

const SENSOR = 'binary_sensor.hall';
const CONFIGURATION = 'recorder:\n  commit_interval: 1\nhistory:\ntimer:\ninput_boolean:\n  film:\n';

const on = (hubName: string) =>
  automation(hubName, 'hall-on', {
    alias: 'Hall on',
    triggers: [{ trigger: 'state', entity_id: SENSOR, to: 'on' }],
    actions: [{ action: 'light.turn_on', target: { entity_id: 'light.hall' } }],
  });
const off = (seconds: number, hubName = 'villa') =>
  automation(hubName, 'hall-off', {
    alias: 'Hall off',
    triggers: [{ trigger: 'state', entity_id: SENSOR, to: 'off', for: { seconds } }],
    actions: [{ action: 'light.turn_off', target: { entity_id: 'light.hall' } }],
  });
const film = automation('villa', 'film', {
  alias: 'Film',
  triggers: [{ trigger: 'state', entity_id: SENSOR, to: 'on' }],
  actions: [{ action: 'input_boolean.turn_on', target: { label_id: 'night' } }],
});

let home: Home;
let directory: string;
let python: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'record-'));
  python = (await provideHubSoftware(() => undefined)).python;
  home = new Home(await freshNamespace('record'));
  await startTestOperator(home.namespace);
  await restoreOnboarded(home, 'villa');
  const night = label('villa', 'night', { name: 'Night' });
  await home.apply(hub('villa'), configuration('villa', CONFIGURATION), night, on('villa'), off(1), film);
  await home.ready('hub', 'villa');
  await home.ready('hublabel', 'night');
  for (const name of ['hall-on', 'hall-off', 'film']) await home.ready('hubautomation', name);
  await live();
});
afterAll(() => rm(directory, { recursive: true }));

/** Produces a history: two motions in the hall, the second three seconds after the first. */
async function live(): Promise<void> {
  const { rest, connection } = await home.client('villa');
  const labelled = { entity_id: 'input_boolean.film', labels: ['night'] };
  await connection.command('config/entity_registry/update', labelled);
  for (const step of ['off', 500, 'on', 500, 'off', 3_000, 'on', 500, 'off', 6_000] as const)
    if (typeof step === 'number') await sleep(step);
    else await rest.post(`/api/states/${SENSOR}`, { state: step, attributes: { device_class: 'motion' } });
  const path = `/api/history/period?filter_entity_id=${SENSOR}&significant_changes_only=0`;
  await until('the recorder has all states', async () => {
    const [states] = await rest.get<{ state: string }[][]>(path);
    return states?.length === 5;
  });
}

/** Compares the last hour with files that contain these resources. */
async function compared(resources: readonly object[], ...more: readonly string[]) {
  const file = join(directory, 'home.yaml');
  await writeFile(file, resources.map((each) => JSON.stringify(each)).join('\n---\n'));
  return kubectlHub(home.namespace, ['test', file, '--record', '1h', '--python', python, ...more]);
}

const villa = [hub('villa'), configuration('villa', CONFIGURATION), on('villa')];

describe('kubectl hub test --record', () => {
  test('the same automations make the same calls', async () => {
    const { code, stdout, stderr } = await compared([...villa, off(1), film]);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^Home Assistant \S+, Hub \S+\/villa \(\S+\): \S+ s from .* to .*\n/);
    expect(stdout).toContain(
      '4 changes of 1 entity played: 6 calls as the hub is now, 6 with these files.\n',
    );
    expect(stdout).toContain('Open loop: ');
    expect(stdout).toMatch(/\nNo call differs\.\n$/);
    expect(code).toBe(0);
  });

  test('a longer delay appears as calls that are missing, and as calls at another time', async () => {
    const { code, stdout } = await compared([...villa, off(4), film]);
    expect(stdout).toContain(
      '  automation.hall_off, light.turn_off, light.hall: 2 -> 1 (-1), 1 at another time\n',
    );
    const line = (sign: string) =>
      `  \\${sign} \\w+ \\d+ \\w+ [\\d:]+  light\\.turn_off light\\.hall by automation\\.hall_off\n`;
    expect(stdout).toMatch(new RegExp(`${line('-')}${line('-')}${line('+')}$`));
    expect(code).toBe(1);
  });

  test('an automation that the files do not have counts as deleted, in JSON', async () => {
    const { code, stdout } = await compared([...villa, off(1)], '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      hub: { name: 'villa', namespace: home.namespace },
      history: { changes: 4, entities: [SENSOR], openLoop: true },
      calls: { before: 6, after: 4 },
      removed: ['automation.film'],
      differences: [
        {
          ...{ by: 'automation.film', action: 'input_boolean.turn_on', entities: ['input_boolean.film'] },
          ...{ before: 2, after: 0, anotherTime: 0, otherData: 0 },
        },
      ],
      changed: [{ side: 'before' }, { side: 'before' }],
      refused: { before: [], after: [] },
    });
    expect(code).toBe(1);
  });

  test('a helper that a person made in the hub is part of both sides', async () => {
    const { connection } = await home.client('villa');
    await connection.command('timer/create', { name: 'Oven', duration: '0:00:01' });
    const start = automation('villa', 'oven', {
      alias: 'Oven',
      triggers: [{ trigger: 'state', entity_id: SENSOR, to: 'on' }],
      actions: [{ action: 'timer.start', target: { entity_id: 'timer.oven' } }],
    });
    const done = automation('villa', 'oven-done', {
      alias: 'Oven done',
      triggers: [{ trigger: 'event', event_type: 'timer.finished', event_data: { entity_id: 'timer.oven' } }],
      actions: [{ action: 'light.turn_off', target: { entity_id: 'light.oven' } }],
    });
    const { stdout } = await compared([...villa, off(1), film, start, done]);
    expect(stdout).toContain('  automation.oven_done, light.turn_off, light.oven: 0 -> 2 (+2)\n');
  });

  test('an excluded entity is not read', async () => {
    const { stdout, code } = await compared([...villa, off(1), film], '--leave-out', SENSOR);
    expect(stdout).toContain(`left out or without a state in the recorder: ${SENSOR}.`);
    expect(stdout).toContain('0 calls as the hub is now, 0 with these files');
    expect(code).toBe(0);
  });

  test('an entity that does not exist in the hub is named, and so is a version other than the requested one', async () => {
    const typo = JSON.parse(JSON.stringify(off(1)).replace(SENSOR, `${SENSOR}way`)) as object;
    const { stdout } = await compared([...villa, typo, film]);
    expect(stdout).toContain(`warning: Named by these files and not in the hub: ${SENSOR}way, light.hall.\n`);
    const { stderr, code } = await compared([...villa, typo, film], '--hub-version', '2025.11.0');
    expect(stderr).toContain('and --hub-version is 2025.11.0: name another one with --python');
    expect(code).toBe(2);
  });

  test('a token that the hub rejects is sent once, and a history that breaks off is an error', async () => {
    const { status } = await home.get('hub', 'villa');
    const recorder = await HubRecorder.start(String(status!['url']));
    const secret = (token: string) => ({
      ...{ apiVersion: 'v1', kind: 'Secret', stringData: { token } },
      metadata: { name: 'broken-token', labels: { [`${API_GROUP}/hub`]: 'broken' } },
    });
    try {
      const external = { url: recorder.url, tokenSecretRef: { name: 'broken-token' } };
      await home.apply(secret('no-token'), { ...hub('broken'), spec: { external, markManaged: false } });
      const rejected = await compared([off(9, 'broken')]);
      expect(rejected.stderr).toBe('error: the hub: the hub rejected the token (HTTP 401)\n');
      expect(rejected.code).toBe(2);
      expect(recorder.sent).toEqual(['GET /manifest.json', 'GET /api/components']);
      const { token } = await onboardedVolume();
      await home.apply(secret(token));
      recorder.hold = (what) => {
        if (what.startsWith('GET /api/history/')) recorder.disconnect();
        return undefined;
      };
      const cut = await compared([off(9, 'broken')]);
      expect(cut.stderr).toMatch(/^error: the hub: http:\S+ cannot be reached: the connection broke\n$/);
      expect(cut.code).toBe(2);
      expect(cut.stdout + cut.stderr).not.toContain(token);
    } finally {
      await home.delete('hub', 'broken');
      await recorder.stop();
    }
  });

  test('an external hub is read in the same way, and automations that no resource describes are kept', async () => {
    const { status } = await home.get('hub', 'villa');
    const recorder = await HubRecorder.start(String(status!['url']));
    try {
      const tokenSecretRef = { name: 'outside-token' };
      await home.apply(
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'outside-token', labels: { [`${API_GROUP}/hub`]: 'outside' } },
          stringData: { token: (await onboardedVolume()).token },
        },
        { ...hub('outside'), spec: { external: { url: recorder.url, tokenSecretRef }, markManaged: false } },
      );
      // The operator refuses an address of this machine, so that all requests come from the command.
      const { stdout, code } = await compared([off(3_600, 'outside')]);
      expect(stdout).toContain('6 calls as the hub is now, 4 with these files.\n');
      expect(stdout).toContain('  automation.hall_off, light.turn_off, light.hall: 2 -> 0 (-2)\n');
      expect(code).toBe(1);
      const asked = recorder.sent.filter((each) => each.startsWith('GET /api/history/period/'));
      expect(asked).toHaveLength(1);
      expect(recorder.changes()).toEqual([]);
    } finally {
      await home.delete('hub', 'outside');
      await recorder.stop();
    }
  });
});
