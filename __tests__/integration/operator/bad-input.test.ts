import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle, operatorCommand } from '../../../sandbox/operator-process';

// An operator that cannot start gives the reason in one sentence, and exits with an error code.

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bad-input-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function run(
  environment: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<{ code: number; stderr: string }> {
  const [program, ...flags] = operatorCommand();
  const env = { KUBECONFIG: process.env['HUB_SANDBOX_OPERATOR_KUBECONFIG']!, HTTP_PORT: '0', ...environment };
  return new Promise((resolve) => {
    execFile(program, [...flags, bundle, ...args], { env, timeout: 240_000 }, (error, _, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stderr }),
    );
  });
}

async function file(content: string): Promise<string> {
  const path = join(directory, 'kubeconfig');
  await writeFile(path, content);
  return path;
}

const PROXIED = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1', 'proxy-url': 'http://proxy:8080' } }],
  users: [{ name: 'c', user: {} }],
  contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
  'current-context': 'c',
});

describe('bad input of the operator', () => {
  test.each([
    [{ HTTP_PORT: 'http' }, 'hub-operator: HTTP_PORT=http: a whole number from 0 to 65535 is accepted\n'],
    [{ WORKERS: '0' }, 'hub-operator: WORKERS=0: a whole number from 1 to 256 is accepted\n'],
    [{ LEADER_ELECTION: 'maybe' }, 'hub-operator: LEADER_ELECTION=maybe: true or false is accepted\n'],
  ])('a setting with an invalid value: %j', async (environment, stderr) => {
    expect(await run(environment)).toEqual({ code: 1, stderr });
  });

  test('a setting of the sandbox, which the shipped program does not have', async () => {
    const { code, stderr } = await run({}, '--hub-url-annotation=example.org/url');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^hub-operator: Unknown option '--hub-url-annotation'/);
  });

  test('a flag overrides the environment, and is named when it is wrong', async () => {
    expect(await run({ LOG_LEVEL: 'info' }, '--log-level=loud')).toEqual({
      code: 1,
      stderr: 'hub-operator: --log-level=loud: one of debug, info, warn, error is accepted\n',
    });
  });

  test('a flag that does not exist is named, and those that do are listed', async () => {
    const { code, stderr } = await run({}, '--nonsense');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^hub-operator: .*'--nonsense'.*\n/);
    expect(stderr).toContain('--watch-namespaces');
  });

  test('a port that is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      expect(await run({ HTTP_PORT: String(port), HTTP_ADDRESS: '127.0.0.1' })).toEqual({
        code: 1,
        stderr: `hub-operator: cannot listen on port ${port}: it is in use; choose another with --http-port, or 0 for a free one\n`,
      });
    } finally {
      server.close();
    }
  });

  test.each([
    ['is not there', () => Promise.resolve('/nowhere/kubeconfig'), /\/nowhere\/kubeconfig/],
    ['is no YAML', () => file('clusters: [\n'), /cannot read/],
    ['is empty', () => file(''), /cannot read/],
    ['names no cluster', () => file('apiVersion: v1\nkind: Config\n'), /names no cluster/],
    ['leads through a proxy', () => file(PROXIED), /the proxy-url http:\/\/proxy:8080, which .* not support/],
  ])('a kubeconfig that %s', async (_, path, complaint) => {
    const { code, stderr } = await run({ KUBECONFIG: await path() });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^hub-operator: [^\n]*\n$/);
    expect(stderr).toMatch(complaint);
  });
});
