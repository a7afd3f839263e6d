import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../../operator/base/clock';
import { sandboxPythons } from '../../../../cli/test/find-program';
import { chooseLaunch, type Launch, type PythonOptions, WAYS_TO_PYTHON } from '../../../../cli/test/launch';
import type { Answer, Request } from '../../../../cli/test/protocol';
import { pullImage } from '../../../../cli/test/pull-image';
import { LONGEST_SILENCE, runPython } from '../../../../cli/test/python-program';
import { ManualClock } from '../../manual-clock';
import { until } from '../../until';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'python-'));
});
afterEach(() => rm(directory, { recursive: true }));

const at = (name: string) => join(directory, name);
/** Returns the text of a file, or an empty text when it does not exist yet. */
const textOf = (name: string) => (existsSync(at(name)) ? readFileSync(at(name), 'utf8') : '');

/** Writes a JavaScript program in place of Python or of a container engine. Returns its path. */
async function program(name: string, code: string): Promise<string> {
  await writeFile(at(name), `#!${process.execPath}\n${code}\n`);
  await chmod(at(name), 0o755);
  return at(name);
}

const request = { modules: {}, home: {}, files: [], options: {} } as unknown as Request;
const say = (answer: Answer) => `console.log(${JSON.stringify(JSON.stringify(answer))});`;
const hub: Answer = { type: 'hub', version: '2026.11.0', python: '3.14.2' };

interface Options {
  readonly unfinished?: string;
  readonly clock?: ManualClock;
  readonly signal?: AbortSignal;
  readonly launch?: Partial<Launch>;
  readonly onAnswer?: (answer: Answer) => void;
}

/**
 * Runs a JavaScript program in place of Python.
 * @returns its answers
 */
async function run(code: string, options: Options = {}): Promise<readonly Answer[]> {
  const path = await program('python', code);
  const answers: Answer[] = [];
  const launch = { program: path, args: [], description: 'the Python P', ...options.launch };
  await runPython(launch, request, {
    clock: options.clock ?? systemClock,
    signal: options.signal ?? new AbortController().signal,
    loader: 'the loader',
    onAnswer: options.onAnswer ?? ((answer) => void answers.push(answer)),
    current: () => options.unfinished,
    isComplete: () => options.unfinished === undefined,
  });
  return answers;
}

const fault = (code: string, options: Options = {}) =>
  run(code, options).then(
    () => 'no fault',
    (error: Error) => error.message.replaceAll(directory, 'DIR').replaceAll(WAYS_TO_PYTHON, 'WAYS'),
  );

describe('runPython', () => {
  test('gets the loader and the request, and its answers are passed on', async () => {
    const code = `
      let text = '';
      process.stdin.on('data', (part) => (text += part)).on('end', () => {
        ${say(hub)}
        const { folder, ...rest } = JSON.parse(text);
        const isBelow = require('node:path').dirname(folder) === require('node:os').tmpdir();
        console.log(JSON.stringify({ type: 'failed', message: JSON.stringify([process.argv.slice(2), rest, isBelow]) }));
      });`;
    expect(await fault(code)).toBe(JSON.stringify([['-I', '-c', 'the loader'], request, true]));
    expect(await run(`${say(hub)} console.log('');`)).toEqual([hub]);
  });

  test.each([
    [
      'cannot be started',
      '',
      { launch: { program: '/nowhere/python' } },
      'cannot start the Python P: there is no program /nowhere/python: WAYS',
    ],
    [
      'is a folder',
      '',
      { launch: { program: tmpdir() } },
      'cannot start the Python P: it is not a program that you may run: WAYS',
    ],
    [
      'has no Home Assistant',
      `process.stderr.write("Traceback (most recent call last):\\n  File x\\nModuleNotFoundError: No module named 'homeassistant'\\n"); process.exit(1)`,
      {},
      'the Python P has no Home Assistant: WAYS',
    ],
    [
      'ends with an error',
      `process.stderr.write('Traceback (most recent call last):\\n  File "x", line 1\\n    y\\nValueError: no\\u001b[2J\\n'); process.exit(3)`,
      { unfinished: 'a' },
      'the Python P ended with the exit code 3, in the case “a”: ValueError: no [2J: use a Python with a Home Assistant that is supported, or WAYS',
    ],
    [
      'is killed, as when memory is full',
      `process.kill(process.pid, 'SIGKILL'); setTimeout(() => {}, 1e6)`,
      { unfinished: 'a' },
      'the Python P was killed, in the case “a”, as a machine does when its memory is full: give it more, or run fewer cases at once with --only',
    ],
    [
      'is killed in a container',
      `process.exit(137)`,
      {},
      'the Python P was killed, as a machine does when its memory is full: give it more, or run fewer cases at once with --only',
    ],
    [
      'ends by another signal',
      `process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 1e6)`,
      {},
      'the Python P ended by the signal SIGTERM: use a Python with a Home Assistant that is supported, or WAYS',
    ],
    [
      'ends without a result',
      say(hub),
      { unfinished: 'b' },
      'the Python P has ended, in the case “b” without its result',
    ],
    [
      'writes what is no answer',
      `console.log('Hello \\u001b[2J world'); setTimeout(() => {}, 1e6)`,
      {},
      'the Python P answers with something else than a result: "Hello  [2J world": use another Python or image',
    ],
    [
      'writes another type',
      `console.log('{"type": "other"}'); setTimeout(() => {}, 1e6)`,
      {},
      'the Python P answers with something else than a result: "{\\"type\\": \\"other\\"}": use another Python or image',
    ],
    [
      'says that it has failed',
      `${say({ type: 'failed', message: 'the hub\ncannot start' })} setTimeout(() => {}, 1e6)`,
      {},
      'the hub cannot start',
    ],
    [
      'is an engine that fails',
      `process.stderr.write('docker: Cannot connect to the Docker daemon.\\n'); process.exit(125)`,
      { launch: { container: { engine: process.execPath, name: 'x', image: 'y' } } },
      'the Python P cannot be started: docker: Cannot connect to the Docker daemon: see whether DIR run works, or WAYS',
    ],
  ] as const)(
    'a Python that %s is reported in one sentence with the cause and the remedy',
    async (_, code, options, message) => {
      expect((await fault(code, options)).replace(process.execPath, 'DIR')).toBe(message);
    },
  );

  test('an error in the reader of the answers ends Python', async () => {
    const onAnswer = () => {
      throw new Error('the wrong version');
    };
    expect(await fault(`${say(hub)} setTimeout(() => {}, 1e6)`, { onAnswer })).toBe('the wrong version');
  });

  test('an answer without its fields is reported like one of another form', async () => {
    const onAnswer = (answer: Answer) => void (answer as unknown as { items: [] }).items.length;
    expect(await fault(`${say(hub)} setTimeout(() => {}, 1e6)`, { onAnswer })).toContain(
      'answers with something else than a result: ',
    );
  });

  test('a Python that says nothing is ended after a time', async () => {
    const clock = new ManualClock();
    const running = fault(
      `require('fs').writeFileSync(${JSON.stringify(at('started'))}, ''); setTimeout(() => {}, 1e6)`,
      {
        clock,
        unfinished: 'a',
      },
    );
    await until(() => existsSync(at('started')));
    await clock.advance(LONGEST_SILENCE);
    expect(await running).toBe(
      'the Python P has been silent for 10 minutes, in the case “a”: run that case alone with --only, and shorten its times',
    );
  });

  test('after each answer the whole time limit applies again', async () => {
    const clock = new ManualClock();
    const seen: Answer[] = [];
    const running = fault(`${say(hub)} process.stdin.on('end', () => setTimeout(() => {}, 1e6)).resume()`, {
      clock,
      onAnswer: (answer) => void seen.push(answer),
    });
    await clock.advance(LONGEST_SILENCE - 1);
    await until(() => seen.length > 0);
    await clock.advance(LONGEST_SILENCE - 1);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(1);
    expect(await running).toContain('has been silent');
  });

  test('Ctrl-C ends Python, and its container', async () => {
    const engine = await program(
      'engine',
      `require('fs').writeFileSync(${JSON.stringify(at('removed'))}, process.argv.slice(2).join(' '))`,
    );
    const interrupt = new AbortController();
    const code = `require('fs').writeFileSync(${JSON.stringify(at('pid'))}, String(process.pid)); setTimeout(() => {}, 1e6)`;
    const container = { engine, name: 'hubtest-x', image: 'y' };
    const running = fault(code, { signal: interrupt.signal, launch: { container } });
    await until(() => textOf('pid') !== '');
    const pid = Number(textOf('pid'));
    interrupt.abort(new Error('interrupted'));
    expect(await running).toBe('interrupted');
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    await until(() => textOf('removed') === 'rm --force hubtest-x');
  });

  test('a program that does not end on SIGTERM is killed', async () => {
    const interrupt = new AbortController();
    const code = `process.on('SIGTERM', () => {}); require('fs').writeFileSync(${JSON.stringify(at('pid'))}, String(process.pid)); setTimeout(() => {}, 1e6)`;
    const running = fault(code, { signal: interrupt.signal });
    await until(() => textOf('pid') !== '');
    interrupt.abort(new Error('interrupted'));
    expect(await running).toBe('interrupted');
    expect(() => process.kill(Number(textOf('pid')), 0)).toThrow('ESRCH');
  });

  test('an input that is not read is not reported as a separate fault', async () => {
    const large = { ...request, modules: { a: 'x'.repeat(5_000_000) } };
    const path = await program('python', `process.stderr.write('no\\n'); process.exit(1)`);
    await expect(
      runPython({ program: path, args: [], description: 'the Python P' }, large, {
        clock: systemClock,
        signal: new AbortController().signal,
        loader: '',
        onAnswer: () => undefined,
        current: () => undefined,
        isComplete: () => true,
      }),
    ).rejects.toThrow('the Python P ended with the exit code 1: no: ');
  });
});

/** Makes a virtual environment like those of the sandbox. */
async function installed(version: string, key: string): Promise<string> {
  await mkdir(at(`cache/hub-${key}/lib/python3.14/site-packages/homeassistant-${version}.dist-info`), {
    recursive: true,
  });
  return at(`cache/hub-${key}/bin/python`);
}

/** Makes a clone with a folder for the program. */
async function clone(): Promise<string> {
  await mkdir(at('clone/sandbox'), { recursive: true });
  await writeFile(at('clone/sandbox/hub-software.ts'), '');
  return at('clone/build');
}

describe('chooseLaunch', () => {
  const choose = async (
    options: PythonOptions,
    workload?: { version?: string; image?: string },
    folder = at('elsewhere'),
  ) =>
    chooseLaunch(options, workload, {
      folder,
      variables: { PATH: at('bin'), HUB_OPERATOR_CACHE: at('cache') },
    });
  const engine = async (name: string) => {
    await mkdir(at('bin'), { recursive: true });
    return program(`bin/${name}`, '');
  };

  test('--python comes first', async () => {
    await engine('docker');
    expect(await choose({ python: '/venv/bin/python' }, {}, await clone())).toEqual({
      program: '/venv/bin/python',
      args: [],
      description: 'the Python /venv/bin/python',
    });
    await expect(choose({ python: 'a', image: 'b' })).rejects.toThrow('leave one out');
  });

  test('a clone uses that of the sandbox: with the version of the Hub, else the newest', async () => {
    const older = await installed('2026.5.4', 'a1');
    const newer = await installed('2026.11.0', 'b2');
    await mkdir(at('cache/hub-c3/lib/python3.14/site-packages'), { recursive: true });
    const folder = await clone();
    expect(
      (await sandboxPythons(folder, { HUB_OPERATOR_CACHE: at('cache') })).map(({ version }) => version),
    ).toEqual(['2026.11.0', '2026.5.4']);
    expect(await choose({}, undefined, folder)).toMatchObject({ program: newer });
    expect(await choose({}, { version: '2026.5.4' }, folder)).toMatchObject({ program: older });
    expect(await choose({}, { version: 'stable' }, folder)).toMatchObject({ program: newer });
    expect(await choose({ hubVersion: '2026.5.4' }, { version: '2026.11.0' }, folder)).toMatchObject({
      program: older,
    });
  });

  test('a version other than those of the sandbox, or an image, needs a container engine', async () => {
    await installed('2026.11.0', 'b2');
    const folder = await clone();
    await expect(choose({ hubVersion: '2026.1.0' }, undefined, folder)).rejects.toThrow(
      'no Python with Home Assistant was found',
    );
    const docker = await engine('docker');
    expect(await choose({ hubVersion: '2026.1.0' }, undefined, folder)).toMatchObject({
      program: docker,
      container: { image: 'ghcr.io/home-assistant/home-assistant:2026.1.0' },
    });
    expect(await choose({ image: 'r/x:1' }, undefined, folder)).toMatchObject({
      container: { image: 'r/x:1' },
    });
  });

  test('elsewhere it is the image of the hub, in docker or podman, without a network and privileges', async () => {
    await installed('2026.11.0', 'b2');
    const podman = await engine('podman');
    const launch = await choose({});
    expect(launch).toMatchObject({
      program: podman,
      container: { image: 'ghcr.io/home-assistant/home-assistant:2026.11.0' },
    });
    expect(launch.args).toEqual([
      ...[
        'run',
        '--rm',
        '-i',
        ...['--network', 'none', '--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL'],
        ...['--security-opt', 'no-new-privileges'],
        '--name',
        launch.container!.name,
        '--entrypoint',
        'python',
      ],
      'ghcr.io/home-assistant/home-assistant:2026.11.0',
    ]);
    expect(await choose({}, { version: '2026.8.1', image: 'r/hub' })).toMatchObject({
      container: { image: 'r/hub:2026.8.1' },
    });
    expect(await choose({}, { version: `sha256:${'a'.repeat(64)}` })).toMatchObject({
      container: { image: `ghcr.io/home-assistant/home-assistant@sha256:${'a'.repeat(64)}` },
    });
    const docker = await engine('docker');
    expect(await choose({})).toMatchObject({ program: docker });
  });

  test('without any of them, the three remedies are listed', async () => {
    await expect(choose({})).rejects.toThrow(`no Python with Home Assistant was found: ${WAYS_TO_PYTHON}`);
    expect(WAYS_TO_PYTHON).toMatch(/--python.*docker or podman.*clone/);
    await expect(choose({ image: 'x' })).rejects.toThrow('--image needs docker or podman');
  });
});

describe('pullImage', () => {
  const launchOf = (engine: string): Launch => ({
    program: engine,
    args: [],
    description: '',
    container: { engine, name: 'x', image: 'r/hub:1' },
  });
  const never = new AbortController().signal;

  test('pulls an image that does not exist locally, and says so', async () => {
    const log = JSON.stringify(at('log'));
    const code = `require('fs').appendFileSync(${log}, process.argv.slice(2).join(' ') + '\\n'); process.exit(process.argv[2] === 'image' ? 1 : 0)`;
    const reports: string[] = [];
    await pullImage(launchOf(await program('docker', code)), never, (text) => reports.push(text));
    expect(await readFile(at('log'), 'utf8')).toBe('image inspect r/hub:1\npull r/hub:1\n');
    expect(reports).toEqual(['Pulling r/hub:1, once']);
  });

  test('does not pull one that is there', async () => {
    const reports: string[] = [];
    await pullImage(launchOf(await program('docker', '')), never, (text) => reports.push(text));
    expect(reports).toEqual([]);
  });

  test('an engine that cannot pull is one sentence with its cause', async () => {
    const code = `process.stderr.write('x\\nError response from daemon: manifest unknown\\n'); process.exit(1)`;
    await expect(pullImage(launchOf(await program('docker', code)), never, () => undefined)).rejects.toThrow(
      'cannot pull r/hub:1: Error response from daemon: manifest unknown: choose another version with --hub-version',
    );
  });

  test('Ctrl-C ends the pull', async () => {
    const interrupt = new AbortController();
    const code = `if (process.argv[2] === 'image') process.exit(1); setTimeout(() => {}, 1e6)`;
    const pulling = pullImage(launchOf(await program('docker', code)), interrupt.signal, () =>
      interrupt.abort(new Error('interrupted')),
    );
    await expect(pulling).rejects.toThrow('interrupted');
  });
});
