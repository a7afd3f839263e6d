import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CustomResource } from '../../../operator/kinds/resource';
import type { ApiRequest } from '../../../operator/runtime/api-client';
import { shownBlueprint } from '../../../operator/sync/configuration/blueprint/shown';
import { blueprintHash } from '../../../operator/sync/configuration/blueprint/text-of';
import { FakeHub, json } from '../client/fake-hub';
import { CommandLine, merge, ofHub, resource } from './command-line';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

let folder: string;
let hub: FakeHub;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'diff-'));
  hub = await FakeHub.start();
  const night = { label_id: 'night', name: 'Night', color: null, icon: null, description: null };
  hub.onCommand = ({ message: { type }, succeed }) =>
    succeed(type.endsWith('/list') ? (type.includes('label') ? [night] : []) : undefined);
});
afterEach(async () => {
  await hub.close();
  await rm(folder, { recursive: true });
});

async function write(name: string, ...objects: readonly object[]): Promise<string> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, objects.map((each) => JSON.stringify(each)).join('\n---\n'));
  return path;
}

const external = (name: string, url: string) =>
  resource('Hub', name, { external: { url, tokenSecretRef: { name: 'token', key: 'token' } } });
const manifest = (kind: string, name: string, spec: object, metadata: object = {}) => ({
  apiVersion: 'hub-operator.dev/v1',
  kind,
  metadata: { name, ...metadata },
  spec,
});
const night = manifest('HubLabel', 'night', { ...ofHub('villa'), name: 'Night' });

/** A cluster whose API server stores nothing in a dry run. */
function cluster(...objects: readonly CustomResource[]): CommandLine {
  const line = new CommandLine(...objects);
  line.intercept = ({ method, path, query, body }: ApiRequest) => {
    if (path.endsWith('/secrets/token'))
      return { data: { token: Buffer.from('good-token').toString('base64') } };
    if (query?.['dryRun'] !== 'All') return undefined;
    if (method === 'POST') return body;
    const found = objects.find(({ metadata }) => path.endsWith(`/${metadata.name}`));
    const after = structuredClone(found) as unknown as Record<string, unknown>;
    merge(after, body as Record<string, unknown>);
    return after;
  };
  return line;
}

test('a resource is compared in the namespace of its file, as kubectl applies it there', async () => {
  const stored = resource('HubLabel', 'night', night.spec, { metadata: { namespace: 'attic' } });
  const line = cluster(stored);
  const path = await write('a.yaml', { ...night, metadata: { name: 'night', namespace: 'attic' } });
  expect(await line.run(`diff -f ${path}`)).toMatchObject({ code: 0 });
  const { code, stderr } = await line.run(`diff -n home -f ${path}`);
  expect(stderr).toContain('HubLabel night has the namespace attic, and -n is home: leave out -n');
  expect(code).toBe(2);
});

test('a resource without apiVersion is named, as kubectl refuses it', async () => {
  const path = await write('a.yaml', { ...night, apiVersion: undefined });
  const { code, stderr } = await cluster().run(`diff -f ${path}`);
  expect(stderr).toContain('HubLabel night has no apiVersion: write apiVersion: hub-operator.dev/v1');
  expect(code).toBe(2);
});

describe('the Hub of the resources', () => {
  const ofAttic = manifest('HubLabel', 'day', { ...ofHub('attic'), name: 'Day' });

  test('--hub compares the resources of this Hub alone', async () => {
    const path = await write('a.yaml', night, ofAttic);
    const { stdout, code } = await cluster().run(`diff --hub attic -f ${path}`);
    expect(stdout).toContain('HubLabel day');
    expect(stdout).toContain('1 resource compared, 1 would change something');
    expect(code).toBe(1);
  });

  test('--hub without a resource in the files is refused', async () => {
    const path = await write('a.yaml', night, ofAttic);
    expect(await cluster().run(`diff --hub cellar -f ${path}`)).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'error: the files have no resource of the Hub cellar, only of attic, villa: correct --hub, or name other files\n',
    });
  });

  test('--url is compared with the resources of one Hub', async () => {
    const path = await write('a.yaml', night, ofAttic);
    await writeFile(join(folder, 'token'), 'good-token');
    const words = `diff --url ${hub.url} --token-file ${join(folder, 'token')} -f ${path}`;
    expect((await cluster().run(words)).stderr).toBe(
      'error: --url is one hub, and the files have resources of the Hubs attic, villa: choose one with --hub\n',
    );
    expect(hub.requests).toEqual([]);
    expect(await cluster().run(`${words} --hub villa`)).toMatchObject({
      code: 0,
      stdout: '1 resource compared, 0 would change something\n',
    });
  });
});

describe('a resource that no Hub can use', () => {
  test.each([
    [{ name: 'Night' }, 'spec.hubRef: is required: add it.'],
    [
      { hubref: { name: 'villa' }, name: 'Night' },
      'spec.hubref: HubLabel has no such field: did you mean hubRef?',
    ],
    [{ hubRef: 'villa', name: 'Night' }, 'spec.hubRef: is a string and must be an object.'],
    [undefined, 'spec: is required: add it.'],
  ])('%j is named with its file, line and field', async (spec, message) => {
    const { spec: _, ...others } = night;
    const path = await write('a.yaml', spec ? { ...others, spec } : others);
    expect(await cluster().run(`diff -f ${path}`)).toEqual({
      code: 2,
      stdout: '',
      stderr: `error: ${path}:1: HubLabel night: ${message} kubectl hub validate lists all such faults\n`,
    });
  });

  test('for --url, where no API server refuses it, a fault of any field is named', async () => {
    const path = await write('a.yaml', { ...night, spec: { ...night.spec, nmae: 'Night' } });
    const { code, stderr } = await cluster().run(`diff --url ${hub.url} --token-file ${path} -f ${path}`);
    expect(stderr).toContain('HubLabel night: spec.nmae: HubLabel has no such field');
    expect(code).toBe(2);
    expect(hub.requests).toEqual([]);
  });
});

test('- stands for the standard input, such as of kubectl kustomize', async () => {
  const input = `kind: ConfigMap\napiVersion: v1\n---\n${JSON.stringify(night)}`;
  const { stdout, code } = await cluster().run('diff -f -', { input });
  expect(stdout).toContain('HubLabel night (stdin)\n  cluster: create');
  expect(code).toBe(1);
});

test('a namespace in a file cannot lead to another path of the API server', async () => {
  const line = cluster();
  const paths: string[] = [];
  const { intercept } = line;
  line.intercept = (request) => {
    paths.push(new URL(request.path, 'https://api.example').pathname);
    return intercept?.(request);
  };
  const namespace = 'x/../../../../../api/v1/namespaces/kube-system/secrets/admin?a=';
  await line.run(`diff -f ${await write('a.yaml', { ...night, metadata: { name: 'night', namespace } })}`);
  expect(paths).not.toEqual([]);
  for (const path of paths)
    expect(path).toMatch(/^\/apis\/hub-operator\.dev\/v1\/namespaces\/x%2F[^/]*\/hub/);
});

test('a name in a file cannot change the terminal', async () => {
  const path = await write('a.yaml', manifest('HubLabel', 'n\u001b[2J', night.spec));
  const { stdout } = await cluster().run(`diff -f ${path}`);
  expect(stdout).toContain('HubLabel n [2J');
  expect(stdout).not.toContain('\u001b');
});

test('a field that the file does not name stays, as at an apply', async () => {
  const label = resource('HubLabel', 'night', { ...night.spec, color: 'red', icon: 'mdi:moon' });
  const path = await write('a.yaml', night);
  const server = cluster(label);
  expect(await server.run(`diff -f ${path}`)).toMatchObject({ code: 0 });
  expect(server.client.writes.at(-1)).toMatchObject({
    method: 'PATCH',
    contentType: 'application/apply-patch+yaml',
    query: { dryRun: 'All', force: true, fieldManager: 'kubectl' },
  });
  const last = JSON.stringify({ ...night, spec: { ...night.spec, color: 'red' } });
  const client = { ...label, metadata: { ...label.metadata, annotations: { [LAST_APPLIED]: last } } };
  const { code, stdout } = await cluster(client).run(`diff -f ${path}`);
  expect(stdout).toContain('spec.color: "red" → nothing');
  expect(stdout).not.toContain('icon');
  expect(code).toBe(1);
});

test('the dry run uses the field manager that has applied the resource', async () => {
  const managedFields = [
    {
      manager: 'hub-operator-finalizer',
      operation: 'Apply',
      fieldsV1: { 'f:metadata': { 'f:finalizers': {} } },
    },
    { manager: 'kubectl-edit', operation: 'Update', fieldsV1: { 'f:spec': { 'f:color': {} } } },
    { manager: 'flux', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:name': {} } } },
    { manager: 'kubectl', operation: 'Apply', subresource: 'status', fieldsV1: { 'f:status': {} } },
  ];
  const line = cluster(resource('HubLabel', 'night', night.spec, { metadata: { managedFields } }));
  await line.run(`diff -f ${await write('a.yaml', night)}`);
  expect(line.client.writes.at(-1)!.query).toMatchObject({ fieldManager: 'flux' });
});

test('a hub that cannot be read does not end the comparison with the cluster and with other hubs', async () => {
  const line = cluster(
    external('villa', hub.url),
    external('cottage', 'http://127.0.0.1:1'),
    resource('HubLabel', 'day', { ...ofHub('cottage'), name: 'Day' }),
    resource('HubLabel', 'dusk', { ...ofHub('cottage'), name: 'Dusk' }),
  );
  hub.routes.set('GET /api/config', (_, response) => response.end('{}'));
  const day = manifest('HubLabel', 'day', { ...ofHub('cottage'), name: 'Morning' });
  const dusk = manifest('HubLabel', 'dusk', { ...ofHub('cottage'), name: 'Dusk' });
  const { code, stdout } = await line.run(`diff -f ${await write('a.yaml', day, dusk, night)}`);
  expect(stdout).toContain('spec.name: "Day" → "Morning"');
  expect(stdout).toMatch(/HubLabel night \(.*\)\n {2}cluster: create\n {2}hub: nothing changes\n/);
  expect(stdout.match(/The hub of the Hub cottage cannot be read: .*127\.0\.0\.1:1/g)).toHaveLength(1);
  const opened = line.client.requests.filter(({ path }) => path.endsWith('/hubs/cottage'));
  expect(opened).toHaveLength(1);
  expect(stdout).toContain('3 resources compared, 2 would change something');
  expect(code).toBe(2);
});

test('a kind whose objects the hub cannot show does not end the comparison with the others', async () => {
  hub.routes.set('GET /api/config', (_, response) => response.end('{}'));
  const { onCommand } = hub;
  hub.onCommand = (command) =>
    command.message.type.startsWith('config_entries/')
      ? command.fail('unknown_error', 'broken')
      : onCommand(command);
  const broken = ['mqtt', 'sun'].map((domain) =>
    manifest('HubIntegration', domain, { ...ofHub('villa'), domain, title: domain }),
  );
  const file = await write('a.yaml', ...broken, night);
  const { code, stdout } = await cluster(external('villa', hub.url)).run(`diff -f ${file}`);
  expect(stdout.match(/The hub of the Hub villa cannot be read: .*broken/g)).toHaveLength(1);
  expect(stdout).toMatch(/HubLabel night \(.*\)\n {2}cluster: create\n {2}hub: nothing changes\n/);
  expect(code).toBe(2);
});

test('a helper does not wait for a resource of another type of helpers that has the same id', async () => {
  const film = { id: 'film', name: 'Film', min: 0, max: 10, step: 1, mode: 'slider' };
  const { onCommand } = hub;
  hub.routes.set('GET /api/config', (_, response) => response.end('{}'));
  hub.routes.set('GET /api/components', json(200, ['input_number']));
  hub.onCommand = (command) =>
    command.message.type === 'input_number/list' ? command.succeed([film]) : onCommand(command);
  const boolean = resource(
    'HubHelper',
    'film-mode',
    { ...ofHub('villa'), type: 'boolean', name: 'Film' },
    { fields: { id: 'film' } },
  );
  const spec = { ...ofHub('villa'), type: 'number', name: 'Film', number: { min: 0, max: 20 } };
  const file = await write('a.yaml', manifest('HubHelper', 'film', spec));
  const { stdout } = await cluster(external('villa', hub.url), boolean).run(`diff -f ${file}`);
  expect(stdout).toContain('hub: update\n    max: hub has 10, resource says 20\n');
});

test('the folders in a directory are read with -R, as kubectl does', async () => {
  await write('labels/a.yaml', night);
  const line = cluster(resource('HubLabel', 'night', night.spec));
  const { code, stderr } = await line.run(`diff -f ${folder}`);
  expect(stderr).toContain('or read the folders in a directory with -R');
  expect(code).toBe(2);
  expect(await line.run(`diff -R -f ${folder}/`)).toMatchObject({ code: 0 });
  expect(await line.run(`diff -f ${folder}/labels/`)).toMatchObject({ code: 0 });
});

describe('a HubBlueprint', () => {
  const content = 'blueprint: { name: Lamp, domain: automation }\ntriggers: []\nactions: []\n';
  const lamp = { ...ofHub('villa'), domain: 'automation', path: 'me/lamp.yaml', content };
  const listed = { 'me/lamp.yaml': { metadata: { name: 'Lamp', input: {} } } };

  /** Runs the command for a hub with these blueprints and a resource with this status. */
  async function compared(blueprints: object, status: object, spec: object = {}): Promise<string> {
    hub.onCommand = ({ message: { type }, succeed }) =>
      succeed(type === 'blueprint/list' ? blueprints : { substituted_config: { triggers: [], actions: [] } });
    const stored = resource('HubBlueprint', 'lamp', { ...lamp, ...spec }, { fields: status });
    const line = cluster(external('villa', hub.url), stored);
    const file = await write('a.yaml', manifest('HubBlueprint', 'lamp', { ...lamp, ...spec }));
    return (await line.run(`diff -f ${file}`)).stdout;
  }

  test('is created, replaced after the operator has looked, or equal', async () => {
    expect(await compared({}, {})).toContain('hub: create');
    expect(await compared(listed, {})).toContain('The hub never shows the text of a blueprint');
    const { hash } = await shownBlueprint(
      { substitute: () => Promise.resolve({ triggers: [], actions: [] }) },
      'automation',
      'me/lamp.yaml',
      listed['me/lamp.yaml'],
    );
    const status = { appliedHash: blueprintHash(content, undefined), bodyHash: hash };
    expect(await compared(listed, status)).toContain('0 would change something');
    expect(await compared(listed, { ...status, bodyHash: 'sha256:00' })).toContain('the change is reverted');
    expect(await compared(listed, { ...status, bodyHash: 'sha256:00' }, { driftPolicy: 'Warn' })).toContain(
      'the change is kept',
    );
  });
});
