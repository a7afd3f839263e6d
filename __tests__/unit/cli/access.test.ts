import dns from 'node:dns';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../operator/base/clock';
import { Cluster, runsInside } from '../../../cli/cluster';
import { processEnvironment } from '../../../cli/environment';
import { openHub } from '../../../cli/hub/access';
import { runProgram } from '../../../cli/program';
import { API_GROUP } from '../../../operator/kinds/group';
import { FakeHub, json, text } from '../client/fake-hub';
import { until } from '../until';
import { CommandLine, forbidden, ofHub, resource } from './command-line';
import { isAlive } from '../../is-alive';

const TOKEN = 'good-token';
const real = { lookup: dns.lookup, kubectl: process.env['KUBECTL'] };

/** An unknown server in the user's network. The name server there resolves all Service names to it. */
let stranger: FakeHub;
/** The hub in the cluster. */
let hub: FakeHub;
let folder: string;

beforeEach(async () => {
  [stranger, hub, folder] = await Promise.all([
    FakeHub.start(),
    FakeHub.start(),
    mkdtemp(join(tmpdir(), 'kubectl-')),
  ]);
  jest.spyOn(dns, 'lookup').mockImplementation(((host: string, options: unknown, callback: unknown) => {
    const name = host.endsWith('.svc') ? '127.0.0.1' : host;
    return (real.lookup as (...args: unknown[]) => void)(name, options, callback);
  }) as typeof dns.lookup);
});

afterEach(async () => {
  jest.restoreAllMocks();
  if (real.kubectl === undefined) delete process.env['KUBECTL'];
  else process.env['KUBECTL'] = real.kubectl;
  await Promise.all([stranger.close(), hub.close(), rm(folder, { recursive: true })]);
});

async function kubectlIs(script: string): Promise<void> {
  process.env['KUBECTL'] = join(folder, 'kubectl');
  await writeFile(process.env['KUBECTL'], `#!/bin/sh\necho "$@" >> ${folder}/asked\n${script}\n`, {
    mode: 0o755,
  });
}

const asked = () => readFile(join(folder, 'asked'), 'utf8');
/** Makes kubectl refuse a port-forward, like that of a user without the right. */
const refuse = () => kubectlIs('echo "Error from server (Forbidden): pods is forbidden" >&2; exit 1');
/** Makes kubectl forward to the hub in the cluster. */
const forward = () => kubectlIs(`echo "Forwarding from 127.0.0.1:${hub.port} -> 8123"; exec sleep 60`);

function commandLine(url: string): CommandLine {
  const villa = resource('Hub', 'villa', {}, { fields: { url } });
  const line = new CommandLine(villa, resource('HubAutomation', 'porch', ofHub('villa')));
  line.intercept = ({ path }) => {
    if (path.endsWith('/secrets/villa-api-token'))
      return { data: { token: Buffer.from(TOKEN).toString('base64') } };
    if (path.includes(API_GROUP) || path.includes('/secrets/')) return undefined;
    throw forbidden();
  };
  return line;
}

const ofService = () => `http://villa.home.svc:${stranger.port}`;

/** Runs a command as the process does, except for its cluster. */
async function run(words: string) {
  const line = commandLine(ofService());
  const { readHub, readOccupation } = processEnvironment(new AbortController().signal);
  const environment = { ...line.environment(), clock: systemClock, readHub, readOccupation };
  const code = await runProgram('kubectl hub', words.split(' '), environment);
  return { code, stdout: line.stdout, stderr: line.stderr };
}

function expectNothingSentTo({ requests, connects, commands }: FakeHub): void {
  expect(requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([]);
  expect([connects, commands]).toEqual([0, []]);
}

describe('openHub', () => {
  test.each([
    'doctor',
    'export --hub villa --to FOLDER/files',
    'diff -f FOLDER/porch.yaml',
    'pull haauto/porch',
    'trace porch',
    'logs villa --system',
    'restart villa',
  ])(
    '%s gives no token to an unknown server that answers under the name of the Service, and says what is needed',
    async (command) => {
      await refuse();
      stranger.routes.set('GET /api/config', json(200, {}));
      await writeFile(
        join(folder, 'porch.yaml'),
        JSON.stringify({
          apiVersion: 'hub-operator.dev/v1',
          kind: 'HubAutomation',
          metadata: { name: 'porch' },
          spec: { ...ofHub('villa'), triggers: [], actions: [] },
        }),
      );
      const { code, stdout, stderr } = await run(command.replace('FOLDER', folder));
      expectNothingSentTo(stranger);
      const told = stdout + stderr;
      expect(told).toContain(
        'kubectl port-forward service/villa fails: Error from server (Forbidden): pods is forbidden',
      );
      expect(told).toContain('create pods/portforward in the namespace home');
      expect(told).toContain('--url with --token-file');
      expect(code).toBe(command === 'doctor' ? 1 : 2);
    },
  );

  test('a hub in the cluster is reached over the port that kubectl forwards', async () => {
    await forward();
    hub.onCommand = ({ message, succeed }) => succeed(message.type === 'trace/list' ? [] : undefined);
    expect(await run('trace porch')).toMatchObject({
      code: 0,
      stderr: 'The hub remembers no run of HubAutomation porch since its start.\n',
    });
    expect(await asked()).toBe(`--namespace=home port-forward service/villa :${stranger.port}\n`);
    expect(hub.connects).toBe(1);
    expectNothingSentTo(stranger);
  });

  test.each([
    ['', ['early', 'late']],
    [' --tail 0', []],
    [' --tail 1', ['late']],
    [' --tail 5', ['early', 'late']],
  ])('logs --system%s shows the last records: %j', async (option, shown) => {
    await forward();
    const record = (name: string) => ({
      name,
      message: ['m'],
      level: 'ERROR',
      source: ['a.py', 1],
      timestamp: 1,
      exception: '',
      count: 1,
      first_occurred: 1,
    });
    hub.onCommand = ({ message, succeed }) =>
      succeed(message.type === 'system_log/list' ? [record('late'), record('early')] : undefined);
    const { code, stdout } = await run(`logs villa --system${option} -o json`);
    expect((JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)).toEqual(shown);
    expect(code).toBe(0);
  });

  test('another program behind the forwarded port gets no token', async () => {
    await forward();
    hub.routes.set('GET /manifest.json', json(200, { name: 'A printer' }));
    expect(await run('trace porch')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not a hub') as string,
    });
    expect(hub.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    expect(hub.connects).toBe(0);
  });

  const open = async (url: string, isInside: boolean) => {
    const { client, namespace } = { ...commandLine(url), namespace: 'home' };
    return openHub(new Cluster(client, namespace, {}, isInside), 'villa', systemClock);
  };

  test('in a pod of the cluster the address of the Service is used, and kubectl when no hub answers there', async () => {
    await forward();
    const { client, close } = await open(ofService(), true);
    expect(client.rest.address.url).toBe(ofService());
    close();
    stranger.routes.set('GET /manifest.json', text(200, '<html>Log in to the network</html>', 'text/html'));
    const other = await open(ofService(), true);
    expect(other.client.rest.address.url).toBe(`http://127.0.0.1:${hub.port}`);
    other.close();
    await refuse();
    await expect(open(ofService(), true)).rejects.toThrow(
      /^the hub cannot be reached: an answer is not JSON, and kubectl port-forward service\/villa fails: /,
    );
  });

  /** How many listeners wait for the end of this process. */
  const listeners = () =>
    ['exit', 'SIGINT', 'SIGTERM', 'SIGHUP'].map((each) => process.listenerCount(each as 'exit'));

  test.each([
    ['SIGINT', []],
    ['SIGTERM', [[process.pid, 'SIGTERM']]],
    ['SIGHUP', [[process.pid, 'SIGHUP']]],
  ] as const)('%s ends kubectl before it ends the command', async (signal, ends) => {
    await kubectlIs(
      `echo $$ > ${folder}/pid; echo "Forwarding from 127.0.0.1:${hub.port} -> 8123"; exec sleep 60`,
    );
    const before = listeners();
    const { client } = await open(ofService(), false);
    const pid = Number(await readFile(join(folder, 'pid'), 'utf8'));
    const kill = jest.spyOn(process, 'kill').mockImplementation(() => true);
    process.emit(signal, signal);
    expect(kill.mock.calls).toEqual(ends);
    kill.mockRestore();
    await until(() => !isAlive(pid));
    expect(listeners()).toEqual(before);
    client.close();
  });

  test('a kubectl that has ended leaves no listener: doctor reads many hubs', async () => {
    await refuse();
    const before = listeners();
    await expect(open(ofService(), false)).rejects.toThrow('pods is forbidden');
    expect(listeners()).toEqual(before);
  });

  test('a hub of a sandbox is a program of this machine, and needs no kubectl', async () => {
    await refuse();
    const { client, close } = await open(hub.url, false);
    expect(client.rest.address.url).toBe(hub.url);
    close();
  });

  test.each(['http://localhost:1', 'http://127.0.0.1.home.svc:1', 'http://192.0.2.7:8123', 'http://[::2]:1'])(
    '%s is no address of this machine',
    async (url) => {
      await forward();
      const { client, close } = await open(url, false);
      expect(client.rest.address.url).toBe(`http://127.0.0.1:${hub.port}`);
      close();
    },
  );
});

describe('runsInside', () => {
  test.each([
    [true, 'https://10.96.0.1:443', '10.96.0.1'],
    [true, 'https://[fd00::1]:443', 'fd00::1'],
    [false, 'https://10.96.0.1:443', undefined],
    [false, 'https://cluster.example:6443', '10.96.0.1'],
    [false, undefined, '10.96.0.1'],
  ])('is %s for the API server %s where KUBERNETES_SERVICE_HOST is %s', (expected, server, host) => {
    expect(runsInside(server, { KUBERNETES_SERVICE_HOST: host })).toBe(expected);
  });
});
