import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../operator/base/clock';
import { HubClient } from '../../../operator/client/hub-client';
import { kubeconfig, freshNamespace, mustKubectl, until } from '../../cluster';
import { kubectlHub } from '../../cluster/command-line';
import { area, automation, helper, Home, type Manifest, script } from '../../cluster/home';
import { HubToExport } from '../../cluster/hub-to-export';
import { startTestOperator } from '../../cluster/operator';
import { silentLog } from '../../cluster/silent-log';

let home: Home;
let villa: HubToExport;
let client: HubClient;
let folder: string;

beforeAll(async () => {
  home = new Home(await freshNamespace('validate-hub'));
  folder = await mkdtemp(join(tmpdir(), 'validate-hub-'));
  await startTestOperator(home.namespace, { settings: { ALLOW_LOCAL_HUBS: 'true' } });
  villa = await HubToExport.start({}, '\ndemo:\ninput_boolean:\n  movie_night:\n');
  client = new HubClient({ url: villa.process.url, token: villa.token, clock: systemClock, log: silentLog });
  await until('the integration has made its entities', async () =>
    (await client.names.read()).hasEntity('light.bed_light'),
  );
  await client.registries.area.create({ name: 'Garden' });
  await villa.join(home, villa.process.url);
});
afterAll(async () => {
  client?.close();
  await villa?.dispose();
  await rm(folder, { recursive: true });
});

interface Result {
  readonly findings: readonly { readonly line: number; readonly field: string; readonly message: string }[];
  readonly notes: readonly string[];
}

async function validated(given: readonly Manifest[], ...options: readonly string[]) {
  const file = join(folder, 'home.yaml');
  await writeFile(file, given.map((each) => JSON.stringify(each, undefined, 1)).join('\n---\n'));
  const args = ['validate', '--hub=villa', '--output=json', ...options, file];
  const { code, stdout, stderr } = await kubectlHub(home.namespace, args);
  if (stdout === '') throw new Error(stderr);
  return { code, file, ...(JSON.parse(stdout) as Result) };
}

const steps = (target: object, ...further: object[]) => ({
  triggers: [{ trigger: 'state', entity_id: 'input_boolean.movie_night' }],
  actions: [{ action: 'light.turn_on', target }, ...further],
});

test('a real hub is asked for what files name, and nothing is changed in it', async () => {
  const before = await client.connection.command('config/entity_registry/list');
  const found = await validated([
    area('villa', 'hall', { name: 'Great Hall' }),
    helper('villa', 'guests', { type: 'boolean', name: 'Guests' }),
    script('villa', 'night', { alias: 'Night', sequence: [{ delay: 1 }] }),
    automation(
      'villa',
      'porch',
      steps(
        {
          entity_id: ['light.bed_light', 'light.bed_ligth', 'input_boolean.guests', '{{ "light.any" }}'],
          area_id: ['great_hall', 'garden', 'gardn'],
        },
        { action: 'script.night' },
        { action: 'light.turn_onn' },
        { action: 'light.turn_off', target: { entity_id: 'light.off' }, enabled: false },
      ),
    ),
    automation('villa', 'motion', {
      triggers: null,
      actions: null,
      useBlueprint: {
        path: 'homeassistant/motion_light.yaml',
        input: { motion_entity: 'binary_sensor.none', light_target: { entity_id: 'light.bed_light' } },
      },
    }),
  ]);
  expect(found.findings.map(({ field, message }) => `${field}: ${message}`)).toEqual([
    'spec.actions[0].target.entity_id[1]: The hub does not have light.bed_ligth (did you mean light.bed_light?).',
    'spec.actions[0].target.area_id[2]: The hub does not have the area gardn (did you mean garden?).',
    'spec.actions[2].action: The hub does not have the action light.turn_onn (did you mean light.turn_on?).',
    'spec.useBlueprint.input.motion_entity: The hub does not have binary_sensor.none.',
  ]);
  expect(found.code).toBe(0);
  expect(await client.connection.command('config/entity_registry/list')).toEqual(before);
  const strict = await validated(
    [automation('villa', 'porch', steps({ entity_id: 'light.none' }))],
    '--strict',
  );
  expect(strict.code).toBe(1);
});

test('a user without the right to the token is told so, and the other checks are made', async () => {
  await mustKubectl(['create', 'serviceaccount', 'guest'], home);
  const config = JSON.parse(
    await mustKubectl(['config', 'view', '--raw', '--minify', '--output=json'], home),
  ) as { users: object[]; contexts: { context: { user: string } }[] };
  const token = (await mustKubectl(['create', 'token', 'guest'], home)).trim();
  const { user } = config.contexts[0]!.context;
  const limited = join(folder, 'guest.kubeconfig');
  await writeFile(limited, JSON.stringify({ ...config, users: [{ name: user, user: { token } }] }));
  expect(limited).not.toBe(kubeconfig());
  const given = [automation('villa', 'porch', { ...steps({ entity_id: 'light.none' }), mode: 'twice' })];
  const { code, findings, notes } = await validated(given, `--kubeconfig=${limited}`);
  expect(findings).toEqual([expect.objectContaining({ field: 'spec.mode' })]);
  expect(notes).toEqual([
    expect.stringMatching(/everything else was checked: .*forbidden.*kubectl auth can-i/),
  ]);
  expect(code).toBe(1);
});

test('a hub that has stopped is told of, and the other checks are made', async () => {
  await villa.process.stop();
  const { code, findings, notes } = await validated([
    automation('villa', 'porch', steps({ entity_id: 'light.none' })),
  ]);
  expect(findings).toEqual([]);
  expect(notes).toEqual([expect.stringMatching(/No name was looked up .*kubectl hub doctor/)]);
  expect(code).toBe(0);
});
