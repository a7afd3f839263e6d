import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ForkServer } from '../../../sandbox/fork-server';
import { tether } from '../../../sandbox/tether';
import { until } from '../../cluster';

const python = join(process.env['HUB_SANDBOX_VENV']!, 'bin', 'python3');

let directory: string;
let program: string;
const servers: ForkServer[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'fork-server-'));
  program = await tether();
});
afterAll(async () => {
  for (const server of servers) await server.stop();
  await rm(directory, { recursive: true });
});

async function newServer(interpreter = python): Promise<ForkServer> {
  const server = new ForkServer({
    tether: program,
    python: interpreter,
    environment: { LANG: 'C.UTF-8', TZ: 'UTC', ONLY_OF_THE_SERVER: '1' },
    modules: ['json', 'tempfile', 'no_such_module'],
    logFile: join(directory, 'log'),
  });
  servers.push(server);
  return server;
}

interface Started {
  readonly process: ChildProcess;
  readonly output: Promise<string>;
  /** The exit code of tether. */
  readonly ended: Promise<number>;
  pid(): Promise<number>;
}

let started = 0;

function start(address: string | undefined, command: readonly string[]): Started {
  const pidFile = join(directory, `${++started}.pid`);
  const flags = ['--grace', '500ms', '--pid-file', pidFile];
  if (address !== undefined) flags.push('--fork-server', address);
  const child = spawn(program, [...flags, '--', ...command], {
    cwd: directory,
    env: { LANG: 'C.UTF-8', TZ: 'Asia/Tokyo', TMPDIR: directory, GREETING: 'grüß dich' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const output = Promise.all([text(child.stdout), text(child.stderr)]).then((parts) => parts.join(''));
  return {
    process: child,
    output,
    ended: once(child, 'close').then(([code]) => code as number),
    pid: async () => Number(await until('it runs', () => readFile(pidFile, 'utf8').catch(() => false))),
  };
}

const script = (address: string | undefined, code: string, ...args: string[]) =>
  start(address, [python, '-c', code, ...args]);

/** Python that prints everything a program can see of the way in which it was started. */
const SEEN = `
import contextlib, json, os, signal, sys, tempfile, threading, time

def links():
    for file in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):
            yield os.readlink("/proc/self/fd/" + file)

print(json.dumps({
    "argv": sys.argv, "path": sys.path, "main": __name__, "doc": __doc__,
    "same": sys.modules["__main__"].__dict__ is globals(), "file": globals().get("__file__"),
    "environment": dict(os.environ), "directory": os.getcwd(), "temporary": tempfile.gettempdir(),
    "zone": time.tzname, "group": os.getpgrp() == os.getpid(), "input": sys.stdin.read(),
    "sockets": sorted(link.split(":")[0] for link in links() if ":" in link), "umask": os.umask(0o22),
    "signals": [str(signal.getsignal(each)) for each in sorted(signal.valid_signals())],
    "masked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])), "wakeup": signal.set_wakeup_fd(-1),
    "threads": threading.active_count(), "buffered": sys.stdout.line_buffering, "prefix": sys.prefix,
}))
`;
import { isAlive } from '../../is-alive';

const ENDLESS = 'import time\nprint("up", flush=True)\ntime.sleep(99999)';

describe('ForkServer', () => {
  test('a script and a file run in it as in separate processes', async () => {
    const address = await (await newServer()).address();
    expect(address).toBeDefined();
    const file = join(directory, 'seen.py');
    await writeFile(file, SEEN);
    for (const command of [
      [python, '-c', SEEN, 'one', '--two=ü'],
      [file, 'one'],
    ]) {
      const own = command[0] === file ? [python, ...command] : command;
      const [forked, alone] = await Promise.all([
        start(address, command).output,
        start(undefined, own).output,
      ]);
      expect(JSON.parse(forked)).toEqual(JSON.parse(alone));
    }
  });

  test('SIGTERM, the end of the parent and the death of tether end a program with all processes that it started', async () => {
    const address = await (await newServer()).address();
    const file = join(directory, 'started');
    const code = `import subprocess, sys\nprint(subprocess.Popen(["sleep", "99999"]).pid, file=open(sys.argv[1], "w"), flush=True)\n${ENDLESS}`;
    const ways: ((each: Started) => unknown)[] = [
      ({ process }) => process.kill('SIGTERM'),
      ({ process }) => process.stdin!.end(),
      ({ process }) => process.kill('SIGKILL'),
    ];
    for (const end of ways) {
      await rm(file, { force: true });
      const each = script(address, code, file);
      const own = await until(
        'it has started another',
        async () => /\d+\n/.exec(await readFile(file, 'utf8'))?.[0],
      );
      const pids = [await each.pid(), Number(own)];
      expect(pids.map(isAlive)).toEqual([true, true]);
      end(each);
      await until('both have ended', () => !pids.some(isAlive));
      await each.ended;
    }
  });

  test('its end is that of its programs, and later programs are separate processes', async () => {
    const server = await newServer();
    const address = await server.address();
    const running = script(address, ENDLESS);
    const pid = await running.pid();
    await server.stop();
    expect(await running.ended).toBe(137);
    await until('the program has ended', () => !isAlive(pid));
    expect(await server.address()).toBeUndefined();
    expect(await script(address, 'print("alone")').output).toBe('alone\n');
  });
});
