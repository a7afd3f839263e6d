import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GROUP_VERSION } from '../../../../operator/kinds/group';
import { provideHubSoftware } from '../../../../sandbox/hub-software';
import { BUNDLE } from '../../../cluster/command-line';
import { until } from '../../../unit/until';

// A home and tests that other people have written can reach nothing on the machine, and leave nothing behind.

let directory: string;
let python: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'confined-'));
  await Promise.all(['outside', 'temporary'].map((name) => mkdir(join(directory, name))));
  await writeFile(join(directory, 'outside', 'x.yaml'), 'initial: TOPSECRET\n');
  python = (await provideHubSoftware(() => undefined)).python;
});
afterAll(() => rm(directory, { recursive: true }));

const resource = (kind: string, spec: object) =>
  JSON.stringify({ apiVersion: GROUP_VERSION, kind, metadata: { name: 'villa' }, spec });

/** Starts the command for a home with this configuration and one case that begins with these steps. */
async function start(configuration: string, steps = '', head = ''): Promise<ChildProcess> {
  const home = join(directory, 'home.yaml');
  const test = join(directory, 'a.hubtest.yaml');
  await writeFile(
    home,
    [
      resource('Hub', { version: '2026.11.0', storage: {} }),
      resource('HubConfiguration', { hubRef: { name: 'villa' }, configuration }),
    ].join('\n---\n'),
  );
  await writeFile(
    test,
    `hubtest: v1\n${head}given: {text.a: ${'a'.repeat(60)}b}\ntests:\n  - name: a\n    steps:\n${steps}      - expect: {states: {input_text.x: "?"}}\n`,
  );
  const env = { ...process.env, SECRET_OF_CI: 'TOPSECRET', TMPDIR: join(directory, 'temporary') };
  return spawn(process.execPath, [BUNDLE, 'test', home, test, '--python', python], { env });
}

async function outputOf(child: ChildProcess): Promise<string> {
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (part: Buffer) => (output += part.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return `${output}exit ${code}`;
}

const initial = (value: string) => `input_text:\n  x:\n    initial: ${value}\n`;

test.each([
  [
    'the environment',
    () => initial('!env_var SECRET_OF_CI'),
    'no variable SECRET_OF_CI is in the environment',
  ],
  ['a file', () => initial(`!include ${directory}/outside/x.yaml`), 'outside/x.yaml'],
  [
    'a file, by an anchor',
    () => initial(`!include &a ${directory}/outside/x.yaml`),
    'line 3, column 14: Unable to read',
  ],
  ['a file, by a whole tag', () => initial(`!<!include> ${directory}/outside/x.yaml`), 'Unable to read'],
  [
    'a folder',
    () => `input_text: !include_dir_named ${directory}/outside\n`,
    "outside is outside of the hub's directory",
  ],
  [
    'a folder of packages',
    () => `homeassistant:\n  packages: !include_dir_named ../../../outside\n`,
    'outside of the hub',
  ],
])('a home does not read %s of the machine', async (_, configuration, message) => {
  const output = await outputOf(await start(configuration()));
  expect(output).not.toContain('TOPSECRET');
  expect(output).toContain(message);
  expect(output).toMatch(/exit 2$/);
});

const ENDLESS = `template:\n  - sensor:\n      - name: x\n        state: "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"\n`;

describe('no process and no file is left', () => {
  const folders = () => readdirSync(join(directory, 'temporary')).length;
  const working = async () => {
    const child = await start(ENDLESS);
    await until(() => folders() > 0);
    return child;
  };

  test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('after %s', async (signal) => {
    const child = await working();
    child.kill(signal);
    await once(child, 'close');
    await until(() => folders() === 0);
  });

  test('of a program that cannot handle signals, because it computes a large number', async () => {
    const child = await working();
    const python = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'));
    process.kill(python, 'SIGSTOP');
    child.kill('SIGTERM');
    await once(child, 'close');
    expect(folders()).toBe(0);
  });
});

test('a regular expression that never ends is a fault of its step', async () => {
  const output = await outputOf(
    await start(initial('"?"'), '      - expect: {states: {text.a: "/^(a+)+$/"}}\n'),
  );
  expect(output).toContain('a template or a regular expression has no end');
  expect(output).toContain('a.hubtest.yaml:6');
  expect(output).toMatch(/exit 1$/);
});

test('a start or a moment that is too far away is named', async () => {
  const output = await outputOf(await start(initial('"?"'), '      - at: 9000-01-01T00:00\n'));
  expect(output).toContain('9000-01-01T00:00:00 is more than 367 days away: write an earlier time.');
});

test('a mock of an action that does not exist in its domain is named', async () => {
  const output = await outputOf(
    await start(initial('"?"'), '', 'mock: {input_text.set_valu: {response: {}}}\n'),
  );
  expect(output).toContain(
    'mock has input_text.set_valu, which is no action of input_text: it has reload, set_value.',
  );
});
