import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bundleOf, digestOf } from '../../../operator/sync/community/repository-package';
import { INSTALL } from '../../../operator/sync/hub-pod/scripts';
import { until } from '../../cluster';
import { runPython } from '../../cluster/python-script';

// Tests the installer's script alone, by the files that it leaves on a volume.

let directory: string;
let config: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'install-'));
  config = join(directory, 'config');
  await mkdir(config);
});
afterEach(() => rm(directory, { recursive: true }));

const SHELF = 'custom_components/shelf';
const SCRIPT = 'python_scripts/wake.py';

type Files = Readonly<Record<string, string>>;

async function run(request: object, files: Files = {}, script = INSTALL) {
  const parts = await mkdtemp(join(directory, 'parts-'));
  const content = new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));
  const bundle = bundleOf({ target: '', isFile: false, provides: [], files: content });
  for (const [index, part] of bundle.entries()) await writeFile(join(parts, `00${index}`), part);
  const verdict = `${parts}.verdict`;
  const filled = JSON.stringify({ install: null, remove: [], ...request }).replace(
    'DIGEST',
    digestOf(content),
  );
  await writeFile(verdict, '{"result": "killed"}');
  await runPython(script, config, parts, verdict, filled);
  return JSON.parse(await readFile(verdict, 'utf8')) as Verdict;
}

interface Verdict {
  readonly result: string;
  readonly message: string;
  readonly id: string | null;
}

const install = (target: string, files: Files, remove: readonly string[] = [], script = INSTALL) =>
  run({ install: { target, isFile: target.endsWith('.py'), digest: 'DIGEST' }, remove }, files, script);
const remove = (...targets: readonly string[]) => run({ remove: targets });
const done = { result: 'done', message: '', id: expect.stringMatching(/^[0-9a-f]{16}$/) as unknown };
const removed = { result: 'done', message: '', id: null };

async function put(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(config, path)), { recursive: true });
  await writeFile(join(config, path), content);
}

/** Returns all files on the volume except the operator's own, with their contents. */
async function volume(): Promise<Files> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(config, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(config.length + 1);
    if (entry.isFile() && !path.startsWith('hub-operator/'))
      found[path] = await readFile(join(config, path), 'utf8');
  }
  return found;
}

describe('INSTALL', () => {
  test('installs a folder, replaces it by another version and removes it', async () => {
    expect(await install(SHELF, { 'manifest.json': '{}', 'a/old.py': 'old', 'same.py': '1' })).toEqual(done);
    expect(await volume()).toEqual({
      [`${SHELF}/manifest.json`]: '{}',
      [`${SHELF}/a/old.py`]: 'old',
      [`${SHELF}/same.py`]: '1',
    });
    await put(`${SHELF}/__pycache__/same.pyc`, 'compiled');
    expect(await install(SHELF, { 'manifest.json': '{}', 'same.py': '2' })).toEqual(done);
    expect(await volume()).toEqual({ [`${SHELF}/manifest.json`]: '{}', [`${SHELF}/same.py`]: '2' });
    expect(await remove(SHELF)).toEqual(removed);
    expect(await volume()).toEqual({});
    expect(existsSync(join(config, SHELF))).toBe(false);
    expect(await readdir(join(config, 'hub-operator', 'community'))).toEqual([]);
  });

  test('installs, replaces and removes a file beside files of a user', async () => {
    await put('python_scripts/mine.py', 'mine');
    expect(await install(SCRIPT, { 'wake.py': '1' })).toEqual(done);
    expect(await install(SCRIPT, { 'wake.py': '2' })).toEqual(done);
    expect(await volume()).toEqual({ 'python_scripts/mine.py': 'mine', [SCRIPT]: '2' });
    expect(await remove(SCRIPT)).toEqual(removed);
    expect(await volume()).toEqual({ 'python_scripts/mine.py': 'mine' });
  });

  test('a user’s file is not replaced, and not removed', async () => {
    await put(`${SHELF}/manifest.json`, 'mine');
    await put(SCRIPT, 'mine');
    const before = await volume();
    expect(await install(SHELF, { 'manifest.json': '{}' })).toEqual({
      result: 'conflict',
      message: `/config/${SHELF} exists and was not put there by the operator`,
      id: null,
    });
    expect(await install(SCRIPT, { 'wake.py': '1' })).toMatchObject({ result: 'conflict' });
    expect(await remove(SHELF, SCRIPT)).toEqual(removed);
    expect(await volume()).toEqual(before);
  });

  test('equal files, put there by a user or installed without a record, are taken over', async () => {
    await put(`${SHELF}/manifest.json`, '{}');
    await put(`${SHELF}/__pycache__/x.pyc`, 'compiled');
    expect(await install(SHELF, { 'manifest.json': '{}' })).toEqual(done);
    await put('hub-operator/community.json', '{"half');
    expect(await install(SHELF, { 'manifest.json': '{}' })).toEqual(done);
    expect(await remove(SHELF)).toEqual(removed);
    expect(await volume()).toEqual({});
  });

  test('files that a user added to an installed folder survive an update and the removal', async () => {
    await install(SHELF, { 'manifest.json': '1', 'a/x.py': '1' });
    await put(`${SHELF}/a/data.db`, 'mine');
    await put(`${SHELF}/secret.txt`, 'mine');
    await put(`${SHELF}/__pycache__/x.pyc`, 'compiled');
    expect(await install(SHELF, { 'manifest.json': '2' })).toEqual(done);
    const mine = { [`${SHELF}/a/data.db`]: 'mine', [`${SHELF}/secret.txt`]: 'mine' };
    expect(await volume()).toEqual({ [`${SHELF}/manifest.json`]: '2', ...mine });
    expect(await install(SHELF, { 'manifest.json': '3', 'secret.txt': 'theirs' })).toEqual({
      result: 'conflict',
      message: `/config/${SHELF}/secret.txt was put there by someone else`,
      id: null,
    });
    expect(await install(SHELF, { 'manifest.json': '3', a: 'a file' })).toMatchObject({ result: 'conflict' });
    expect(await install(SHELF, { 'manifest.json': '3', 'secret.txt/x': 'y' })).toMatchObject({
      result: 'conflict',
    });
    expect(await volume()).toEqual({ [`${SHELF}/manifest.json`]: '2', ...mine });
    expect(await remove(SHELF)).toEqual(removed);
    expect(await volume()).toEqual(mine);
  });

  test('its id changes when files were written, even if the run was killed before it could report that', async () => {
    const files = { 'manifest.json': '1', 'a.py': '1' };
    const { id } = await install(SHELF, files);
    await put(`${SHELF}/mine.txt`, 'mine');
    expect((await install(SHELF, files)).id).toBe(id);
    await rm(join(config, SHELF, 'a.py'));
    const killed = INSTALL.replace('    end("done", "", id)\n', '    os._exit(9)\n');
    expect(killed).not.toBe(INSTALL);
    expect(await install(SHELF, files, [], killed)).toEqual({ result: 'killed' });
    const second = await install(SHELF, files);
    expect(second).toEqual(done);
    expect(second.id).not.toBe(id);
    expect((await install(SHELF, files)).id).toBe(second.id);
  });

  test('writes through no link, and removes no link', async () => {
    const outside = join(directory, 'outside');
    await mkdir(outside);
    await symlink(outside, join(config, 'custom_components'));
    expect(await install(SHELF, { 'manifest.json': '{}' })).toEqual({
      result: 'conflict',
      message: '/config/custom_components is not a folder',
      id: null,
    });
    await mkdir(join(config, 'python_scripts'));
    await symlink(join(outside, 'wake.py'), join(config, SCRIPT));
    expect(await install(SCRIPT, { 'wake.py': '1' })).toMatchObject({
      message: `/config/${SCRIPT} is a link`,
    });
    expect(await readdir(outside)).toEqual([]);
  });

  test('another target replaces the former one', async () => {
    await install(SHELF, { 'manifest.json': '1' });
    expect(await install('custom_components/table', { 'manifest.json': '2' }, [SHELF])).toEqual(done);
    expect(await volume()).toEqual({ 'custom_components/table/manifest.json': '2' });
  });

  test('files with another digest are not installed', async () => {
    const request = { install: { target: SHELF, isFile: false, digest: 'sha256:0' }, remove: [] };
    expect(await run(request, { 'manifest.json': '1' })).toEqual({
      result: 'failed',
      message: 'the files that arrived are not those that were sent',
      id: null,
    });
    expect(await volume()).toEqual({});
  });

  test('a crash in any step leaves the old files or the new ones, and the next run repairs the rest', async () => {
    const old = { 'manifest.json': '1', 'old.py': '1' };
    const next = { 'manifest.json': '2', 'new.py': '2' };
    const at = (files: Files) =>
      Object.fromEntries(Object.entries(files).map(([path, content]) => [`${SHELF}/${path}`, content]));
    expect(await install(SHELF, old)).toEqual(done);
    const before = join(directory, 'before');
    await rename(config, before);
    // Kills the script before each of its steps that change something, one run for each step.
    for (let step = 1; ; step++) {
      await cp(before, config, { recursive: true });
      const { result } = await install(SHELF, next, [], killedBefore(step));
      expect([at(old), at(next)]).toContainEqual(await volume());
      expect(await install(SHELF, next)).toEqual(done);
      expect(await volume()).toEqual(at(next));
      await rm(config, { recursive: true });
      if (result === 'killed') continue;
      expect(step).toBeGreaterThan(6);
      break;
    }
  });

  test('two runs on one volume at the same time are both recorded', async () => {
    const [held, waits, go] = ['held', 'waits', 'go'].map((name) => join(directory, name)) as [
      string,
      string,
      string,
    ];
    const table = 'custom_components/table';
    // The first run pauses after it has read the record, until the second run waits for the lock or has
    // ended.
    const first = install(SHELF, { 'manifest.json': '1', 'a.py': '1' }, [], pausedAt(held, go));
    await until('the first has read the record', () => existsSync(held));
    const second = install(table, { 'manifest.json': '2', 'b.py': '2' }, [], announcing(waits));
    await Promise.race([until('the second waits', () => existsSync(waits)), second]);
    await writeFile(go, '');
    expect(await Promise.all([first, second])).toEqual([done, done]);
    const record = await readFile(join(config, 'hub-operator', 'community.json'), 'utf8');
    expect(JSON.parse(record)).toEqual({
      [SHELF]: ['a.py', 'manifest.json'],
      [table]: ['b.py', 'manifest.json'],
    });
    expect(await volume()).toEqual({
      [`${SHELF}/manifest.json`]: '1',
      [`${SHELF}/a.py`]: '1',
      [`${table}/manifest.json`]: '2',
      [`${table}/b.py`]: '2',
    });
  });

  test('on a volume that cannot exchange two names, a crash in between is repaired', async () => {
    const slow = INSTALL.replace('sys.platform != "linux"', 'True');
    expect(slow).not.toBe(INSTALL);
    await install(SHELF, { 'manifest.json': '1' });
    expect(await install(SHELF, { 'manifest.json': '2' }, [], slow)).toEqual(done);
    expect(await volume()).toEqual({ [`${SHELF}/manifest.json`]: '2' });
    const work = join(config, 'hub-operator', 'community');
    await writeFile(join(work, 'journal.json'), JSON.stringify({ target: SHELF }));
    await rename(join(config, SHELF), join(work, 'old'));
    expect(await remove('themes/other')).toEqual(removed);
    expect(await volume()).toEqual({ [`${SHELF}/manifest.json`]: '2' });
    expect(await readdir(work)).toEqual([]);
  });
});

/**
 * Returns the script with a pause: after it has read the record it creates one file, and continues when
 * another one exists.
 */
function pausedAt(reached: string, go: string): string {
  const read = '    record = read_json(record_file)\n';
  expect(INSTALL).toContain(read);
  const pause = `    import time
    open(${JSON.stringify(reached)}, "w").close()
    while not os.path.exists(${JSON.stringify(go)}):
        time.sleep(0.01)
`;
  return INSTALL.replace(read, read + pause);
}

/** Returns the script with a signal: it creates a file before it waits for the lock of another run. */
function announcing(file: string): string {
  const announced = `
flock = fcntl.flock


def announce(locked, operation):
    try:
        flock(locked, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        open(${JSON.stringify(file)}, "w").close()
        flock(locked, operation)


fcntl.flock = announce
`;
  expect(INSTALL).toContain(start);
  return INSTALL.replace(start, announced + start);
}

/** The place where the script begins to work. */
const start = '\ntry:\n    work.mkdir';

/** Returns the script with an exit before its n-th change of the volume. */
function killedBefore(step: number): string {
  const steps = ['write_json', 'discard', 'exchange', 'flush', 'Path.replace', 'Path.rename'];
  const killing = `
count = 0


def killing(function):
    def call(*arguments, **named):
        global count
        count += 1
        if count == ${step}:
            os._exit(9)
        return function(*arguments, **named)
    return call

${steps.map((name) => `${name} = killing(${name})`).join('\n')}
`;
  expect(INSTALL).toContain(start);
  return INSTALL.replace(start, killing + start);
}
