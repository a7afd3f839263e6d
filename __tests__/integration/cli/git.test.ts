import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { HubClient } from '../../../operator/client/hub-client';
import { userAnnotations } from '../../../operator/kinds/annotations';
import { printDocument } from '../../../cli/yaml/print';
import { GROUP_VERSION } from '../../../operator/kinds/group';
import { freshNamespace, mustKubectl } from '../../cluster';
import { kubectlHub } from '../../cluster/command-line';
import { area, automation, floor, Home, integration, label, scene, zone } from '../../cluster/home';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator } from '../../cluster/operator';

let home: Home;
let client: HubClient;
let folder: string;

beforeAll(async () => {
  home = new Home(await freshNamespace('git'));
  folder = await mkdtemp(join(tmpdir(), 'git-'));
  await startTestOperator(home.namespace);
  await startHub(home, 'villa');
  client = await home.client('villa');
});
afterAll(() => rm(folder, { recursive: true }));

const run = (...args: string[]) => kubectlHub(home.namespace, args);
const file = async (name: string, ...objects: readonly object[]) => {
  const path = join(folder, name);
  await writeFile(path, objects.map((object) => stringify(object, { version: '1.1' })).join('---\n'));
  return path;
};
interface Diff {
  readonly kind: string;
  readonly name: string;
  readonly cluster?: { readonly action: string; readonly fields: readonly { field: string }[] };
  readonly hub?: { readonly action: string; readonly fields: readonly { field: string }[]; notes: string[] };
}
const diff = async (path: string) => {
  const { code, stdout, stderr } = await run('diff', '-f', path, '-o', 'json');
  return { code, stderr, diffs: (stdout === '' ? [] : JSON.parse(stdout)) as readonly Diff[] };
};

describe('kubectl hub diff', () => {
  const place = { latitude: '52.5', longitude: '13.4' };
  const resources = () => [
    floor('villa', 'attic', { name: 'Attic', level: 2 }),
    label('villa', 'night', { name: 'Night' }),
    area('villa', 'bath', { name: 'Bath', floorName: 'Attic', labels: ['Night'] }),
    zone('villa', 'work', { name: 'Work', ...place }),
    automation('villa', 'wake'),
    scene('villa', 'dusk'),
  ];

  test('says what will be created, and nothing after it was created', async () => {
    const path = await file('all.yaml', ...resources());
    const before = await diff(path);
    expect(before.diffs.map(({ name, cluster, hub }) => [name, cluster?.action, hub?.action])).toEqual([
      ['attic', 'create', 'create'],
      ['night', 'create', 'create'],
      ['bath', 'create', 'waits'],
      ['work', 'create', 'create'],
      ['wake', 'create', 'create'],
      ['dusk', 'create', 'create'],
    ]);
    expect(before.code).toBe(1);
    await home.apply(...resources());
    for (const { kind, metadata } of resources()) await home.ready(kind, metadata.name);
    expect(await diff(path)).toEqual({ code: 0, stderr: '', diffs: [] });
  });

  test('names the fields that change, in the cluster and in the hub, and changes nothing', async () => {
    const path = await file(
      'changed.yaml',
      floor('villa', 'attic', { name: 'Attic', level: 3 }),
      automation('villa', 'wake', { alias: 'Up', mode: 'restart' }),
      scene('villa', 'dusk', { entities: [{ entity_id: 'light.sofa', state: 'off' }] }),
    );
    const { code, diffs } = await diff(path);
    const fields = diffs.map(({ name, cluster, hub }) => [
      name,
      cluster!.fields.map(({ field }) => field),
      hub!.fields.map(({ field }) => field),
    ]);
    expect(fields).toEqual([
      ['attic', ['spec.level'], ['level']],
      ['wake', ['spec.alias', 'spec.mode'], ['alias', 'mode']],
      ['dusk', ['spec.entities[0].attributes', 'spec.entities[0].state'], ['entities']],
    ]);
    expect(code).toBe(1);
    expect((await diff(join(folder, 'all.yaml'))).diffs).toEqual([]);
  });

  test('says what the operator does not do, and what it does in addition', async () => {
    const dusk = scene('villa', 'dusk', { name: 'Dawn' });
    const annotations = { [userAnnotations.dryRun]: 'true' };
    const path = await file(
      'held.yaml',
      automation('villa', 'twin', { id: 'wake' }),
      floor('villa', 'attic', { name: 'Roof', level: 2 }),
      floor('villa', 'loft', { name: 'Attic' }),
      label('villa', 'evening', { name: 'Night' }),
      { ...dusk, metadata: { ...dusk.metadata, annotations } },
    );
    const { diffs } = await diff(path);
    expect(diffs.map(({ name, hub }) => [name, hub!.action, hub!.notes.join()])).toEqual([
      ['twin', 'refused', expect.stringContaining('HubAutomation wake has the id wake') as string],
      ['attic', 'update', ''],
      ['loft', 'waits', expect.stringContaining('belongs to HubFloor attic') as string],
      ['evening', 'refused', expect.stringContaining('HubLabel night owns the same object') as string],
      ['dusk', 'none', ''],
    ]);
  });

  test.each([
    [{ id: 'awake' }, 'create', 'The automation wake is removed: the id is awake now.'],
    [
      { id: 'awake', deletionPolicy: 'Orphan' },
      'create',
      'The automation wake stays in the hub beside awake.',
    ],
    [{ enabled: false }, 'update', 'It is switched off.'],
  ])('of an automation with %j it says: %s, %s', async (spec, action, note) => {
    const { diffs } = await diff(await file('wake.yaml', automation('villa', 'wake', spec)));
    expect(diffs).toMatchObject([{ hub: { action, notes: [note] } }]);
  });

  test('adopts an entry of an integration as the operator does, and names the answers that change', async () => {
    const evening = (name: string, after: string, spec: object = {}) => {
      const texts = { name: 'Evening', after_time: after, before_time: '22:00:00' };
      const configuration = Object.fromEntries(
        Object.entries(texts).map(([field, value]) => [field, { value }]),
      );
      return integration('villa', name, 'tod', { configuration, ...spec });
    };
    await home.apply(evening('evening', '17:00:00'));
    await home.ready('hubintegration', 'evening');
    const { diffs } = await diff(
      await file(
        'evening.yaml',
        evening('evening', '18:00:00', { title: 'Night', enabled: false }),
        evening('another', '17:00:00'),
      ),
    );
    expect(diffs).toMatchObject([
      {
        name: 'evening',
        hub: {
          action: 'update',
          fields: [{ field: 'title' }, { field: 'enabled' }],
          notes: ['The answers in configuration change: the hub’s forms are answered again.'],
        },
      },
      { name: 'another', hub: { action: 'create' } }, // the entry belongs to the first resource
    ]);
  });

  test('what the API server refuses is an error', async () => {
    const path = await file('refused.yaml', automation('villa', 'wake', { mode: 'twice' }));
    const { code, diffs } = await diff(path);
    expect(diffs).toMatchObject([{ cluster: { action: 'refused' } }]);
    expect(code).toBe(2);
  });

  test('values that look like secrets are masked', async () => {
    const actions = [{ action: 'notify.x', data: { message: 'm', password: 'hunter2' } }];
    const path = await file('secret.yaml', automation('villa', 'wake', { actions }));
    const { stdout } = await run('diff', '-f', path);
    expect(stdout).toContain('***');
    expect(stdout).not.toContain('hunter2');
  });
});

describe('kubectl hub pull', () => {
  test('an edit in the hub is copied into the file, and the next diff is empty', async () => {
    const path = join(folder, 'pulled.yaml');
    await writeFile(
      path,
      `# Morning.
apiVersion: ${GROUP_VERSION}
kind: HubAutomation
metadata: { name: early }
spec:
  hubRef: { name: villa }
  driftPolicy: Warn # edited in the browser
  alias: Early
  triggers:
    - { trigger: time, at: '06:30:00' } # weekdays
  actions:
    - action: light.turn_on
      target: { entity_id: light.sofa }
`,
    );
    await home.apply(
      automation('villa', 'early', {
        driftPolicy: 'Warn',
        alias: 'Early',
        triggers: [{ trigger: 'time', at: '06:30:00' }],
        actions: [{ action: 'light.turn_on', target: { entity_id: 'light.sofa' } }],
      }),
    );
    await home.ready('hubautomation', 'early');
    expect(await run('pull', 'haauto/early', '--write', path)).toMatchObject({
      code: 0,
      stdout: `HubAutomation early: ${path} has it as the hub does\n`,
    });
    const stored = (await client.entities.read('automation', 'early'))!;
    await client.rest.post('/api/config/automation/config/early', {
      ...stored,
      alias: 'Very early',
      actions: [...(stored['actions'] as object[]), { delay: { seconds: 5 } }],
    });
    await home.ready('hubautomation', 'early', { status: 'False', reason: 'DriftDetected' });
    const { code, stdout } = await run('pull', 'haauto/early', '--write', path);
    expect(stdout).toBe(`HubAutomation early: actions, alias changed in ${path}\n`);
    expect(code).toBe(0);
    const text = await readFile(path, 'utf8');
    expect(text).toContain('alias: Very early\n');
    expect(text).toContain("- { trigger: time, at: '06:30:00' } # weekdays");
    expect(text).toContain('    - delay:\n        seconds: 5\n');
    const { diffs } = await diff(path);
    expect(diffs).toMatchObject([{ cluster: { action: 'update' }, hub: { action: 'none' } }]);
  });

  test('a file that is older than the cluster, or contains another resource, is not reported as equal', async () => {
    const path = join(folder, 'older.yaml');
    const spec = { hubRef: { name: 'villa' }, level: 2, name: 'Attic' };
    const floor = { apiVersion: GROUP_VERSION, kind: 'HubFloor', metadata: { name: 'attic' }, spec };
    const inHub = (await run('pull', 'hafl/attic')).stdout;
    await writeFile(path, printDocument({ ...floor, spec: { ...spec, level: 1 } }));
    expect(await run('pull', 'hafl/attic', '--write', path)).toMatchObject({
      code: 0,
      stdout: `HubFloor attic: level changed in ${path}\n`,
    });
    expect(await readFile(path, 'utf8')).toBe(printDocument(floor));
    expect(inHub).toContain('level: 2');
    await writeFile(path, printDocument({ ...floor, metadata: { name: 'cellar' } }));
    expect(await run('pull', 'hafl/attic', '--write', path)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has no HubFloor attic: name the file that has it') as string,
    });
  });

  test('a file with line breaks of Windows and a text of 1 MiB is compared, and nothing but the changed field changes in it', async () => {
    const path = join(folder, 'windows.yaml');
    const spec = {
      hubRef: { name: 'villa' },
      driftPolicy: 'Warn',
      alias: 'Long',
      variables: { long: '0123456789abcde\n'.repeat(2 ** 16) },
      triggers: [{ trigger: 'time', at: '06:30:00' }],
      actions: [{ action: 'light.turn_on', target: { entity_id: 'light.sofa' } }],
    };
    const text = printDocument({
      apiVersion: GROUP_VERSION,
      kind: 'HubAutomation',
      metadata: { name: 'long' },
      spec,
    }).replaceAll('\n', '\r\n');
    await writeFile(path, text);
    await mustKubectl(['apply', '--server-side', `--filename=${path}`], { namespace: home.namespace });
    await home.ready('hubautomation', 'long');
    expect(await diff(path)).toEqual({ code: 0, stderr: '', diffs: [] });

    const stored = (await client.entities.read('automation', 'long'))!;
    expect(stored).toMatchObject({ variables: spec.variables });
    await client.rest.post('/api/config/automation/config/long', { ...stored, alias: 'Longer' });
    await home.ready('hubautomation', 'long', { status: 'False', reason: 'DriftDetected' });
    expect(await run('pull', 'haauto/long', '--write', path)).toMatchObject({
      code: 0,
      stdout: `HubAutomation long: alias changed in ${path}\n`,
    });
    expect(await readFile(path, 'utf8')).toBe(text.replace('alias: Long\r', 'alias: Longer\r'));
    const { diffs } = await diff(path);
    expect(diffs).toMatchObject([
      { cluster: { action: 'update', fields: [{ field: 'spec.alias' }] }, hub: { action: 'none' } },
    ]);
  });

  test('without a file it prints the resource as the hub has it', async () => {
    expect(await run('sync', 'hafl/attic')).toMatchObject({ code: 0 }); // sync sets an annotation
    const { stdout, code } = await run('pull', 'hafl/attic');
    expect(stdout).toBe(
      `apiVersion: ${GROUP_VERSION}\nkind: HubFloor\nmetadata:\n  name: attic\nspec:\n  hubRef:\n    name: villa\n  level: 2\n  name: Attic\n`,
    );
    expect(code).toBe(0);
    const [id] = [...(await client.registries.floor.entries()).keys()];
    await home.change('hubfloor', 'attic', { driftPolicy: 'Warn' });
    await home.ready('hubfloor', 'attic'); // otherwise the operator may revert the change first
    await client.connection.command('config/floor_registry/update', { floor_id: id!, level: 7 });
    await home.ready('hubfloor', 'attic', { status: 'False', reason: 'DriftDetected' });
    expect((await run('pull', 'hafl/attic')).stdout).toContain('level: 7\n');
  });

  test('an object that the hub does not have, and a kind without one, are errors', async () => {
    expect(await run('pull', 'hub/villa')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('nothing to pull') as string,
    });
    expect((await run('pull', 'haauto/nothing')).code).toBe(2);
  });
});
