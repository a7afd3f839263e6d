import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../operator/base/clock';
import { HubClient } from '../../../operator/client/hub-client';
import { API_GROUP } from '../../../operator/kinds/group';
import { freshNamespace, mustKubectl } from '../../cluster';
import { kubectlHub } from '../../cluster/command-line';
import { Home, hub } from '../../cluster/home';
import { HubProcess } from '../../cluster/hub-process';
import { HubProxy } from '../../cluster/hub-proxy';
import { onboardedVolume } from '../../cluster/onboarded-volume';
import { startTestOperator } from '../../cluster/operator';
import { silentLog } from '../../cluster/silent-log';

interface Running {
  readonly process: HubProcess;
  readonly token: string;
  readonly tokenFile: string;
}

let home: Home;
let folder: string;
const processes: HubProcess[] = [];

beforeAll(async () => {
  home = new Home(await freshNamespace('export'));
  folder = await mkdtemp(join(tmpdir(), 'export-'));
});
afterAll(async () => {
  for (const each of processes) await each.dispose();
  await rm(folder, { recursive: true });
});

/** A real hub outside of the cluster whose files have this content; JSON is YAML. */
async function hubWith(files: Readonly<Record<string, string>>, configuration = ''): Promise<Running> {
  const { directory, token } = await onboardedVolume();
  const process = await HubProcess.create(directory);
  processes.push(process);
  for (const [name, content] of Object.entries(files))
    await writeFile(join(process.configDir, name), content);
  await appendFile(join(process.configDir, 'configuration.yaml'), configuration);
  await process.start();
  await process.running(token);
  const tokenFile = join(folder, `token-${process.port}`);
  await writeFile(tokenFile, `${token}\n`);
  return { process, token, tokenFile };
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
const actions = [
  { action: 'light.turn_on', metadata: {}, target: { entity_id: 'light.a' }, data: {} },
  { event: 'x', event_data: values },
];
const automation = (index: number) => ({
  id: String(ID + index),
  alias: nameOf(index),
  description: '',
  ...(index % 5 === 0
    ? {
        use_blueprint: {
          path: 'homeassistant/motion_light.yaml',
          input: { motion_entity: 'binary_sensor.m', light_target: { entity_id: ['light.a'] } },
        },
      }
    : {
        mode: 'single',
        triggers: [{ trigger: 'state', entity_id: ['light.a'], from: null, to: ['on'] }],
        conditions: [],
        actions,
      }),
});
/** One in 200 from a blueprint: the hub parses its whole file for each of these. */
const shortAutomation = (index: number) => ({
  ...automation(index % 200 === 0 ? 0 : 1),
  id: String(ID + index),
  alias: nameOf(index),
  ...(index % 200 !== 0 && { actions: actions.slice(0, 1) }),
});
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

const exported = (hubIs: Running, to: string) =>
  kubectlHub(home.namespace, [
    'export',
    `--url=${hubIs.process.url}`,
    `--token-file=${hubIs.tokenFile}`,
    '--hub=villa',
    '--format=json',
    `--output=${join(folder, to)}`,
  ]);

interface Report {
  readonly written: readonly { path: string; kind: string; name: string }[];
  readonly notExpressed: readonly { object: string; reason: string }[];
}

async function contents(directory: string): Promise<Readonly<Record<string, string>>> {
  const names = await readdir(directory, { recursive: true });
  const files = names.filter((name) => name.endsWith('.yaml')).sort();
  return Object.fromEntries(
    await Promise.all(
      files.map(async (name) => [name, await readFile(join(directory, name), 'utf8')] as const),
    ),
  );
}

describe('kubectl hub export', () => {
  test('200 objects of the editor become files within 30 s; applied they are Ready, and the hub is not written to', async () => {
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
    client.close();
    const began = Date.now();
    const { code, stdout, stderr } = await exported(villa, 'villa');
    const took = Date.now() - began;
    expect(stderr).toBe('');
    const report = JSON.parse(stdout) as Report;
    expect(report.notExpressed).toEqual([]);
    expect(code).toBe(0);
    const countOf = (kind: string) => report.written.filter((each) => each.kind === kind).length;
    expect([countOf('HubAutomation'), countOf('HubScript'), countOf('HubScene')]).toEqual([100, 40, 30]);
    expect(countOf('HubZone')).toBe(8);
    expect(took).toBeLessThan(30_000);

    const preview = await kubectlHub(home.namespace, [
      'diff',
      `--url=${villa.process.url}`,
      `--token-file=${villa.tokenFile}`,
      `--filename=${join(folder, 'villa')}`,
    ]);
    expect(preview).toMatchObject({ code: 0, stdout: expect.stringMatching(/, 0 would change/) as string });

    const files = ['automations.yaml', 'scripts.yaml', 'scenes.yaml'];
    const stored = () =>
      Promise.all(files.map((name) => readFile(join(villa.process.configDir, name), 'utf8')));
    const before = await stored();
    const proxy = await HubProxy.start(villa.process.url);
    try {
      await startTestOperator(home.namespace, { settings: { ALLOW_LOCAL_HUBS: 'true' } });
      const tokenSecretRef = { name: 'villa-token' };
      await home.apply(
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'villa-token', labels: { [`${API_GROUP}/hub`]: 'villa' } },
          stringData: { token: villa.token },
        },
        { ...hub('villa'), spec: { external: { url: proxy.url, tokenSecretRef }, markManaged: false } },
      );
      await home.ready('hub', 'villa');
      await mustKubectl(['apply', '--server-side', '--recursive', `--filename=${join(folder, 'villa')}`], {
        namespace: home.namespace,
      });
      // The hub of the sandbox lacks the package of Google Translate, and says so of its entry.
      const usable = report.written.filter(({ name }) => !name.startsWith('google-translate'));
      for (const { kind, name } of usable) await home.ready(kind, name);
      const writes = proxy.passed.filter(
        ({ what }) => !what.startsWith('GET') && !what.endsWith('/api/template'),
      );
      expect(writes).toEqual([]);
    } finally {
      await proxy.stop();
    }
    expect(await stored()).toEqual(before);

    await exported(villa, 'again');
    expect(await contents(join(folder, 'again'))).toEqual(await contents(join(folder, 'villa')));
  });

  test('what cannot be expressed is listed with the reason, and no secret is written', async () => {
    const cabin = await hubWith(
      {
        'own.yaml': JSON.stringify([
          { id: 'packaged', alias: 'Packaged', triggers: [], actions: [] },
          { alias: 'Without id', triggers: [], actions: [] },
        ]),
        'automations.yaml': JSON.stringify([
          { ...automation(1), alias: 'Twin' },
          { ...automation(2), alias: 'Twin' },
          { ...automation(3), actions: [{ action: 'x.y', data: { password: 'hunter2' } }] },
        ]),
        'secrets.yaml': 'pin: "4711"\n',
        'scripts.yaml': 'open:\n  alias: Open\n  sequence:\n    - event: !secret pin\n',
        'scenes.yaml': '[]',
      },
      '\nautomation own: !include own.yaml\n',
    );
    const { code, stdout } = await exported(cabin, 'cabin');
    const { written, notExpressed } = JSON.parse(stdout) as Report;
    expect(written.map(({ path }) => path).filter((path) => path.startsWith('automations/'))).toEqual([
      'automations/twin.yaml',
      'automations/twin-2.yaml',
    ]);
    const reasons = Object.fromEntries(notExpressed.map(({ object, reason }) => [object, reason]));
    expect(reasons).toMatchObject({
      'automation.packaged': expect.stringContaining('YAML of the hub itself') as string,
      'automation.without_id': expect.stringContaining('no id') as string,
      'script.open': expect.stringContaining('!secret') as string,
    });
    expect(Object.values(reasons).join()).toContain('spec.actions[0].data.password looks like a secret');
    expect(code).toBe(3);
    const everything = stdout + JSON.stringify(await contents(join(folder, 'cabin')));
    expect(everything).not.toContain('hunter2');
    expect(everything).not.toContain('4711');
  });

  test('2,000 automations become files within 60 s', async () => {
    const castle = await hubWith({ 'automations.yaml': JSON.stringify(list(2_000, shortAutomation)) });
    const began = Date.now();
    const { stdout } = await exported(castle, 'castle');
    expect(Date.now() - began).toBeLessThan(60_000);
    const { written } = JSON.parse(stdout) as Report;
    expect(written.filter(({ kind }) => kind === 'HubAutomation')).toHaveLength(2_000);
    const blueprints = Object.values(await contents(join(folder, 'castle'))).filter((text) =>
      text.includes('useBlueprint'),
    );
    expect(blueprints).toHaveLength(10);
  });

  test('a hub that does not answer, and a token that it rejects, are errors', async () => {
    const tokenFile = join(folder, 'wrong');
    await writeFile(tokenFile, 'wrong');
    const args = (url: string) => [
      'export',
      `--url=${url}`,
      `--token-file=${tokenFile}`,
      `--output=${folder}`,
    ];
    const nowhere = await kubectlHub(home.namespace, args('http://127.0.0.1:1'));
    expect(nowhere).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be reached') as string,
    });
    const [running] = processes;
    const rejected = await kubectlHub(home.namespace, args(running!.url));
    expect(rejected).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('rejected the token') as string,
    });
    expect(rejected.stderr).not.toContain('wrong');
  });
});
