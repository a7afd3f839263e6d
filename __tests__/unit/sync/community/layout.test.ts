import { type Archive, readArchive } from '../../../../operator/sync/community/archive';
import { unpack } from '../../../../operator/sync/community/layout';
import type { RepositoryPackage } from '../../../../operator/sync/community/repository-package';
import { INSTALLED_FILES } from '../../../../operator/base/limits';
import { LINK, repositoryZip, zip } from '../../../../sandbox/zip';
import { unbounded } from '../../../../operator/base/bounded-task';

type Category = Parameters<typeof unpack>[1];

/** Returns the package of a repository that contains its files itself. */
async function packageOf(archive: Archive, category: Category, name = 'name'): Promise<RepositoryPackage> {
  const found = await unpack(archive, category, name, unbounded);
  if ('attachments' in found) throw new Error(`${found.why}: ${found.attachments.join()}`);
  return found;
}

const unpacked = async (category: Category, files: Readonly<Record<string, string>>, name?: string) =>
  packageOf(await readArchive(repositoryZip(files)), category, name);

/** Returns target, provides and the paths of the files. */
async function layout(...given: Parameters<typeof unpacked>) {
  const { files, ...others } = await unpacked(...given);
  return { ...others, files: [...files.keys()].sort() };
}

const manifest = (domain: string, version: string | undefined = '1.0.0') =>
  JSON.stringify({ domain, version });
const themes = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}: {}\n`).join('');
const hacs = (fields: object) => ({ 'hacs.json': JSON.stringify(fields) });

describe('unpack', () => {
  test('an integration is the folder below custom_components, without caches', async () => {
    const files = {
      'README.md': '',
      'custom_components/shelf/manifest.json': manifest('shelf'),
      'custom_components/shelf/__init__.py': '',
      'custom_components/shelf/translations/en.json': '{}',
      'custom_components/shelf/__pycache__/x.pyc': '',
      'custom_components/README.md': '',
    };
    expect(await layout('integration', files)).toEqual({
      target: 'custom_components/shelf',
      isFile: false,
      provides: ['shelf'],
      files: ['__init__.py', 'manifest.json', 'translations/en.json'],
    });
  });

  test('an integration is the root where hacs.json says so', async () => {
    const files = { ...hacs({ content_in_root: true }), 'manifest.json': manifest('shelf'), 'sensor.py': '' };
    expect(await layout('integration', files)).toMatchObject({
      target: 'custom_components/shelf',
      files: ['hacs.json', 'manifest.json', 'sensor.py'],
    });
  });

  const component = (text: string, folder = 'shelf') => ({
    [`custom_components/${folder}/manifest.json`]: text,
  });
  test.each([
    ['nothing of it', {}, 'has no custom_components/<domain>/manifest.json'],
    [
      'another domain than its folder',
      component(manifest('table')),
      'does not have the name of the domain table',
    ],
    ['no version', component('{"domain": "shelf"}'), '"version" is missing'],
    ['a domain that leads elsewhere', component(manifest('../x')), '"domain" is not the domain'],
    ['no JSON', component('{'), 'is not valid JSON'],
    ['a list', component('[]'), 'is not a JSON object'],
    [
      'two integrations',
      { ...component(manifest('shelf')), ...component(manifest('table'), 'table') },
      'several integrations (shelf, table)',
    ],
    ['attachments without a name', hacs({ zip_release: true }), '"zip_release" needs a "filename"'],
    ['attachments that are no archive', hacs({ zip_release: true, filename: 'a.js' }), 'ends with .zip'],
    [
      'a large manifest',
      component(`{"domain": "shelf",${' '.repeat(256 * 1024)}"version": "1"}`),
      '"custom_components/shelf/manifest.json" has 257 KiB, and at most 256 KiB are accepted',
    ],
    [
      'a large hacs.json',
      { 'hacs.json': ' '.repeat(256 * 1024 + 1) },
      '"hacs.json" has 257 KiB, and at most 256 KiB',
    ],
    ['a file name with a path', hacs({ filename: '../shelf.js' }), '"filename" is not the name of a file'],
  ])('an integration with %s is refused', async (_, files, words) => {
    await expect(unpacked('integration', files as Record<string, string>)).rejects.toThrow(words);
  });

  test.each([
    [{ 'dist/card.js': '', 'dist/img/a.svg': '', 'src/card.ts': '' }, 'card', ['card.js', 'img/a.svg']],
    [{ 'card.js': '', 'card.js.map': '', 'package.json': '{}' }, 'lovelace-card', ['card.js', 'card.js.map']],
    [{ 'dist/card-bundle.js': '' }, 'lovelace-card', ['card-bundle.js']],
    [{ ...hacs({ filename: 'main.js' }), 'main.js': '', 'card.js': '' }, 'card', ['card.js', 'main.js']],
  ])('a plugin is its script in dist or at the root: %j', async (files, name, expected) => {
    const { provides, ...found } = await layout('plugin', files, name);
    expect(found).toMatchObject({ target: `www/community/${name}`, isFile: false, files: expected });
    expect(provides).toHaveLength(1);
    expect(provides[0]).toMatch(new RegExp(`^/local/community/${name}/[a-z-]+\\.js$`));
  });

  test('a plugin without its script is refused with the names that were tried', async () => {
    await expect(unpacked('plugin', { 'src/card.ts': '' }, 'lovelace-card')).rejects.toThrow(
      'has no lovelace-card.js or card.js or lovelace-card-bundle.js or card-bundle.js in dist/ or at its root',
    );
  });

  test('a theme is all files of themes, and provides the names in them', async () => {
    const files = {
      'themes/a.yaml': 'Night:\n  primary-color: "#000"\n',
      'themes/b/b.yaml': 'Day:\n  x: y\n',
    };
    expect(await layout('theme', files, 'nice')).toEqual({
      target: 'themes/nice',
      isFile: false,
      provides: ['Day', 'Night'],
      files: ['a.yaml', 'b/b.yaml'],
    });
  });

  test.each([
    ['no file', { 'nice.yaml': 'x: {}' }, 'no file *.yaml in themes/'],
    ['no YAML', { 'themes/a.yaml': 'a: [' }, 'is not valid YAML'],
    [
      'a large file',
      { 'themes/a.yaml': `x: {}${' '.repeat(512 * 1024)}` },
      '"themes/a.yaml" has 513 KiB, and at most 512 KiB are accepted',
    ],
    [
      'too many names in several files',
      { 'themes/a.yaml': themes('a', 250), 'themes/b.yaml': themes('b', 251) },
      'has more than 500 themes up to the file "themes/b.yaml"',
    ],
    ['a long name', { 'themes/a.yaml': `${'x'.repeat(201)}: {}` }, 'whose name has 201 characters'],
    ['no names', { 'themes/a.yaml': 'primary-color: "#000"' }, 'is not a map of themes'],
  ])('a theme with %s is refused', async (_, files, words) => {
    await expect(unpacked('theme', files as Record<string, string>)).rejects.toThrow(words);
  });

  test('a Python script and a template are one file', async () => {
    expect(await layout('python_script', { 'python_scripts/wake_up.py': '' })).toEqual({
      target: 'python_scripts/wake_up.py',
      isFile: true,
      provides: ['wake_up'],
      files: ['wake_up.py'],
    });
    expect(await layout('template', { 'tools.jinja': '' })).toMatchObject({
      target: 'custom_templates/tools.jinja',
      provides: ['tools.jinja'],
    });
    const several = { 'custom_templates/a.jinja': '', 'custom_templates/b.jinja': '' };
    await expect(unpacked('template', several)).rejects.toThrow(
      'several files in custom_templates/ or the root (a.jinja, b.jinja)',
    );
    expect(await layout('template', { ...several, ...hacs({ filename: 'b.jinja' }) })).toMatchObject({
      target: 'custom_templates/b.jinja',
    });
    await expect(unpacked('python_script', { 'python_scripts/a-b.py': '' })).rejects.toThrow(
      'no file for a Python script',
    );
  });

  test.each([
    ['in case', ['a.py', 'A.py']],
    ['in the case of a folder', ['sub/a.py', 'Sub/b.py']],
    ['in their Unicode form', ['caf\u00e9.py', 'cafe\u0301.py']],
    ['in full width', ['ab.py', '\uff41b.py']],
  ])('names that differ only %s are refused', async (_, names) => {
    const files = Object.fromEntries(names.map((name) => [`custom_components/shelf/${name}`, '']));
    await expect(unpacked('integration', { ...files, ...component(manifest('shelf')) })).rejects.toThrow(
      'which are the same on some volumes',
    );
  });

  const archived = (...entries: Parameters<typeof zip>[0]) =>
    readArchive(
      zip([
        { name: 'name-v1/' },
        { name: 'name-v1/custom_components/shelf/manifest.json', content: manifest('shelf') },
        ...entries,
      ]),
    );
  test('a link among the files is refused, and one elsewhere in the repository is allowed', async () => {
    const link = (name: string) => ({ name: `name-v1/${name}`, content: '/etc/passwd', mode: LINK });
    await expect(
      unpack(await archived(link('custom_components/shelf/x.py')), 'integration', 'name', unbounded),
    ).rejects.toThrow('has the link "custom_components/shelf/x.py"');
    const linked = await readArchive(zip([link('custom_components')]));
    await expect(unpack(linked, 'integration', 'name', unbounded)).rejects.toThrow(
      'has the link "custom_components"',
    );
    const found = await packageOf(await archived(link('docs')), 'integration');
    expect([...found.files.keys()]).toEqual(['manifest.json']);
  });

  test('a file twice, and a name that is a file and a folder, are refused', async () => {
    const file = (path: string) => ({ name: `name-v1/custom_components/shelf/${path}` });
    await expect(
      unpack(await archived(file('a.py'), file('a.py')), 'integration', 'name', unbounded),
    ).rejects.toThrow('twice');
    await expect(
      unpack(await archived(file('a'), file('a/b.py')), 'integration', 'name', unbounded),
    ).rejects.toThrow('as a file and as a folder');
  });

  test('more files than are accepted are refused', async () => {
    const files = Object.fromEntries(
      Array.from({ length: INSTALLED_FILES }, (_, index) => [`custom_components/shelf/${index}.py`, '']),
    );
    await expect(unpacked('integration', { ...files, ...component(manifest('shelf')) })).rejects.toThrow(
      `at most ${INSTALLED_FILES} are accepted`,
    );
  });
});
