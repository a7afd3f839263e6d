import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { GROUP_VERSION } from '../../../../operator/kinds/group';
import { provideHubSoftware } from '../../../../sandbox/hub-software';
import { repository } from '../../../../sandbox/image/bundle';
import { BUNDLE } from '../../../cluster/command-line';

// `kubectl hub test` as it ships, with the Home Assistant of the sandbox.

let directory: string;
let python: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hub-test-'));
  python = (await provideHubSoftware(() => undefined)).python;
});
afterAll(() => rm(directory, { recursive: true }));

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command in the directory, without the Python of a clone and without a container engine. */
function run(...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const env = {
      ...process.env,
      PATH: dirname(process.execPath),
      HUB_OPERATOR_CACHE: join(directory, 'cache'),
    };
    const options = { cwd: directory, env, maxBuffer: 64 * 1_024 * 1_024 };
    execFile(process.execPath, [BUNDLE, 'test', ...args], options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr }),
    );
  });
}

const tested = (...args: readonly string[]) => run(...args, '--python', python);

async function written(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  }
}

const resource = (kind: string, name: string, spec: object) =>
  JSON.stringify({
    apiVersion: GROUP_VERSION,
    kind,
    metadata: { name, namespace: 'home' },
    spec: { ...(kind !== 'Hub' && { hubRef: { name: 'villa' } }), ...spec },
  });

const hub = resource('Hub', 'villa', {
  version: '2026.11.0',
  timezone: 'Europe/Berlin',
  storage: {},
  bootstrap: { location: { latitude: '52.52', longitude: '13.405' } },
});
const configuration = resource('HubConfiguration', 'villa', {
  configuration: 'input_boolean:\n  film:\n',
});
const hall = resource('HubAutomation', 'hall', {
  alias: 'Hall light',
  triggers: [
    { trigger: 'state', entity_id: 'binary_sensor.hall', to: 'on', id: 'on' },
    { trigger: 'state', entity_id: 'binary_sensor.hall', to: 'off', for: { minutes: 5 }, id: 'off' },
  ],
  conditions: [{ condition: 'state', entity_id: 'input_boolean.film', state: 'off' }],
  actions: [
    {
      choose: [
        {
          conditions: [{ condition: 'trigger', id: 'on' }],
          sequence: [
            { action: 'light.turn_on', target: { entity_id: 'light.hall' }, data: { brightness_pct: 40 } },
          ],
        },
      ],
      default: [{ action: 'light.turn_off', target: { entity_id: 'light.hall' } }],
    },
  ],
});
const home = [hub, configuration, hall].join('\n---\n');

const passing = `hubtest: v1
start: 2026-11-02T19:00
given:
  binary_sensor.hall: off
  light.hall: off
tests:
- name: motion lights the hall
  steps:
  - set: {binary_sensor.hall: on}
  - expect:
      calls: [{action: light.turn_on, entity: light.hall, data: {brightness_pct: 40}, by: automation.hall_light}]
      only: true
      states: {light.hall: on}
- name: five minutes after motion the hall is dark
  steps:
  - set: {binary_sensor.hall: on}
  - set: {binary_sensor.hall: off}
  - expect: {none: [light.turn_off], within: 4m58s}
  - expect: {calls: [light.turn_off], within: 3s}
`;
const failing = `hubtest: v1
start: 2026-11-02T19:00
given: {binary_sensor.hall: off, light.hall: off}
tests:
- name: the hall stays dark
  steps:
  - set: {binary_sensor.hall: on}
  - expect: {none: [light.turn_on], within: 1m}
`;

const casesOf = (count: number) =>
  Array.from(
    { length: count },
    (_, index) => `- name: case ${index}\n  steps:\n  - advance: 5m\n  - expect: {none: [a.b]}\n`,
  ).join('');

describe('kubectl hub test', () => {
  test('runs the cases of a home, and exits with 0', async () => {
    await written({
      'one/home.yaml': home,
      'one/tests/a.hubtest.yaml': passing,
      'one/.sourceignore': 'tests/',
    });
    const { code, stdout, stderr } = await tested('one');
    expect(stderr).toBe('');
    expect(stdout.replace(/\d[\d. a-z]*? in [\d.]+ s/g, 'T in T')).toMatch(
      /^Home Assistant \S+, Hub home\/villa \(Europe\/Berlin\): 1 automation, 0 scripts, 0 scenes\none\/tests\/a\.hubtest\.yaml\n {2}ok {4}motion lights the hall {2}T in T\n {2}ok {4}five minutes after motion the hall is dark {2}T in T\n2 passed, 0 failed: .*\n$/,
    );
    expect(code).toBe(0);
  });

  test('says what failed, when, by which automation and where, and exits with 1', async () => {
    await written({ 'two/home.yaml': home, 'tests/b.hubtest.yaml': failing });
    const { code, stdout } = await tested('two');
    expect(stdout).toContain('  FAIL  the hall stays dark');
    expect(stdout).toMatch(
      /\n {8}Mon 2 Nov 19:01:00 {2}Unexpected call: light\.turn_on of light\.hall by automation\.hall_light\. {2}tests\/b\.hubtest\.yaml:8\n {10}seen {2}Mon 2 Nov 19:00:00 {2}light\.turn_on light\.hall \{brightness_pct: 40\} by automation\.hall_light\n/,
    );
    expect(stdout).toContain('0 passed, 1 failed');
    expect(code).toBe(1);
    await rm(join(directory, 'tests'), { recursive: true });
  });

  test('prints coverage with the paths that never ran, and fails below a limit', async () => {
    await written({ 'three/home.yaml': home, 'a.hubtest.yaml': passing });
    const { code, stdout } = await tested('three', 'a.hubtest.yaml', '--min-coverage', '100');
    const place = (text: string) => `three/home.yaml:${home.slice(0, home.indexOf(text)).split('\n').length}`;
    expect(stdout).toContain('% ');
    expect(stdout).toMatch(/conditions\[0\] was never false/);
    expect(stdout).toContain(place('Hall light'));
    expect(stdout).toContain('error: ');
    expect(code).toBe(1);
    expect((await tested('three', 'a.hubtest.yaml', '--min-coverage', '50')).code).toBe(0);
  });

  test('writes a timeline, JSON, and a report that a parser of XML reads', async () => {
    await written({ 'four/home.yaml': home, 'a.hubtest.yaml': passing });
    const control = failing.replace('the hall stays dark', '"<&\\"\\u0001\\ud800\\uffff>"');
    await written({ 'b.hubtest.yaml': control });
    const { code, stdout } = await tested(
      ...['four', 'a.hubtest.yaml', 'b.hubtest.yaml', '--timeline', '-o', 'json', '--junit', 'report.xml'],
    );
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({
      summary: { passed: 2, failed: 1, refused: 0 },
      hub: { name: 'villa', namespace: 'home', timezone: 'Europe/Berlin' },
      cases: [
        { name: 'motion lights the hall', passed: true },
        {},
        { passed: false, faults: [{ kind: 'unexpected-call', line: 8 }] },
      ],
    });
    expect(result.cases[0].timeline).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'call', action: 'light.turn_on', by: 'automation.hall_light' }),
      ]),
    );
    expect(code).toBe(1);
    const parse =
      'import sys, xml.etree.ElementTree as e; r = e.parse("report.xml").getroot(); print([len(r), len(r.findall(".//testcase")), len(r.findall(".//failure")), len(r.findall(".//system-out"))])';
    expect(execFileSync(python, ['-I', '-c', parse], { cwd: directory, encoding: 'utf8' })).toBe(
      '[2, 3, 1, 3]\n',
    );
    const report = await readFile(join(directory, 'report.xml'), 'utf8');
    expect(report).toContain('19:00:00  automation.hall_light calls light.turn_on light.hall');
  });

  test('runs only the cases whose name matches', async () => {
    await written({ 'five/home.yaml': home, 'a.hubtest.yaml': passing });
    const { stdout } = await tested('five', 'a.hubtest.yaml', '--only', '^motion');
    expect(stdout).toContain('1 passed, 0 failed');
    const none = await run('five', 'a.hubtest.yaml', '--only', 'nothing');
    expect(none).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('no case has nothing in its name: 2 cases') as string,
    });
  });

  test('a definition that the hub does not load is named with its file, and exits with 2', async () => {
    const wrong = resource('HubAutomation', 'wrong', {
      alias: 'Another name',
      triggers: [{ trigger: 'device', device_id: 'abc', domain: 'mqtt', type: 'x', subtype: 'y' }],
      actions: [],
    });
    await written({ 'six/home.yaml': home, 'six/wrong.yaml': wrong, 'a.hubtest.yaml': passing });
    const { code, stdout, stderr } = await tested('six', 'a.hubtest.yaml');
    expect(stdout + stderr).toMatch(
      /six\/wrong\.yaml:1: error: the hub does not load automation\.another_name: /,
    );
    expect(stdout + stderr).not.toContain('Traceback');
    expect(code).toBe(2);
  });

  test('an invalid test file is found before Python starts', async () => {
    await written({ 'seven/home.yaml': home, 'c.hubtest.yaml': passing.replace('- expect:', '- expects:') });
    const table = await run('seven', 'c.hubtest.yaml', '--python', '/nowhere');
    expect(table).toEqual({
      code: 2,
      stdout: expect.stringMatching(
        /^c\.hubtest\.yaml:10: error: test “motion lights the hall”: tests\[0\]\.steps\[1\]\.expects: There is no such field here: did you mean expect\?\n/,
      ) as string,
      stderr: '',
    });
    const json = await run('seven', 'c.hubtest.yaml', '-o', 'json');
    expect(JSON.parse(json.stdout)).toMatchObject({ findings: [{ line: 10, severity: 'error' }] });
  });

  test('an error in a resource is found before Python starts', async () => {
    await written({ 'eight/home.yaml': home.replace('"triggers"', '"trigger"'), 'a.hubtest.yaml': passing });
    const { code, stdout } = await run('eight', 'a.hubtest.yaml', '--python', '/nowhere');
    expect(stdout).toMatch(
      /^eight\/home\.yaml:\d+: error: HubAutomation home\/hall: spec\.trigger: .*did you mean triggers\?/m,
    );
    expect(code).toBe(2);
  });

  test('helpers that the hub would lose are found before Python starts', async () => {
    const bad = [
      resource('HubHelper', 'day', {
        name: 'Day',
        type: 'datetime',
        datetime: { date: true, initial: '2026-02-30' },
      }),
      resource('HubHelper', 'range', { name: 'Range', type: 'number', number: { min: 5, max: 1 } }),
    ];
    await written({
      'helpers/home.yaml': [home, ...bad].join('\n---\n'),
      'h.hubtest.yaml': passing,
    });
    const { code, stdout, stderr } = await run('helpers', 'h.hubtest.yaml', '--python', '/nowhere');
    expect(stdout).toMatch(
      /^helpers\/home\.yaml:\d+: error: HubHelper home\/day: spec\.datetime\.initial: there is no day 2026-02-30\./m,
    );
    expect(stdout).toMatch(
      /^helpers\/home\.yaml:\d+: error: HubHelper home\/range: spec\.number\.max: max must be greater than min/m,
    );
    expect([code, stderr]).toEqual([2, '']);
  });

  test.each([
    ['a path that does not exist', ['nowhere'], 'there is no such file or directory'],
    ['no Python', ['nine'], 'no Python with Home Assistant was found: name the Python'],
    ['a Python that does not exist', ['nine', '--python', '/nowhere'], 'there is no program /nowhere'],
    ['a program that is no Python', ['nine', '--python', process.execPath], 'ended with the exit code'],
    [
      'a report in no folder',
      ['nine', '--junit', 'no/r.xml', '--python', 'PYTHON'],
      'there is no such folder',
    ],
    ['a report in a folder', ['nine', '--junit', '.', '--python', '/nowhere'], 'it is a folder'],
    [
      'another version',
      ['nine', '--hub-version', '2025.11.0', '--python', 'PYTHON'],
      'and --hub-version is 2025.11.0',
    ],
  ])('%s is reported in one sentence on standard error, and exits with 2', async (_, args, message) => {
    await written({ 'nine/home.yaml': home, 'nine/tests/a.hubtest.yaml': passing });
    const { code, stderr } = await run(...args.map((each) => (each === 'PYTHON' ? python : each)));
    expect(stderr).toMatch(/^error: [^\n]*\n$/);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  test('reports a Python without Home Assistant', async () => {
    const bare = execFileSync(python, ['-c', 'import sys; print(sys._base_executable)'], {
      encoding: 'utf8',
    }).trim();
    await written({ 'ten/home.yaml': home, 'ten/tests/a.hubtest.yaml': passing });
    const { code, stderr } = await run('ten', '--python', bare);
    expect(stderr).toMatch(
      /^error: the Python \S+ has no Home Assistant: name the Python of a virtual environment/,
    );
    expect(code).toBe(2);
  });

  test.each([
    ['a file of bytes', Buffer.from([0x7f, 0x45, 0xff, 0xfe])],
    ['a file of zeros', Buffer.alloc(100)],
    ['a file in UTF-16', Buffer.from('\ufeffhubtest: v1', 'utf16le')],
  ])('%s is not a text', async (_, bytes) => {
    await written({ 'nine/home.yaml': home });
    await writeFile(join(directory, 'b.hubtest.yaml'), bytes);
    const { code, stdout } = await run('nine', 'b.hubtest.yaml', '--python', '/nowhere');
    expect(stdout).toMatch(/^b\.hubtest\.yaml:1: error: test file: The file is no text in UTF-8, [^\n]*\n$/);
    expect(code).toBe(2);
  });

  test.each<[string, readonly string[], number, (ran: Ran) => unknown]>([
    [
      '--only and --timeline',
      ['--only', 'lights', '--timeline'],
      0,
      ({ stdout }) => stdout.includes('echo: on'),
    ],
    [
      '--only and --min-coverage',
      ['--only', 'lights', '--min-coverage', '100'],
      1,
      ({ stdout }) => /error: \d+ % are covered, and --min-coverage is 100\n/.test(stdout),
    ],
    [
      '--min-coverage and -o json',
      ['--min-coverage', '100', '-o', 'json'],
      1,
      ({ stdout }) =>
        (JSON.parse(stdout) as { coverage: { minCoverage: number } }).coverage.minCoverage === 100,
    ],
    [
      '--timeline and -o json',
      ['--timeline', '-o', 'json'],
      0,
      ({ stdout }) =>
        (JSON.parse(stdout) as { cases: { timeline: [] }[] }).cases.every(
          ({ timeline }) => timeline.length > 0,
        ),
    ],
    [
      '--junit and -o yaml',
      ['--junit', 'r.xml', '-o', 'yaml'],
      0,
      ({ stdout }) =>
        stdout.startsWith('summary:') && readFileSync(join(directory, 'r.xml'), 'utf8').includes('tests="2"'),
    ],
    [
      '--junit and --only',
      ['--junit', 'r.xml', '--only', 'lights'],
      0,
      () => readFileSync(join(directory, 'r.xml'), 'utf8').includes('tests="1"'),
    ],
    ['--python and --image', ['--image', 'x'], 2, ({ stderr }) => stderr.includes('exclude each other')],
    [
      '-o junit',
      ['-o', 'junit'],
      2,
      ({ stderr }) => stderr.includes('Allowed choices are table, json, yaml'),
    ],
  ])('%s can be combined, or the command says that they cannot', async (_, options, code, isTrue) => {
    await written({ 'nine/home.yaml': home, 'nine/tests/a.hubtest.yaml': passing });
    const ran = await tested('nine', ...options);
    expect([ran.code, isTrue(ran)]).toEqual([code, true]);
  });

  test.each([
    ['an empty file', ''],
    ['a file of another program', 'a: [b\n'],
    [
      'aliases of aliases',
      `hubtest: v1\na0: &a0 [x, x]\n${Array.from({ length: 40 }, (_, index) => `a${index + 1}: &a${index + 1} [*a${index}, *a${index}]\n`).join('')}`,
    ],
    ['a deep nest', `hubtest: v1\ntests: ${'['.repeat(50_000)}`],
    ['a MiB of cases', `hubtest: v1\ntests:\n${casesOf(16_000)}`],
    ['a MiB of errors', `hubtest: v1\n${'\t- x\n'.repeat(200_000)}`],
    ['zero bytes', '\0'.repeat(1_000)],
  ])('%s is refused with a sentence', async (_, text) => {
    await written({ 'eleven/home.yaml': home, 'd.hubtest.yaml': text });
    const { code, stdout, stderr } = await run('eleven', 'd.hubtest.yaml', '--python', '/nowhere');
    expect(stdout).toMatch(/^d\.hubtest\.yaml:\d+: error: test file: /);
    expect(stderr).toBe('');
    expect(code).toBe(2);
  });

  test('thousands of cases are read, with a byte order mark and line breaks of Windows', async () => {
    const text = `\ufeffhubtest: v1\r\ntests:\r\n${casesOf(2_000)}`;
    await written({ 'twelve/home.yaml': home, 'e.hubtest.yaml': text });
    const only = ['--only', 'case 1999$', '--python', '/nowhere'];
    const { stdout, stderr } = await run('twelve', 'e.hubtest.yaml', ...only);
    expect(stdout).toBe('');
    expect(stderr).toContain('there is no program /nowhere');
  });

  test('a configuration that the hub does not accept is named with its file', async () => {
    const wrong = configuration.replace('film:\\n', 'film: {nam: x}\\n');
    await written({ 'fourteen/home.yaml': [hub, wrong].join('\n---\n'), 'a.hubtest.yaml': passing });
    const { code, stdout } = await tested('fourteen', 'a.hubtest.yaml');
    expect(stdout).toMatch(/fourteen\/home\.yaml:3: error: the hub does not load configuration\.yaml: .*nam/);
    expect(code).toBe(2);
  });

  test('the image of the hub is run by an engine, without a network', async () => {
    const engine = `#!/bin/sh\necho "$*" | head -1 >> log\n[ "$1" = run ] || exit 0\nwhile [ "$1" != -I ]; do shift; done\nexec ${python} "$@"\n`;
    await written({ 'fifteen/home.yaml': home, 'a.hubtest.yaml': passing, 'bin/podman': engine });
    await chmod(join(directory, 'bin/podman'), 0o755);
    const env = {
      PATH: `${join(directory, 'bin')}:/usr/bin:/bin`,
      HUB_OPERATOR_CACHE: join(directory, 'cache'),
    };
    const args = [BUNDLE, 'test', 'fifteen', 'a.hubtest.yaml'];
    const stdout = execFileSync(process.execPath, args, { cwd: directory, env, encoding: 'utf8' });
    expect(stdout).toContain('2 passed, 0 failed');
    expect(await readFile(join(directory, 'log'), 'utf8')).toMatch(
      /^image inspect (\S+:2026\.11\.0)\nrun --rm -i --network none --read-only --tmpfs \/tmp --cap-drop ALL --security-opt no-new-privileges --name hubtest-\w+ --entrypoint python \1 -I -c /,
    );
  });

  test('a closed pipe of the reader ends it without an error', async () => {
    await written({ 'sixteen/home.yaml': home, 'a.hubtest.yaml': passing });
    const args = [BUNDLE, 'test', 'sixteen', 'a.hubtest.yaml', '--python', python];
    const child = spawn(process.execPath, args, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (part: Buffer) => (stderr += part.toString()));
    await once(child.stdout, 'data');
    child.stdout.destroy();
    expect(await once(child, 'close')).toEqual([2, null]);
    expect(stderr).toBe('');
  });

  test('Ctrl-C also ends Python', async () => {
    const long = passing.replace('within: 4m58s', 'within: 300d');
    await written({ 'thirteen/home.yaml': home, 'f.hubtest.yaml': long });
    const child = spawn(
      process.execPath,
      [BUNDLE, 'test', 'thirteen', 'f.hubtest.yaml', '--python', python],
      {
        cwd: directory,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    await once(child.stdout, 'data');
    const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([2, null]);
    for (const pid of children.trim().split(' ').map(Number))
      expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

describe('the samples', () => {
  test('load without a warning of the hub', async () => {
    const samples = join(repository, 'samples');
    const text =
      'hubtest: v1\ntests: [{name: a, steps: [{advance: 1d}, {expect: {none: [input_boolean.turn_on]}}]}]\n';
    await written({ 'g.hubtest.yaml': text });
    const files = [
      '10-home.yaml',
      '20-automations.yaml',
      '21-scenes-and-scripts.yaml',
      '30-floors-and-areas.yaml',
      '35-zones.yaml',
      '36-settings.yaml',
      '37-helpers.yaml',
    ];
    const { code, stdout } = await tested(...files.map((name) => join(samples, name)), 'g.hubtest.yaml');
    expect(stdout).toContain('Hub home/my-home (Europe/Berlin): 3 automations, 2 scripts, 1 scene');
    expect(stdout).toContain('1 passed, 0 failed: 1 d of the home');
    expect(code).toBe(0);
  });
});
