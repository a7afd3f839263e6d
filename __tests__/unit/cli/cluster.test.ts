import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster } from '../../../cli/cluster';
import { processEnvironment } from '../../../cli/environment';
import { runProgram } from '../../../cli/program';
import { Terminal } from '../../../cli/terminal';
import { kinds } from '../../../operator/kinds';
import { ManualClock } from '../manual-clock';

test('the lists of all kinds share three connections: a handshake takes longer than a short list', async () => {
  const sockets = new Set<Socket>();
  let requests = 0;
  const server = createServer(({ socket }, response) => {
    sockets.add(socket);
    requests += 1;
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"items":[]}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  const kubeconfig = join(folder, 'config');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await writeFile(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'test', cluster: { server: address, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'test', user: {} }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      'current-context': 'test',
    }),
  );
  const cluster = Cluster.connect({ kubeconfig }, new ManualClock());
  try {
    await cluster.listAll();
    expect(requests).toBe(kinds.length);
    expect(sockets.size).toBe(3);
  } finally {
    cluster.close();
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  }
});

describe('a cluster that cannot be used', () => {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'))));
  afterEach(() => rm(folder, { recursive: true }));

  /** Runs a command with the environment of this process. */
  async function run(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<string> {
    const { HOME, KUBECONFIG } = process.env;
    delete process.env['KUBECONFIG'];
    Object.assign(process.env, env);
    let stderr = '';
    const terminal = new Terminal({
      stdout: { write: () => true },
      stderr: { write: (text) => (stderr += text) },
      env: {},
    });
    try {
      const environment = { ...processEnvironment(new AbortController().signal), terminal };
      expect(await runProgram('kubectl hub', args, environment)).toBe(2);
      return stderr;
    } finally {
      Object.assign(process.env, { HOME });
      if (KUBECONFIG === undefined) delete process.env['KUBECONFIG'];
      else process.env['KUBECONFIG'] = KUBECONFIG;
    }
  }
  const config = async (content: object): Promise<string> => {
    const path = join(folder, 'config');
    await writeFile(path, JSON.stringify(content));
    return path;
  };
  const named = {
    clusters: [{ name: 'lab', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'lab', user: {} }],
    contexts: [{ name: 'lab', context: { cluster: 'lab', user: 'lab' } }],
  };

  test('because there is no kubeconfig', async () => {
    expect(await run({ HOME: folder }, 'status')).toBe(
      `error: there is no kubeconfig: KUBECONFIG is not set, and ${folder}/.kube/config does not exist: name one with --kubeconfig, or set KUBECONFIG\n`,
    );
  });

  test('because the kubeconfig is empty, missing, or names no cluster', async () => {
    expect(await run({ KUBECONFIG: '/dev/null' }, 'status')).toContain(
      'cannot use the kubeconfig /dev/null: it is empty, or no kubeconfig: name another one with --kubeconfig',
    );
    expect(await run({}, 'status', '--kubeconfig', '/nowhere')).toMatch(
      /cannot use the kubeconfig \/nowhere: .*ENOENT.*: name another one/,
    );
    const file = await config(named);
    expect(await run({ KUBECONFIG: file }, 'status')).toContain(
      `the kubeconfig ${file} names no context: choose one with --context`,
    );
    const broken = await config({
      ...named,
      contexts: [{ name: 'lab', context: { cluster: 'x', user: 'lab' } }],
    });
    expect(await run({}, 'status', '--kubeconfig', broken, '--context', 'lab')).toContain(
      `the context lab of the kubeconfig ${broken} names no cluster of it`,
    );
  });

  test.each(['status', 'doctor'])('because no API server answers: %s says which one', async (command) => {
    const file = await config({ ...named, 'current-context': 'lab' });
    expect(await run({ KUBECONFIG: file }, command)).toMatch(
      new RegExp(
        `^error: the API server https://127.0.0.1:1 \\(context lab, kubeconfig ${file}\\) cannot be used: GET \\S+: ECONNREFUSED: check that it runs`,
      ),
    );
  });
});
