import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError } from '../../../operator/runtime/api-errors';
import { FakeHub, json, text } from '../client/fake-hub';
import { CommandLine, ofHub, resource } from './command-line';

const DAY = 86_400;

let folder: string;
let hub: FakeHub;
/** Seconds since the start of the hub. */
let age: number;
let entries: { readonly entity_id: string }[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'validate-hub-'));
  hub = await FakeHub.start();
  age = DAY;
  entries = [];
  const answers: Readonly<Record<string, () => unknown>> = {
    'integration/setup_info': () => [{ domain: 'api', seconds: 1 }],
    'config/entity_registry/list': () => entries,
    'config/entity_registry/get_entries': () =>
      Object.fromEntries(entries.map((entry) => [entry.entity_id, entry])),
    get_services: () => ({ light: { turn_on: {} } }),
    'config/device_registry/list': () => [{ id: 'd1', labels: [] }],
    'config/area_registry/list': () => [{ area_id: 'parlour', name: 'Living room' }],
    'config/floor_registry/list': () => [],
    'config/label_registry/list': () => [],
    'config_entries/get': () => [],
    'blueprint/substitute': () => ({
      substituted_config: {
        triggers: [],
        actions: [{ action: 'light.turn_on', target: { entity_id: ['light.filled_in', 'light.inner'] } }],
      },
    }),
  };
  hub.onCommand = ({ message: { type }, succeed }) => succeed(answers[type]?.());
  hub.routes.set('POST /api/template', (request, response) => {
    const { template } = JSON.parse(request.body) as { template: string };
    text(200, /\[\d+:\d+\]/.test(template) ? 'light.sofa sensor.heat' : String(age))(request, response);
  });
  hub.routes.set('GET /api/components', json(200, ['light', 'automation']));
});
afterEach(async () => {
  await hub.close();
  await rm(folder, { recursive: true });
});

const manifest = (kind: string, name: string, spec: object, hubName = 'villa', namespace?: string) => ({
  apiVersion: 'hub-operator.dev/v1',
  kind,
  metadata: { name, ...(namespace !== undefined && { namespace }) },
  spec: { ...ofHub(hubName), ...spec },
});

const automation = (name: string, target: object, ...further: readonly object[]) =>
  manifest('HubAutomation', name, {
    alias: `The ${name}`,
    triggers: [],
    actions: [{ action: 'light.turn_on', target }, ...further],
  });

function cluster(url = hub.url): CommandLine {
  const tokenSecretRef = { name: 'token', key: 'token' };
  const line = new CommandLine(resource('Hub', 'villa', { external: { url, tokenSecretRef } }));
  line.intercept = ({ path }) =>
    path.endsWith('/secrets/token')
      ? { data: { token: Buffer.from('good-token').toString('base64') } }
      : undefined;
  return line;
}

async function validated(objects: readonly object[], line = cluster(), options = '') {
  const file = join(folder, 'a.yaml');
  await writeFile(file, objects.map((each) => JSON.stringify(each, undefined, 1)).join('\n---\n'));
  const ran = await line.run(`validate --hub villa ${options} ${file}`);
  return { ...ran, lines: ran.stdout.replaceAll(file, 'a.yaml').trimEnd().split('\n') };
}

test('an action and an entity of one name have suggestions of their own', async () => {
  const { stdout } = await validated([
    automation('one', { entity_id: 'light.turn_onn' }, { action: 'light.turn_onn' }),
  ]);
  expect(stdout).toMatch(/the action light\.turn_onn \(did you mean light\.turn_on\?\)/);
  expect(stdout).toMatch(/have light\.turn_onn\./);
});

test('names are warnings with their places and the nearest names; --strict makes them fail', async () => {
  const given = [
    automation('one', {
      entity_id: ['light.sofa', 'light.sofaa'],
      device_id: ['d1', 'd2'],
      area_id: 'parlor',
      floor_id: 'attic',
      label_id: '{{ "any" }}',
    }),
    automation('two', {}, { action: 'light.turn_onn' }, { action: 'nosuch.thing', enabled: false }),
  ];
  const { code, lines } = await validated(given);
  const of = (name: string, words: string) =>
    expect.stringMatching(new RegExp(`^a.yaml:\\d+: warning: HubAutomation ${name}: ${words}$`));
  expect(lines).toEqual([
    of(
      'one',
      'spec.actions\\[0\\].target.entity_id\\[1\\]: .* light.sofaa \\(did you mean light.sofa\\?\\)\\.',
    ),
    of('one', 'spec.actions\\[0\\].target.device_id\\[1\\]: The hub does not have the device d2\\.'),
    of('one', 'spec.actions\\[0\\].target.area_id: .* the area parlor \\(did you mean parlour\\?\\)\\.'),
    of('one', 'spec.actions\\[0\\].target.floor_id: The hub does not have the floor attic\\.'),
    of(
      'two',
      'spec.actions\\[1\\].action: .* the action light.turn_onn \\(did you mean light.turn_on\\?\\)\\.',
    ),
    '2 resources checked, 0 of other kinds ignored: 0 errors, 5 warnings',
  ]);
  expect(code).toBe(0);
  expect((await validated(given, cluster(), '--strict')).code).toBe(1);
  const [line] = lines;
  expect(Number(/:(\d+):/.exec(line!)![1])).toBe(
    JSON.stringify(given[0], undefined, 1)
      .split('\n')
      .findIndex((each) => each.includes('light.sofaa')) + 1,
  );
});

test('names that the files make count as found, but not those for another hub or namespace', async () => {
  const rest = { actions: [], triggers: [] };
  const entry = { platform: 'automation', disabled_by: null, labels: [], area_id: null, name: null };
  const renamed = { entity_id: 'automation.renamed', unique_id: 'here', ...entry };
  entries = [renamed];
  const made = [
    manifest('HubArea', 'hall', { name: 'Great Hall' }),
    manifest('HubArea', 'living', { name: 'Living room' }),
    manifest('HubHelper', 'guest-mode', { name: 'Guests', type: 'boolean' }),
    manifest('HubZone', 'school', { name: 'My School', latitude: '1', longitude: '2' }),
    manifest('HubScript', 'night', { alias: 'Night', sequence: [] }),
    manifest('HubScene', 'movie', { name: 'Movie time', entities: [] }),
    manifest('HubAutomation', 'here', { alias: 'In the hub', ...rest }),
    manifest('HubAutomation', 'new', { alias: 'New one', ...rest }),
    manifest('HubIntegration', 'mqtt', { domain: 'mqtt' }),
    manifest('HubHelper', 'elsewhere', { name: 'Elsewhere', type: 'boolean' }, 'barn'),
    manifest('HubHelper', 'away', { name: 'Away', type: 'boolean' }, 'villa', 'another'),
  ];
  const entityIds = [
    'input_boolean.guest_mode',
    'zone.my_school',
    'script.night',
    'scene.movie_time',
    'scene.before',
    'automation.renamed',
    'automation.new_one',
    'automation.the_user',
    'automation.in_the_hub',
    'input_boolean.elsewhere',
    'input_boolean.away',
    'input_boolean.guest_mod',
  ];
  const user = automation(
    'user',
    { entity_id: entityIds, area_id: ['great_hall', 'living_room'] },
    { action: 'script.night' },
    { action: 'mqtt.publish' },
    { action: 'scene.create', data: { scene_id: 'before' } },
  );
  const { lines } = await validated([...made, user]);
  const missing = lines.flatMap((line) => /does not have (.*)\.$/.exec(line)?.[1] ?? []);
  expect(missing.toSorted()).toEqual([
    'automation.in_the_hub',
    'input_boolean.away',
    'input_boolean.elsewhere',
    'input_boolean.guest_mod (did you mean input_boolean.guest_mode?)',
    'the action scene.create (the integration scene is not set up)',
    'the area living_room',
  ]);
});

test('an id that only the hub can derive from a name is not reported, and other domains are', async () => {
  const scene = manifest('HubScene', 'movie', { name: '映画', entities: [] });
  const user = automation('user', { entity_id: ['scene.ying_hua', 'light.none'] });
  const { lines } = await validated([scene, user]);
  expect(lines.filter((line) => line.includes('does not have'))).toHaveLength(1);
});

test('a blueprint is looked at as the hub fills it in, with the place of its input', async () => {
  const user = manifest('HubAutomation', 'user', {
    alias: 'User',
    useBlueprint: { path: 'me/lamp.yaml', input: { lamp: 'light.filled_in' } },
  });
  const { lines } = await validated([user]);
  expect(lines).toEqual([
    expect.stringContaining('spec.useBlueprint: The hub does not have light.inner.'),
    expect.stringContaining('spec.useBlueprint.input.lamp: The hub does not have light.filled_in.'),
    expect.stringContaining('2 warnings'),
  ]);
});

test('scenes that an automation in the cluster creates count as found', async () => {
  const line = cluster();
  const create = { actions: [{ action: 'scene.create', data: { scene_id: 'kept' } }] };
  line.objects.push(resource('HubAutomation', 'other', { ...ofHub('villa'), ...create }));
  line.objects.push(
    resource('HubAutomation', 'of-barn', {
      ...ofHub('barn'),
      actions: [{ action: 'scene.create', data: { scene_id: 'gone' } }],
    }),
  );
  const user = automation('user', { entity_id: ['scene.kept', 'scene.gone'] });
  const { lines } = await validated([user], line);
  expect(lines.filter((each) => each.includes('does not have'))).toEqual([
    expect.stringContaining('scene.gone'),
  ]);
});

describe('without an answer a note says why, and the other checks are complete', () => {
  const bad = { ...automation('user', { entity_id: 'light.none' }) };
  Object.assign(bad.spec, { mode: 'twice' });
  const label = manifest('HubLabel', 'night', { name: 'Night' });

  test('of a hub that is unreachable', async () => {
    const { code, lines } = await validated([bad, label], cluster('http://127.0.0.1:9'));
    expect(lines).toEqual([
      expect.stringContaining('error: HubAutomation user: spec.mode'),
      expect.stringMatching(
        /^warning: No name was looked up in the hub of the Hub villa, everything else was checked: the hub: .*: kubectl hub doctor says why a hub cannot be used\.$/,
      ),
      '2 resources checked, 0 of other kinds ignored: 1 error, 1 warning',
    ]);
    expect(code).toBe(1);
    const only = await validated([label], cluster('http://127.0.0.1:9'));
    expect(only.code).toBe(0);
    expect((await validated([label], cluster('http://127.0.0.1:9'), '--strict')).code).toBe(1);
  });

  test('of a user without the right, and of a Hub that does not exist', async () => {
    const line = cluster();
    line.intercept = ({ path }) => {
      if (path.includes('/secrets/')) throw new ApiError(403, 'Forbidden', 'secrets "token" is forbidden');
      return undefined;
    };
    const { code, lines } = await validated([label], line);
    expect(lines[0]).toMatch(
      /everything else was checked: .*is forbidden: kubectl auth can-i --list -n home/,
    );
    expect(code).toBe(0);
    const absent = await validated([label], new CommandLine());
    expect(absent.lines[0]).toMatch(/everything else was checked: .*villa/);
  });

  test('of a hub that fails in the middle', async () => {
    const { onCommand } = hub;
    hub.onCommand = (command) =>
      command.message.type === 'get_services' ? command.fail('unknown_error', 'No.') : onCommand(command);
    const { lines } = await validated([automation('user', { entity_id: 'light.none' })]);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('No name was looked up');
  });
});

test('a hub that was started a moment ago is asked, and a note says that names may come', async () => {
  age = 10;
  const { stdout } = await validated([automation('user', { entity_id: 'light.none' })], cluster(), '-o json');
  const { findings, notes } = JSON.parse(stdout) as { findings: object[]; notes: string[] };
  expect(findings).toHaveLength(1);
  expect(notes).toEqual([expect.stringContaining('was started a short time ago')]);
});

test('without --hub no cluster is used', async () => {
  const line = cluster();
  const file = join(folder, 'b.yaml');
  await writeFile(file, JSON.stringify(automation('user', { entity_id: 'light.none' })));
  const { stdout } = await line.run(`validate ${file} -o json`);
  expect(JSON.parse(stdout)).toEqual({ checked: 1, testFiles: 0, findings: [] });
  expect(line.connections).toEqual([]);
});
