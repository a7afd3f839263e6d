import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../../operator/base/clock';
import { HubClient } from '../../../operator/client/hub-client';
import { freshNamespace } from '../../cluster';
import { kubectlHub } from '../../cluster/command-line';
import { cpuSeconds } from '../../cluster/cpu-seconds';
import { EDITOR_ACTION, editorAutomation } from '../../cluster/editor-automation';
import { Home } from '../../cluster/home';
import { HubRecorder } from '../../cluster/hub-recorder';
import { HubToExport } from '../../cluster/hub-to-export';
import { startTestOperator } from '../../cluster/operator';
import { silentLog } from '../../cluster/silent-log';

let home: Home;
const hubs: HubToExport[] = [];

beforeAll(async () => {
  home = new Home(await freshNamespace('export'));
});
afterAll(() => Promise.all(hubs.map((each) => each.dispose())));

async function hubWith(...content: Parameters<typeof HubToExport.start>): Promise<HubToExport> {
  const started = await HubToExport.start(...content);
  hubs.push(started);
  return started;
}

const ID = 1_699_999_999_999;
const NAMES = [
  'on',
  '光',
  '🛋 Sofa',
  'Anna\'s "light"',
  'a: b # c',
  '0123',
  'Ä'.repeat(120),
  '{{ 1 }}',
  'null',
  'Licht',
];
const nameOf = (index: number) =>
  `${NAMES[index % NAMES.length]}${index < NAMES.length ? '' : ` ${index % 50}`}`;
const values = {
  nothing: null,
  float: 0.1,
  on: 'on',
  template: "{{ states('sun.sun') }}",
  text: 'long \n'.repeat(500),
};
const actions = [EDITOR_ACTION, { event: 'x', event_data: values }];
/** Ids that users write; the others are like those of the editor. */
const IDS = ['Bad Zimmer 1', '光', 'a/b', '🛋', '100%'];
const automation = (index: number) =>
  editorAutomation({
    id: IDS[index] ?? String(ID + index),
    alias: nameOf(index),
    isFromBlueprint: index % 5 === 0,
    actions,
  });
/** One automation in 200 uses a blueprint. For each of those the hub parses its whole automation file. */
const shortAutomation = (index: number) =>
  editorAutomation({ id: String(ID + index), alias: nameOf(index), isFromBlueprint: index % 200 === 0 });
const list = <T>(length: number, make: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => make(index));
const script = (index: number) => [
  `script_${index}`,
  { alias: nameOf(index), description: '', sequence: actions },
];
const scene = (index: number) => ({
  id: String(ID + index),
  name: nameOf(index),
  entities: { 'light.a': { state: 'on', brightness: 20, friendly_name: 'A' }, 'switch.b': 'off' },
  metadata: { 'light.a': { entity_only: true } },
});

describe('kubectl hub export', () => {
  test('200 objects of the editor become files within 10 s of the hub’s processor time; when they are applied they are Ready, and nothing is written to the hub', async () => {
    const villa = await hubWith({
      'automations.yaml': JSON.stringify(list(100, automation)),
      'scripts.yaml': JSON.stringify(Object.fromEntries(list(40, script))),
      'scenes.yaml': JSON.stringify(list(30, scene)),
    });
    const client = new HubClient({
      url: villa.process.url,
      token: villa.token,
      clock: systemClock,
      log: silentLog,
    });
    const { floor, label, area, zone } = client.registries;
    for (const index of list(8, (each) => each)) {
      await floor.create({ name: `Floor ${index}`, level: index - 1 });
      await label.create({ name: `on ${index}`, icon: 'mdi:tag' });
      const [floorId] = [...(await floor.entries()).keys()].slice(-1);
      await area.create({ name: `Room ${index}`, floor_id: floorId!, aliases: ['no', 'b'] });
      await zone.create({ name: `Zone ${index}`, latitude: 52.5 + index / 3, longitude: -0.1, radius: 120 });
    }
    const { user } = await client.connection.command('config/auth/create', { name: 'Ada', group_ids: [] });
    const login = { user_id: user.id, username: 'ada', password: 'correct horse' };
    await client.connection.command('config/auth_provider/homeassistant/create', login);
    const device_trackers = ['device_tracker.b', 'device_tracker.a'];
    for (const [name, user_id] of [['Ada', user.id] as const, ['光', null] as const])
      await client.connection.command('person/create', { name, user_id, device_trackers, picture: '/a.png' });
    client.close();
    const before = await cpuSeconds(villa.process.pid!);
    const { code, stderr, written, notExpressed, contents } = await villa.export(home.namespace, 'villa');
    const took = (await cpuSeconds(villa.process.pid!)) - before;
    expect(stderr).toBe('');
    expect(notExpressed).toEqual([]);
    expect(code).toBe(0);
    const countOf = (kind: string) => written.filter((each) => each.kind === kind).length;
    expect([countOf('HubAutomation'), countOf('HubScript'), countOf('HubScene')]).toEqual([100, 40, 30]);
    expect(countOf('HubZone')).toBe(8);
    // The third person is the one of the owner, whom the onboarding made.
    expect(countOf('HubPerson')).toBe(3);
    expect(contents['persons/owner.yaml']).toContain('username: admin');
    expect(took).toBeLessThan(10);

    const preview = await kubectlHub(home.namespace, [
      'diff',
      '--recursive',
      ...villa.address,
      `--filename=${villa.path('villa')}`,
    ]);
    expect(preview).toMatchObject({ code: 0, stdout: expect.stringMatching(/, 0 would change/) as string });

    const stored = await villa.stored();
    await startTestOperator(home.namespace, { settings: { ALLOW_LOCAL_HUBS: 'true' } });
    // The hub of the sandbox lacks the package of Google Translate, and its entry reports that.
    const usable = written.filter(({ name }) => !name.startsWith('google-translate'));
    expect(await villa.adopt(home, villa.path('villa'), usable)).toEqual([]);
    for (const { kind, name } of usable.filter(({ kind }) => kind !== 'HubIntegration'))
      expect((await home.get(kind, name)).status).toMatchObject({ adopted: true });
    expect(await villa.stored()).toEqual(stored);

    expect((await villa.export(home.namespace, 'again')).contents).toEqual(contents);
  });

  test('what cannot be expressed is listed with the reason, and no secret is written', async () => {
    const cabin = await hubWith(
      {
        'own.yaml': JSON.stringify([
          { id: 'included', alias: 'Included', triggers: [], actions: [] },
          { alias: 'Without id', triggers: [], actions: [] },
        ]),
        'automations.yaml': JSON.stringify([
          { ...automation(1), alias: 'Twin' },
          { ...automation(2), alias: 'Twin' },
          { ...automation(2), alias: 'With the same id' },
          { ...automation(3), actions: [{ action: 'x.y', data: { password: 'hunter2' } }] },
          { ...automation(6), id: 3, alias: 'Unquoted' },
          { ...automation(7), alias: 'Far', variables: { far: 'FAR' } },
        ]).replace('"FAR"', '1.0e+21'),
        'secrets.yaml': 'pin: "4711"\n',
        'scripts.yaml': 'open:\n  alias: Open\n  sequence:\n    - event: !secret pin\n',
        'scenes.yaml': JSON.stringify([{ id: 7, name: 'Unquoted too', entities: {} }]),
      },
      `
automation own: !include own.yaml
homeassistant:
  packages:
    lodge:
      automation:
        - { id: lodge, alias: Of a package, triggers: [], actions: [] }
`,
    );
    const { code, stdout, written, notExpressed, contents } = await cabin.export(home.namespace, 'cabin');
    const automations = written.filter(({ kind }) => kind === 'HubAutomation').map(({ path }) => path);
    expect(automations.sort()).toEqual(['automations/twin-2.yaml', 'automations/twin.yaml']);
    // Both objects get the same file name. The hub numbers the entity of the second one in its file, although
    // its id comes first.
    expect(contents['automations/twin-2.yaml']).toContain('hubId: a/b');
    const reasons = Object.fromEntries(notExpressed.map(({ object, reason }) => [object, reason]));
    expect(reasons).toMatchObject({
      'automation.included': expect.stringContaining('YAML of the hub itself') as string,
      'automation.of_a_package': expect.stringContaining('YAML of the hub itself') as string,
      'automation.without_id': expect.stringContaining('no id') as string,
      'automation “Unquoted”':
        "By the log of the hub, its id 3 has no quotes, and the hub does not load it: write '3' in automations.yaml.",
      'scene.unquoted_too': expect.stringContaining('a number without quotes') as string,
      'script.open': expect.stringContaining('!secret') as string,
    });
    expect(Object.values(reasons).join()).toContain(
      'By the log of the hub, another automation in its file has the same id',
    );
    expect(Object.values(reasons).join()).toContain('spec.variables.far is a whole number beyond 2^53');
    expect(Object.values(reasons).join()).toContain('spec.actions[0].data.password looks like a secret');
    expect(code).toBe(3);
    const client = new HubClient({
      url: cabin.process.url,
      token: cabin.token,
      clock: systemClock,
      log: silentLog,
    });
    await writeFile(join(cabin.process.configDir, 'automations.yaml'), '[]');
    await client.rest.post('/api/services/automation/reload', {});
    client.close();
    const gone = (await cabin.export(home.namespace, 'gone')).notExpressed;
    expect(gone).toContainEqual({
      object: 'automation.twin',
      reason: expect.stringContaining('gone from the YAML') as string,
    });
    expect(gone.filter(({ object }) => object.startsWith('automation.twin'))).toHaveLength(2);
    // The hub has the value of the secret in memory, from which some definitions are exported.
    const stored = "- id: '1'\n  alias: Twin\n  triggers: []\n  actions:\n    - event: !secret pin\n";
    await writeFile(join(cabin.process.configDir, 'automations.yaml'), stored);
    const later = await cabin.export(home.namespace, 'later');
    expect(later.notExpressed).toContainEqual({
      object: 'automation.twin',
      reason: expect.stringContaining('!secret') as string,
    });
    expect(later.written.filter(({ kind }) => kind === 'HubAutomation')).toEqual([]);
    const everything = [stdout, later.stdout, JSON.stringify([contents, later.contents])].join();
    expect(everything).not.toContain('hunter2');
    expect(everything).not.toContain('4711');
  });

  test('2,000 automations become files within 60 s of the hub’s processor time', async () => {
    const castle = await hubWith({ 'automations.yaml': JSON.stringify(list(2_000, shortAutomation)) });
    const before = await cpuSeconds(castle.process.pid!);
    const { written, contents } = await castle.export(home.namespace, 'castle');
    expect((await cpuSeconds(castle.process.pid!)) - before).toBeLessThan(60);
    expect(written.filter(({ kind }) => kind === 'HubAutomation')).toHaveLength(2_000);
    const blueprints = Object.values(contents).filter((text) => text.includes('useBlueprint'));
    expect(blueprints).toHaveLength(10);
  });

  test('with a copy of the hub’s files the export knows which ids a user wrote: the hub reads its file once, and the export is the same', async () => {
    const written = (index: number) => ({
      ...editorAutomation({
        id: `Light ${index}`,
        alias: nameOf(index),
        isFromBlueprint: index === 0,
        actions,
      }),
    });
    const manor = await hubWith(
      {
        'automations.yaml': JSON.stringify(list(60, written)),
        'scripts.yaml': JSON.stringify(Object.fromEntries(list(60, script))),
        'secrets.yaml': 'pin: "4711"\n',
      },
      `
homeassistant:
  packages:
    lodge:
      automation:
        - { id: lodge, alias: Of a package, triggers: [], actions: [{ event: !secret pin }] }
`,
    );
    const recorder = await HubRecorder.start(manor.process.url);
    const reads = () =>
      recorder.sent.filter((what) => /^GET .api.config.(automation|script).config/.test(what));
    try {
      const { contents: before, notExpressed } = await manor.export(
        home.namespace,
        'one-by-one',
        recorder.url,
      );
      expect(reads().length).toBeGreaterThan(60);
      recorder.sent.length = 0;
      const copy = `--config=${manor.process.configDir}`;
      const once = await manor.export(home.namespace, 'from-copy', recorder.url, copy);
      // Three reads remain: the automation with a blueprint, the one in a package, and a script, which shows
      // whether the hub can read the file.
      expect(reads().length).toBeLessThan(5);
      expect(once).toMatchObject({ contents: before, notExpressed });
      expect(notExpressed.map(({ object }) => object)).toEqual(['automation.of_a_package']);
      expect(Object.values(before).join()).not.toContain('4711');
    } finally {
      await recorder.stop();
    }
  });

  test('a hub that does not answer, and a token that it rejects, are errors', async () => {
    const [running] = hubs;
    const wrong = running!.path('wrong');
    await writeFile(wrong, 'wrong');
    const exported = (url: string) =>
      kubectlHub(home.namespace, ['export', `--url=${url}`, `--token-file=${wrong}`, `--to=${wrong}-files`]);
    const nowhere = await exported('http://127.0.0.1:1');
    expect(nowhere).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be reached') as string,
    });
    const rejected = await exported(running!.process.url);
    expect(rejected).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('rejected the token') as string,
    });
    expect(rejected.stderr).not.toContain('wrong');
  });
});
