import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Files } from '../../../operator/sync/configuration/generate/config-files';
import { entriesFor, entriesOfPart } from '../../../operator/sync/configuration/generate/file-keys';
import { partsOf, withPartFiles } from '../../../operator/sync/configuration/generate/parts';
import { PREPARE_CONFIG } from '../../../operator/sync/hub-pod/scripts';
import { type PrepareReport, parsePrepareReport } from '../../../operator/sync/hub-pod/termination-messages';
import { runPython } from '../../cluster/python-script';

// Tests the init container's script alone, with the real hub's check, and files in folders.

const MAIN =
  'homeassistant:\n  packages: !include_dir_named packages\n' +
  'automation: !include automations.yaml\nscene: !include scenes.yaml\nscript: !include scripts.yaml\n';
const HALL = 'packages/ground floor/hall.yaml';
const counter = (name: string) => `counter:\n  ${name}:\n    initial: 1\n`;
const FILES = {
  'configuration.yaml': MAIN,
  [HALL]: counter('hall'),
  'packages/attic.yaml': counter('attic'),
};

let directory: string;
const at = (name: string) => join(directory, name);
const inConfig = (name: string) => join(directory, 'config', name);
const content = (name: string) => readFile(inConfig(name), 'utf8');
const exists = (name: string) => existsSync(inConfig(name));

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'folders-'));
  await mkdir(at('config'));
  await mkdir(at('secrets'));
});
afterEach(() => rm(directory, { recursive: true }));

async function mount(volume: string, entries: Files): Promise<void> {
  await rm(at(volume), { recursive: true, force: true });
  await mkdir(at(volume));
  for (const [key, text] of Object.entries(entries)) await writeFile(join(at(volume), key), text);
}

/**
 * Runs the script as at a start of the pod with these files, and the entries of another ConfigMap in the same
 * mount.
 */
async function start(
  files: Files,
  {
    hash = 'sha256:1',
    beneath = {},
    parts = {},
    folders,
    script = PREPARE_CONFIG,
  }: { hash?: string; beneath?: Files; parts?: Files; folders?: readonly string[]; script?: string } = {},
): Promise<{ report: PrepareReport; message: string }> {
  const entries = {
    ...beneath,
    ...entriesFor(files, hash),
    '.content-hash': hash,
    ...(folders && { '.folders': JSON.stringify(folders) }),
  };
  await mount('configuration', entries);
  await mount('parts', parts);
  const places = ['config', 'configuration', 'secrets', 'report', 'allow'].map(at);
  const { output } = await runPython(script, ...places, '8123', ...['delivery', 'parts'].map(at));
  if (!existsSync(at('report'))) throw new Error(output);
  const message = await readFile(at('report'), 'utf8');
  return { report: parsePrepareReport(message)!, message };
}

async function write(name: string, text: string): Promise<void> {
  await mkdir(dirname(inConfig(name)), { recursive: true });
  await writeFile(inConfig(name), text);
}

test('files of folders are links into the mount, which a change of the mount reaches', async () => {
  expect((await start(FILES)).report).toMatchObject({
    result: 'loaded',
    content: { configuration: 'sha256:1' },
  });
  const link = await readlink(inConfig(HALL));
  expect(dirname(link)).toBe(at('configuration'));
  await writeFile(link, 'changed');
  expect(await content(HALL)).toBe('changed');
  expect((await start(FILES)).report.result).toBe('unchanged');
});

test('a package that the hub would not load is named with file and line, and the last good ones stay, even from the volume alone', async () => {
  await start(FILES);
  const broken = { ...FILES, [HALL]: 'counter:\n  hall:\n    initial: many\n', 'packages/new.yaml': '' };
  const { report } = await start(broken, { hash: 'sha256:2' });
  expect(report).toMatchObject({ result: 'replaced', content: { configuration: 'sha256:2' } });
  expect(report.problems.map(({ text }) => text).join()).toMatch(
    /packages\/ground floor\/hall\.yaml, line \d/,
  );
  expect(await content(HALL)).toBe(FILES[HALL]);
  expect(await content('packages/attic.yaml')).toBe(FILES['packages/attic.yaml']);
  expect(exists('packages/new.yaml')).toBe(false);
});

test('a file that is removed from a folder is removed from the volume together with its folder, and files of users stay', async () => {
  await start(FILES);
  await write('packages/mine.yaml', counter('mine'));
  await start({ 'configuration.yaml': MAIN, 'packages/attic.yaml': counter('attic') }, { hash: 'sha256:2' });
  expect(exists('packages/ground floor')).toBe(false);
  expect(await content('packages/mine.yaml')).toBe(counter('mine'));
  await start({ 'configuration.yaml': MAIN }, { hash: 'sha256:3' });
  expect(exists('packages/attic.yaml')).toBe(false);
  expect(exists('packages/mine.yaml')).toBe(true);
  expect(exists('hub-operator/last-good-folders')).toBe(false);
  expect(exists('hub-operator/last-good/configuration.yaml')).toBe(true);
});

test('keys of another content in the same mount are not files, in either form', async () => {
  const other = {
    ...entriesFor({ ...FILES, 'packages/old.yaml': '' }, 'sha256:0'),
    '.content-hash': 'sha256:0',
  };
  await start(FILES, { beneath: other });
  expect(exists('packages/old.yaml')).toBe(false);
  await start({ 'configuration.yaml': MAIN }, { hash: 'sha256:2', beneath: other });
  expect(exists('packages')).toBe(false);
  await start(FILES, { hash: 'sha256:3', beneath: { 'configuration.yaml': '', 'flat.yaml': '' } });
  expect(exists('flat.yaml')).toBe(false);
  expect(await content(HALL)).toBe(FILES[HALL]);
});

test('an earlier version of the script finds neither a configuration nor a copy of one, and changes nothing', async () => {
  await start(FILES);
  expect(existsSync(join(at('configuration'), 'configuration.yaml'))).toBe(false);
  expect(exists('hub-operator/last-good')).toBe(false);
  expect(exists(`hub-operator/last-good-folders/${HALL}`)).toBe(true);
});

test('a copy that an earlier version has written since is the last good one, and is removed with the next one', async () => {
  await start(FILES);
  await write('hub-operator/last-good/configuration.yaml', `${MAIN}counter:\n`);
  const broken = { ...FILES, [HALL]: 'counter:\n  hall:\n    initial: many\n' };
  expect((await start(broken, { hash: 'sha256:2' })).report.result).toBe('replaced');
  expect(await content('configuration.yaml')).toBe(`${MAIN}counter:\n`);
  expect(exists(HALL)).toBe(false);
  const more = { ...FILES, 'packages/new.yaml': '' };
  expect((await start(more, { hash: 'sha256:3' })).report.result).toBe('loaded');
  expect(exists('hub-operator/last-good')).toBe(false);
  expect(exists(`hub-operator/last-good-folders/${HALL}`)).toBe(true);
  await write('hub-operator/last-good/configuration.yaml', MAIN);
  expect((await start({ 'configuration.yaml': MAIN }, { hash: 'sha256:4' })).report.result).toBe('loaded');
  expect(exists('hub-operator/last-good-folders')).toBe(false);
});

test('a user’s secret in a folder is not in a message', async () => {
  await write('packages/secrets.yaml', 'attic: hidden-attic\n');
  await write('more/secrets.yaml', 'cellar: hidden-cellar\n');
  await write('more/cellar.yaml', 'initial: !secret cellar\n');
  const own = { ...FILES, [HALL]: 'counter:\n  hall:\n    initial: !secret attic\n' };
  const { message } = await start(own);
  expect(message).toContain("got '***'");
  expect(message).not.toContain('hidden');
  const text = `${MAIN}counter: !include_dir_named more\n`;
  const other = await start({ 'configuration.yaml': text }, { hash: 'sha256:2', folders: ['more'] });
  expect(other.message).toContain("got '***'");
  expect(other.message).not.toContain('hidden');
});

test('a file in the place of a folder or a generated file is kept aside', async () => {
  await write('packages', 'a file');
  await start(FILES);
  expect(await content('packages.before-hub-operator')).toBe('a file');
  await rm(inConfig('packages'), { recursive: true });
  await mkdir(at('elsewhere'));
  await symlink(at('elsewhere'), inConfig('packages'));
  await start(FILES);
  expect(existsSync(at('elsewhere/attic.yaml'))).toBe(false);
  expect(await content(HALL)).toBe(FILES[HALL]);
  await rm(inConfig('packages/attic.yaml'));
  await mkdir(inConfig('packages/attic.yaml'));
  await start(FILES);
  expect(await content('packages/attic.yaml')).toBe(FILES['packages/attic.yaml']);
  await rm(inConfig('packages/attic.yaml'));
  await write('packages/attic.yaml', '# mine\n');
  await start(FILES);
  expect(await content('packages/attic.yaml.before-hub-operator-2')).toBe('# mine\n');
});

test('files behind a user’s link stay unchanged, also deeper in it', async () => {
  await mkdir(at('elsewhere/deep'), { recursive: true });
  await writeFile(at('elsewhere/attic.yaml'), '# mine');
  await writeFile(at('elsewhere/deep/x'), '# mine');
  await symlink(at('elsewhere'), inConfig('packages'));
  const files = { 'packages/deep/x/y.yaml': '', ...FILES };
  expect((await start(files)).report.result).toBe('loaded');
  expect(await readdir(at('elsewhere'))).toEqual(['attic.yaml', 'deep']);
  expect(await readFile(at('elsewhere/attic.yaml'), 'utf8')).toBe('# mine');
  expect(await readdir(at('elsewhere/deep'))).toEqual(['x']);
  expect(await readlink(inConfig('packages.before-hub-operator'))).toBe(at('elsewhere'));
});

test('a file that becomes a folder of the same name leaves nothing behind', async () => {
  await start({ 'configuration.yaml': MAIN, 'packages/a.yaml': '' });
  await start({ 'configuration.yaml': MAIN, 'packages/a.yaml/b.yaml': '' }, { hash: 'sha256:2' });
  expect(await readdir(inConfig('packages'))).toEqual(['a.yaml']);
  expect(await readdir(inConfig('packages/a.yaml'))).toEqual(['b.yaml']);
});

test('an empty folder of a user stays when its last file is removed, and one that was made for files does not', async () => {
  await mkdir(inConfig('themes'));
  const files = { 'configuration.yaml': MAIN, 'themes/night.yaml': '', 'made/by/us.yaml': '' };
  await start(files);
  await start({ 'configuration.yaml': MAIN }, { hash: 'sha256:2' });
  expect([exists('themes'), exists('made')]).toEqual([true, false]);
  await mkdir(inConfig('made'));
  await start(files, { hash: 'sha256:3' });
  await start({ 'configuration.yaml': MAIN }, { hash: 'sha256:4' });
  expect([exists('made'), exists('made/by')]).toEqual([true, false]);
});

test.each([
  ['a name that is too long', `!include ${'ä'.repeat(200)}.yaml`],
  ['a name that no file can have', '!include "a\\0b.yaml"'],
  ['a folder that no folder can be', '!include_dir_named "a\\0b"'],
  ['a file beneath a file', '!include automations.yaml/x.yaml'],
])('an include of %s is a fault that the check names, and the last good files stay', async (_, include) => {
  await start({ 'configuration.yaml': MAIN });
  const text = `${MAIN}input_boolean: ${include}\n`;
  const { report } = await start({ 'configuration.yaml': text }, { hash: 'sha256:2' });
  expect(report).toMatchObject({ result: 'replaced', problems: [{ kind: 'error' }] });
  expect(await content('configuration.yaml')).toBe(MAIN);
});

test('an include of the hub’s own directory includes neither the copies of the script nor changes files of users', async () => {
  await start({ 'configuration.yaml': MAIN });
  await write('scenes.yaml', '# mine\n');
  const text = `${MAIN}input_boolean: !include_dir_merge_named .\n`;
  for (const hash of ['sha256:2', 'sha256:3'])
    expect((await start({ 'configuration.yaml': text }, { hash })).report.result).toBe('replaced');
  expect(await readdir(inConfig('hub-operator/last-good'))).toEqual(['configuration.yaml']);
  expect(await content('scenes.yaml')).toBe('# mine\n');
  expect(exists('scenes.yaml.before-hub-operator')).toBe(false);
});

test('a list of names in another form is ignored', async () => {
  for (const names of [null, 5, { a: 1 }]) {
    const beneath = { '.files': JSON.stringify({ content: 'sha256:1', names }) };
    expect((await start({ 'configuration.yaml': MAIN }, { beneath })).report.content).toBeDefined();
  }
});

test('a manipulated list of names links nothing outside of the hub’s directory', async () => {
  const names = [
    'configuration.yaml',
    '../outside.yaml',
    '/tmp/outside.yaml',
    '.storage/auth',
    'a/../../x.yaml',
  ];
  const beneath = { '.files': JSON.stringify({ content: 'sha256:2', names }) };
  const entries = { ...entriesFor(FILES, 'sha256:2'), ...beneath };
  await start({}, { hash: 'sha256:2', beneath: entries });
  expect(await content('configuration.yaml')).toBe(MAIN);
  expect(existsSync(at('outside.yaml'))).toBe(false);
  expect(exists('.storage/auth')).toBe(false);
});

test('an automation in a file of a folder counts, even if it has the name of a file of the API', async () => {
  const text = '- alias: A\n  triggers: []\n  actons: []\n';
  const main = `${MAIN}automation own: !include_dir_merge_list rooms\n`;
  const { report } = await start({ 'configuration.yaml': main, 'rooms/hall/automations.yaml': text });
  expect(report.problems.map((each) => each.text).join()).toContain("Automation with alias 'A'");
});

describe('folders that the configuration includes and that do not exist', () => {
  const NONE = { missing: [], empty: [], present: [], isComplete: true };

  test('are distinguished', async () => {
    await write('present/deep/a.yaml', '');
    await write('empty/.hidden/a.yaml', '');
    await write('empty/a.txt', '');
    await write('empty/secrets.yaml', '');
    await write('a-file', '');
    const folders = ['a-file', 'absent', 'empty', 'present', 'a/b'];
    const { report } = await start({ 'configuration.yaml': '' }, { folders });
    expect(report.folders).toEqual({
      ...NONE,
      missing: ['a-file', 'absent', 'a/b'],
      empty: ['empty'],
      present: ['present'],
    });
    expect((await start({ 'configuration.yaml': '' })).report.folders).toEqual(NONE);
  });

  test('are too many or too long to be named all, and the missing ones come first', async () => {
    await write('present/a.yaml', '');
    const many = ['present', ...Array.from({ length: 30 }, (_, index) => `absent-${index}`)];
    const { missing, present, isComplete } = (await start({ 'configuration.yaml': '' }, { folders: many }))
      .report.folders!;
    expect([missing.length, present.length, isComplete]).toEqual([20, 0, false]);
    const keys = Array.from({ length: 12 }, (_, index) => `    ${'ä'.repeat(900)}${index}: 1\n`).join('');
    const text = `input_number:\n  x:\n    min: 1\n    max: 2\n${keys}`;
    const long = Array.from({ length: 30 }, (_, index) => `${'ö'.repeat(110)}${index}`);
    const { message, report } = await start(
      { 'configuration.yaml': text },
      { hash: `sha256:${'2'.repeat(64)}`, folders: long },
    );
    expect(report.problems).toHaveLength(1);
    expect(report.folders).toMatchObject({ isComplete: false });
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(4_096);
  });
});

describe('a configuration in parts', () => {
  const entriesOfAll = (files: Files): Files =>
    Object.assign({}, ...partsOf(files).map(entriesOfPart)) as Files;
  /** The script with a shorter wait for the parts. */
  const impatient = PREPARE_CONFIG.replace('LONGEST_WAIT = 150', 'LONGEST_WAIT = 2');
  const before = withPartFiles(FILES);
  const after = withPartFiles({ ...FILES, [HALL]: counter('porch') });

  test('is linked from all of them', async () => {
    const { report } = await start(before, { parts: entriesOfAll(before) });
    expect(report).toMatchObject({ result: 'loaded', content: { configuration: 'sha256:1' } });
    expect(await content(HALL)).toBe(counter('hall'));
    expect(await readlink(inConfig('hub-operator/part-0.yaml'))).toContain(at('parts'));
  });

  test.each([
    ['of another content', () => entriesOfAll(before)],
    ['that is not there', () => ({})],
  ])('is not read with a part %s: the last good one is used', async (_, parts) => {
    expect(impatient).not.toBe(PREPARE_CONFIG);
    await start(before, { parts: entriesOfAll(before) });
    const { report } = await start(after, { hash: 'sha256:2', parts: parts(), script: impatient });
    expect(report.result).toBe('kept');
    expect(report.content).toBeUndefined();
    expect(await content(HALL)).toBe(counter('hall'));
    const digests = [0, 1, 2, 3, 4, 5, 6, 7].map((index) => content(`hub-operator/part-${index}.yaml`));
    expect(await Promise.all(digests)).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7].map((index) => before[`hub-operator/part-${index}.yaml`]),
    );
  });

  test('is replaced by one ConfigMap: a remaining part, or a user’s ConfigMap with such a name, contributes no file', async () => {
    await start(before, { parts: entriesOfAll(before) });
    const parts = { ...entriesOfAll(before), 'configuration.yaml': 'logger:\n', 'other.yaml': '' };
    const small = { ...FILES, [HALL]: counter('small') };
    const { report } = await start(small, { hash: 'sha256:2', parts });
    expect(report).toMatchObject({ result: 'loaded', content: { configuration: 'sha256:2' } });
    expect(await content(HALL)).toBe(counter('small'));
    expect(await content('configuration.yaml')).toBe(MAIN);
    const plain = { 'configuration.yaml': MAIN };
    expect((await start(plain, { hash: 'sha256:3', parts })).report.result).toBe('loaded');
    expect([exists('other.yaml'), exists(HALL)]).toEqual([false, false]);
  });

  test('is read when its last part arrives', async () => {
    const late = setTimeout(() => {
      for (const [key, text] of Object.entries(entriesOfAll(after)))
        void writeFile(join(at('parts'), key), text);
    }, 2_000);
    const { report } = await start(after, { parts: entriesOfAll(before) });
    clearTimeout(late);
    expect(report.result).toBe('loaded');
    expect(await content(HALL)).toBe(counter('porch'));
  });
});
