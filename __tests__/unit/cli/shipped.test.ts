import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { json as jsonOf } from 'node:stream/consumers';
import { parse } from 'yaml';
import cliPackage from '../../../cli/package.json';
import { CommandContext } from '../../../cli/command-context';
import { outputFormats } from '../../../cli/output';
import { createProgram } from '../../../cli/program';
import { userAnnotations } from '../../../operator/kinds/annotations';
import type { CustomResource } from '../../../operator/kinds/resource';
import type { ApiRequest } from '../../../operator/runtime/api-client';
import { ApiError } from '../../../operator/runtime/api-errors';
import { bundleOperator, repository } from '../../../sandbox/image/bundle';
import { operatorNode } from '../../../sandbox/image/operator-node';
import { type Answer, CONFIG, FakeHub, json, text } from '../client/fake-hub';
import { CommandLine, ofHub, resource } from './command-line';

/** Number of programs that run at the same time. */
const AT_ONCE = 3;
/** In milliseconds. */
const LONGEST_RUN = 500_000;

const AT = '2026-01-01T00:00:00.000000+00:00';

/** A hub with one label and one automation. */
async function startHub(isBusy: boolean): Promise<FakeHub> {
  const hub = await FakeHub.start();
  const run = {
    run_id: 'a',
    state: 'stopped',
    script_execution: 'finished',
    trigger: 'time',
    timestamp: { start: AT, finish: AT },
  };
  const label = { label_id: 'night', name: 'Night', color: null, icon: null, description: null };
  const answers: Readonly<Record<string, unknown>> = {
    'auth/current_user': { id: 'a', name: 'Owner', is_admin: true },
    'repairs/list_issues': { issues: [] },
    'persistent_notification/get': [],
    'integration/setup_info': [],
    'http/config': { stable: null, pending: null, default: null, active_config_type: 'default' },
    'system_log/list': [
      {
        first_occurred: 1,
        timestamp: 1,
        level: 'WARNING',
        name: 'a',
        message: ['b'],
        count: 1,
        source: ['c', 1],
        exception: '',
      },
    ],
    'blueprint/list': {},
    'config/entity_registry/list': [],
    'config/label_registry/list': [label],
    'trace/list': [run],
    'trace/get': { ...run, trace: { 'trigger/0': [{ path: 'trigger/0', timestamp: AT }] } },
    'backup/info': { state: 'idle' },
  };
  hub.onCommand = ({ message: { type }, succeed }) => {
    if (type in answers) succeed(answers[type]);
    else if (/registry\/list$|^zone\/list$|config_entries\/get$/.test(type)) succeed([]);
    else if (type === 'homeassistant/expose_new_entities/get') succeed({ expose_new: true });
    else succeed();
  };
  const noId = isBusy ? '[["automation.porch"], []]' : '[[], []]';
  const routes = {
    'GET /api/config': json(200, CONFIG),
    'GET /api/components': json(200, ['automation']),
    'GET /api/core/state': json(200, {
      state: 'RUNNING',
      recorder_state: { migration_in_progress: isBusy },
    }),
    'POST /api/config/core/check_config': json(200, { result: 'valid', errors: null, warnings: null }),
    'POST /api/services/homeassistant/restart': json(200, []),
    'POST /api/template': ((request, response) => {
      const answer = request.body.includes('now()') ? String(Date.now() / 1_000) : noId;
      text(200, answer)(request, response);
    }) satisfies Answer,
  };
  for (const [route, answer] of Object.entries(routes)) hub.routes.set(route, answer);
  return hub;
}

const externalHub = (name: string, { url }: { readonly url: string }, status: object = {}) =>
  resource('Hub', name, { external: { url, tokenSecretRef: { name: 'token', key: 'token' } } }, status);
const label = (name: string, hub: string, status: object = {}) =>
  resource('HubLabel', name, { ...ofHub(hub), name: 'Night' }, status);

/**
 * Serves a cluster for programs that run as processes, with the objects and answers of a {@link CommandLine}.
 */
async function serve(line: CommandLine): Promise<Server> {
  const answerOf = async (request: IncomingMessage): Promise<{ status: number; body: unknown }> => {
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost');
    const body = request.method === 'GET' ? undefined : await jsonOf(request);
    try {
      const given = { method: request.method, path: pathname, query: Object.fromEntries(searchParams), body };
      return { status: 200, body: await line.client.request(given as ApiRequest) };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { status: error.status, body: { reason: error.reason, message: error.message } };
    }
  };
  const server = createServer((request, response) => {
    void answerOf(request).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Answers requests for objects other than our resources. A dry run stores nothing. */
function otherAnswers(line: CommandLine, { path, query, body }: ApiRequest): unknown {
  if (query?.['dryRun'] !== undefined) {
    const { metadata, spec } = body as CustomResource;
    if (path.includes('configmaps')) return { metadata: { creationTimestamp: new Date().toISOString() } };
    if ((spec as { name?: unknown }).name === 'refused')
      throw new ApiError(422, 'Invalid', 'spec.name is refused');
    const stored = line.objects.find(({ metadata: { name } }) => name === metadata.name);
    return { ...stored, metadata: { ...stored?.metadata, ...metadata }, spec: { ...stored?.spec, ...spec } };
  }
  if (path.endsWith('/secrets/token'))
    return { data: { token: Buffer.from('good-token').toString('base64') } };
  if (path === '/version') return { major: '1', minor: '36', gitVersion: 'v1.36.0' };
  if (path.includes('customresourcedefinitions'))
    return { metadata: { name: 'a' }, spec: { versions: [{ name: 'v1', served: true }] } };
  if (path.endsWith('/deployments') || path.endsWith('/leases')) return { items: [] };
  if (path.includes('accessreviews')) return { status: { allowed: true } };
  return undefined;
}

/** Stands in for the operator after a command has changed a resource. */
function operate({ metadata, spec, status }: CustomResource): void {
  const conditions = status!.conditions!.filter(({ type }) => type !== 'Suspended');
  const observed = conditions.map((each) => ({ ...each, observedGeneration: metadata.generation }));
  const suspended = { ...observed[0]!, type: 'Suspended', status: 'True' as const };
  Object.assign(status!, {
    lastHandledReconcileAt: metadata.annotations?.[userAnnotations.reconcileAt],
    observedGeneration: metadata.generation,
    conditions: metadata.name.startsWith('slow')
      ? conditions
      : [...observed, ...(spec.suspend ? [suspended] : [])],
  });
}

let folder: string;
let kubeconfig: string;
let program: string;
let line: CommandLine;
let server: Server;
let hubs: readonly FakeHub[];
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shipped-'));
  await bundleOperator(repository, folder);
  program = await installed();
  const villa = await startHub(false);
  const busy = await startHub(true);
  hubs = [villa, busy];
  line = new CommandLine(
    externalHub('villa', villa),
    externalHub('busy', busy),
    externalHub(
      'sick',
      { url: 'http://127.0.0.1:1' },
      { status: 'False', reason: 'HubUnreachable', message: 'No answer.', isStalled: true },
    ),
    label('night', 'villa'),
    label('other', 'busy'),
    label('slow', 'busy'),
    label('broken', 'busy', { status: 'False', reason: 'RejectedByHub', message: 'No.', isStalled: true }),
    resource('HubAutomation', 'porch', { ...ofHub('villa'), alias: 'Porch' }),
  );
  line.intercept = (request) => otherAnswers(line, request);
  line.afterWrite = operate;
  server = await serve(line);
  kubeconfig = file('kubeconfig');
  const { port } = server.address() as AddressInfo;
  await writeFile(
    kubeconfig,
    JSON.stringify({
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a', namespace: 'home' } }],
      clusters: [
        { name: 'a', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } },
      ],
      users: [{ name: 'a', user: {} }],
    }),
  );
  const manifest = (name: string, text: string) => ({
    apiVersion: 'hub-operator.dev/v1',
    kind: 'HubLabel',
    metadata: { name },
    spec: { ...ofHub('villa'), name: text },
  });
  await writeFile(file('same.yaml'), JSON.stringify(manifest('night', 'Night')));
  await writeFile(file('changed.yaml'), JSON.stringify(manifest('night', 'Dusk')));
  await writeFile(file('refused.yaml'), JSON.stringify(manifest('night', 'refused')));
  await writeFile(file('configuration.yaml'), 'logger:\n');
  await writeFile(file('broken.yaml'), 'logger: [\n');
  await writeTests();
  await writeFile(
    file('invalid.yaml'),
    JSON.stringify({ ...manifest('night', 'Night'), spec: { hubRef: { name: 'villa' }, nam: 'a' } }),
  );
});

afterAll(async () => {
  server.close();
  await Promise.all(hubs.map((hub) => hub.close()));
  await rm(folder, { recursive: true });
});

/** Writes a test file, an invalid one, and stand-ins of Python with which the case passes or fails. */
async function writeTests(): Promise<void> {
  const test = (verb: string) => `hubtest: v1\ntests: [{name: a, steps: [${verb}: {only: true}]}]\n`;
  await writeFile(file('a.hubtest.yaml'), test('expect'));
  await writeFile(file('invalid.hubtest.yaml'), test('expects'));
  const fault = {
    kind: 'state',
    line: 2,
    at: '2026-01-15T12:00:00+01:00',
    message: 'a.b is off, expected on.',
  };
  for (const [name, faults] of Object.entries({ passes: [], fails: [fault] })) {
    const ended = {
      file: 0,
      case: 0,
      virtualSeconds: 1,
      realSeconds: 0.1,
      faults,
      warnings: [],
      withoutState: [],
    };
    const answers = [
      { type: 'hub', version: '2026.11.0', python: '3.14.2' },
      { type: 'case', ...ended },
    ];
    const lines = answers.map((each) => `echo '${JSON.stringify(each)}'`);
    await writeFile(file(name), ['#!/bin/sh', 'cat > /dev/null', ...lines, ''].join('\n'));
    await chmod(file(name), 0o755);
  }
}

/**
 * Packs the command line as npm does, and installs the archive in an empty folder without a registry.
 * @returns the path of the program
 */
async function installed(): Promise<string> {
  for (const name of [...cliPackage.files, 'LICENSE'])
    if (name === 'LICENSE') await copyFile(join(repository, name), file(name));
  await writeFile(file('package.json'), JSON.stringify(cliPackage));
  const npm = (...args: string[]) =>
    execFileSync('npm', [...args, '--offline', '--no-audit', '--no-fund', '--no-update-notifier'], {
      cwd: folder,
      stdio: 'pipe',
    });
  npm('pack', '--ignore-scripts');
  const target = file('installed');
  npm('install', `--prefix=${target}`, file(`kubectl-hub-${cliPackage.version}.tgz`));
  return join(target, 'node_modules', '.bin', 'kubectl-hub');
}

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(node: string, ...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { cwd: folder, timeout: LONGEST_RUN, env: { ...process.env, KUBECONFIG: kubeconfig } };
    execFile(node, [...args], options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr }),
    );
  });
}

/** For each command and each of its exit codes, a command line that exits with it. */
const exits: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  status: { 0: 'villa', 1: 'sick', 2: 'nothing' },
  doctor: { 0: 'villa', 1: 'sick', 2: 'nothing' },
  sync: { 0: 'halb/night', 1: 'halb/broken', 2: 'halb/nothing' },
  restart: { 0: 'villa --no-wait', 1: 'busy', 2: 'nothing' },
  suspend: { 0: 'halb/other', 1: 'halb/slow --timeout 1s', 2: 'halb/nothing' },
  resume: { 0: 'halb/night', 1: 'halb/broken', 2: 'halb/nothing' },
  diff: { 0: '-f same.yaml', 1: '-f changed.yaml', 2: '-f refused.yaml' },
  pull: { 0: 'halb/night', 2: 'halb/nothing' },
  logs: { 0: 'villa --system', 2: 'nothing --system' },
  trace: { 0: 'porch', 2: 'nothing' },
  test: {
    0: 'same.yaml a.hubtest.yaml --python ./passes',
    1: 'same.yaml a.hubtest.yaml --python ./fails',
    2: 'same.yaml invalid.hubtest.yaml',
  },
  validate: { 0: 'same.yaml', 1: 'invalid.yaml', 2: 'absent.yaml' },
  export: { 0: '--hub villa', 2: '--hub nothing', 3: '--hub busy' },
  convert: { 0: 'configuration.yaml', 2: 'absent', 3: 'broken.yaml' },
  entities: { 0: 'villa', 2: 'nothing' },
};

const formats = [...outputFormats];

/** The Node.js of this machine, and that of the image. */
const nodes = [...new Set([process.execPath, operatorNode().path])].map((path) => ({
  path,
  version: execFileSync(path, ['--version'], { encoding: 'utf8' }).trim(),
}));

test('each command is tried, with each of its exit codes', async () => {
  const all = await createProgram('kubectl hub', new CommandContext(new CommandLine().environment()));
  const withForm = all.commands.filter(({ options }) => options.some(({ argChoices }) => argChoices));
  expect(Object.keys(exits).sort()).toEqual(withForm.map((each) => each.name()).sort());
});

describe.each(nodes)('the package for npm, installed without a registry, on Node.js $version', (node) => {
  test.each(Object.keys(exits))('%s exits and prints its result in each form', async (command) => {
    const tries = Object.entries(exits[command]!).flatMap(([code, args]) =>
      formats.map((form) => ({ code: Number(code), form, args: args.split(' ') })),
    );
    const next = async (): Promise<void> => {
      for (let each = tries.shift(); each; each = tries.shift()) {
        const { code, form, args } = each;
        const own = [
          '-o',
          form,
          ...(['export', 'convert'].includes(command) ? ['--to', `${command}ed-${form}-${code}`] : []),
        ];
        const result = await run(node.path, program, command, ...args, ...own);
        readResult(form, result);
        // The error has the whole output, which explains the unexpected exit code.
        if (result.code !== code) throw new Error(`${command} ${args.join(' ')}: ${inspect(result)}`);
        // Errors are on standard error, results on standard output.
        if (code === 2 && result.stdout === '') expect(result.stderr).toMatch(/^error: /);
        else if (code !== 1 || result.stderr === '') expect(result.stdout).not.toBe('');
        expect(result.stderr).not.toContain('fault of the program');
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
  });

  test.each([['--help'], ['--version'], ['completion bash']])('%s', async (args) => {
    expect(await run(node.path, program, ...args.split(' '))).toMatchObject({ code: 0, stderr: '' });
  });
});

/** Checks that a result printed as data can be parsed. */
function readResult(form: string, { stdout }: Ran): void {
  if (form === 'table' || stdout === '') return;
  const answer: unknown = form === 'json' ? JSON.parse(stdout) : parse(stdout);
  if (typeof answer !== 'object' || answer === null) throw new Error(`this is no ${form}: ${stdout}`);
}

test('the operator’s program runs the same commands', () => {
  const args = [file('operator.cjs'), 'validate', '-o', 'yaml', file('same.yaml')];
  const ran = spawnSync(operatorNode().path, args, { encoding: 'utf8' });
  expect(ran).toMatchObject({ status: 0, stdout: 'checked: 1\ntestFiles: 0\nfindings: []\n', stderr: '' });
});
