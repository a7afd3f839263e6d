import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../../cluster';

// `make sandbox` as a developer starts it, twice at the same time.

interface Run {
  readonly process: ChildProcess;
  readonly directory: string;
  readonly port: number;
}

const repository = join(__dirname, '..', '..', '..');
let runs: string;

beforeAll(async () => {
  runs = await mkdtemp(join(tmpdir(), 'hub-runs-'));
});

const started: ChildProcess[] = [];

afterAll(async () => {
  for (const cli of started) cli.kill('SIGKILL'); // ends the sandbox too
  await rm(runs, { recursive: true, force: true, maxRetries: 10 });
});

async function start(): Promise<Run> {
  const cli = spawn(process.execPath, ['--import', 'tsx', join('sandbox', 'cli.ts')], {
    cwd: repository,
    env: { ...process.env, HUB_OPERATOR_RUNS: runs },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(cli);
  let printed = '';
  cli.stdout.on('data', (chunk) => (printed += chunk));
  const kubeconfig = await until('the cluster runs', () => /KUBECONFIG=(\S+)[^]*Ctrl-C/.exec(printed)?.[1]);
  const port = Number(/https:\/\/127\.0\.0\.1:(\d+)/.exec(await readFile(kubeconfig, 'utf8'))?.[1]);
  return { process: cli, directory: dirname(dirname(kubeconfig)), port };
}

/** Returns the commands of all processes of the run, which all contain the name of its directory. */
async function processesOf(run: Run): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-axo', 'args=']);
  return stdout.split('\n').filter((line) => line.includes(run.directory));
}

function answers({ port }: Run): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false)).unref();
  });
}

describe('the lifetime of a sandbox', () => {
  test('two run side by side; a killed one leaves no process and no port, and Ctrl-C also leaves no data', async () => {
    const [killed, interrupted] = await Promise.all([start(), start()]);
    expect(await processesOf(killed)).not.toEqual([]);

    killed.process.kill('SIGKILL');
    await until('nothing of it runs', async () => (await processesOf(killed)).length === 0);
    await until('its port is free', async () => !(await answers(killed)));
    expect(await answers(interrupted)).toBe(true);

    const written = JSON.parse(await readFile(join(runs, 'run.json'), 'utf8')) as { pid: number };
    interrupted.process.kill('SIGINT');
    expect(await once(interrupted.process, 'exit')).toEqual([0, null]);
    // The kernel may still be removing the last processes.
    await until('nothing of the other one runs', async () => (await processesOf(interrupted)).length === 0);
    expect(await answers(interrupted)).toBe(false);
    await expect(access(interrupted.directory)).rejects.toThrow('ENOENT');
    // The first of the two wrote `run.json`; the one that was killed could not remove its own file.
    const left = [written.pid === killed.process.pid ? 'run.json' : `${basename(killed.directory)}.json`];
    expect((await readdir(runs)).filter((name) => name.endsWith('.json'))).toEqual(left);
  });

  test.each(['Starting the cluster: started', 'Ctrl-C stops it'])(
    'Ctrl-C in a terminal, which sends the signal to every process there, leaves nothing after “%s”',
    async (moment) => {
      const own = join(runs, `terminal-${moment.length}`);
      const make = spawn('make', ['--no-print-directory', 'sandbox'], {
        cwd: repository,
        env: { ...process.env, HUB_OPERATOR_RUNS: own },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
      started.push(make);
      let printed = '';
      for (const stream of [make.stdout, make.stderr]) stream.on('data', (chunk) => (printed += chunk));
      await until(`it prints “${moment}”`, () => printed.includes(moment));
      process.kill(-make.pid!, 'SIGINT');
      process.kill(-make.pid!, 'SIGINT');
      await once(make, 'exit');
      expect(printed).toMatch(/All processes are stopped.* removed/);
      expect(await readdir(own)).toEqual([]);
    },
  );

  test('data and logs of a `make run` that failed stay', async () => {
    const bin = join(runs, 'bin');
    await mkdir(bin);
    // A kubectl that fails for every command except `version`.
    await writeFile(join(bin, 'kubectl'), '#!/bin/sh\n[ "$1" = version ] || { cat > /dev/null; exit 1; }\n', {
      mode: 0o755,
    });
    const failing = spawn(process.execPath, ['--import', 'tsx', join('sandbox', 'run.ts')], {
      cwd: repository,
      env: {
        ...process.env,
        ONCE: '1',
        HUB_OPERATOR_RUNS: join(runs, 'failing'),
        PATH: [bin, process.env['PATH']].join(delimiter),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    started.push(failing);
    let complaint = '';
    failing.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
    const [code] = (await once(failing, 'exit')) as [number];
    expect([code, complaint]).toEqual([1, expect.stringContaining('kubectl')]);
    const [directory = ''] = await readdir(join(runs, 'failing'));
    expect(await readdir(join(runs, 'failing', directory))).toContain('cluster');
  });
});
