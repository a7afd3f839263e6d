import { load, YAMLException } from 'js-yaml';
import type { HubCommunityRepositorySpec } from '../../kinds';
import { messageOf } from '../../errors';
import { isObject } from '../../is-object';
import { type Archive, shown } from './archive';
import type { RepositoryPackage } from './repository-package';
import { RepositoryRefused } from './refused';
import { select, type Selection } from './selection';

type Category = HubCommunityRepositorySpec['category'];

/** The fields of `hacs.json` that say where a repository keeps its files. */
interface Hints {
  readonly contentInRoot: boolean;
  readonly filename: string | undefined;
  readonly zipRelease: boolean;
}

/**
 * Finds the files that a repository of a category installs, as the community's conventions place them, and unpacks them.
 *
 * @param name of the repository, without its owner
 * @throws RepositoryRefused it has no such layout
 */
export async function unpack(archive: Archive, category: Category, name: string): Promise<RepositoryPackage> {
  const hints = await readHints(archive);
  if (hints.zipRelease && category === 'integration' && !hasFolder(archive, 'custom_components/'))
    throw new RepositoryRefused(
      'The repository offers its files only as an attachment of its releases (zip_release in hacs.json), which is not supported.',
    );
  return layouts[category](archive, hints, name);
}

/** Bytes of a file that is parsed: objects take many times its size in memory. */
const LARGEST_JSON = 256 * 1024;
const LARGEST_THEME = 512 * 1024;

/** Themes of a repository, and characters of a name: they are in the status. */
const MOST_THEMES = 500;
const LONGEST_THEME_NAME = 200;

const layouts: Readonly<
  Record<Category, (archive: Archive, hints: Hints, name: string) => Promise<RepositoryPackage>>
> = { integration, plugin, theme, python_script: pythonScript, template };

async function integration(archive: Archive, hints: Hints): Promise<RepositoryPackage> {
  const folder = hints.contentInRoot ? '' : integrationFolder(archive);
  const files = await readAll(archive, select(archive, folder, isUseful));
  const text = files.get('manifest.json');
  if (!text)
    throw new RepositoryRefused(`The repository has no ${folder}manifest.json, which an integration needs.`);
  const manifest = parseObject(text, `${folder}manifest.json`);
  const { domain, version } = manifest;
  if (typeof domain !== 'string' || !/^[a-z0-9_]{1,64}$/.test(domain))
    throw new RepositoryRefused(`In ${folder}manifest.json, "domain" is not the domain of an integration.`);
  if (typeof version !== 'string' || version === '')
    throw new RepositoryRefused(
      `In ${folder}manifest.json, "version" is missing: the hub does not load a custom integration without it.`,
    );
  if (folder !== '' && folder !== `custom_components/${domain}/`)
    throw new RepositoryRefused(
      `The folder ${folder} does not have the name of the domain ${domain} in its manifest.json.`,
    );
  return { target: `custom_components/${domain}`, isFile: false, files, provides: [domain] };
}

function integrationFolder(archive: Archive): string {
  const folders = archive.entries
    .map(({ path }) => /^custom_components\/([^/]+)\/manifest\.json$/.exec(path)?.[1])
    .filter((folder) => folder !== undefined);
  if (folders.length === 1) return `custom_components/${folders[0]}/`;
  // A link in its place is named.
  select(archive, 'custom_components/', () => true);
  throw new RepositoryRefused(
    folders.length === 0
      ? 'The repository has no custom_components/<domain>/manifest.json, which an integration needs.'
      : `The repository has several integrations (${folders.sort().join(', ')}), and one is supported.`,
  );
}

async function plugin(archive: Archive, hints: Hints, name: string): Promise<RepositoryPackage> {
  const short = name.replace(/^lovelace-/, '');
  const names = hints.filename
    ? [hints.filename]
    : [...new Set([name, short, `${name}-bundle`, `${short}-bundle`])].map((each) => `${each}.js`);
  const folders = hints.contentInRoot ? [''] : ['dist/', ''];
  for (const folder of folders)
    for (const file of names) {
      if (!archive.entries.some(({ path }) => path === folder + file)) continue;
      const accepts = folder === '' ? isScript : isUseful;
      const files = await readAll(archive, select(archive, folder, accepts));
      if (!files.has(file))
        throw new RepositoryRefused(`${shown(folder + file)} is no file that can be installed.`);
      const target = `www/community/${name}`;
      return { target, isFile: false, files, provides: [`/local/community/${name}/${file}`] };
    }
  throw new RepositoryRefused(
    `The repository has no ${names.join(' or ')} ${hints.contentInRoot ? 'at its root' : 'in dist/ or at its root'}, which a plugin needs. ` +
      'Files that are only attached to its releases are not supported.',
  );
}

async function theme(archive: Archive, hints: Hints, name: string): Promise<RepositoryPackage> {
  const folder = hints.contentInRoot ? '' : 'themes/';
  const accepts = (path: string) => path.endsWith('.yaml') && (folder !== '' || !path.includes('/'));
  const files = await readAll(archive, select(archive, folder, accepts));
  if (files.size === 0)
    throw new RepositoryRefused(
      `The repository has no file *.yaml ${folder === '' ? 'at its root' : 'in themes/'}, which a theme needs.`,
    );
  const names = new Set<string>();
  for (const [path, content] of files) {
    for (const each of themesIn(content, folder + path)) names.add(each);
    if (names.size > MOST_THEMES)
      throw new RepositoryRefused(
        `The repository has more than ${MOST_THEMES} themes up to the file ${shown(folder + path)}, which is not accepted.`,
      );
  }
  return { target: `themes/${name}`, isFile: false, files, provides: [...names].sort() };
}

/** A file has its themes by name. */
function themesIn(content: Buffer, path: string): string[] {
  assertSize(path, content.length, LARGEST_THEME);
  let themes: unknown;
  try {
    themes = load(content.toString());
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw new RepositoryRefused(
      `The file ${shown(path)} is not valid YAML: ${error.message.split('\n')[0]}.`,
    );
  }
  if (!isObject(themes) || Object.keys(themes).length === 0 || !Object.values(themes).every(isObject))
    throw new RepositoryRefused(`The file ${shown(path)} is not a map of themes by their names.`);
  const names = Object.keys(themes);
  const long = names.find(({ length }) => length > LONGEST_THEME_NAME);
  if (long !== undefined)
    throw new RepositoryRefused(
      `The file ${shown(path)} has a theme whose name has ${long.length} characters, and at most ${LONGEST_THEME_NAME} are accepted.`,
    );
  return names;
}

async function pythonScript(archive: Archive, hints: Hints): Promise<RepositoryPackage> {
  const folder = hints.contentInRoot ? '' : 'python_scripts/';
  const { file, content } = await singleFile(
    archive,
    hints,
    [folder],
    /^[A-Za-z0-9_]+\.py$/,
    'a Python script',
  );
  return {
    target: `python_scripts/${file}`,
    isFile: true,
    files: new Map([[file, content]]),
    provides: [file.replace(/\.py$/, '')],
  };
}

async function template(archive: Archive, hints: Hints): Promise<RepositoryPackage> {
  const folders = hints.contentInRoot ? [''] : ['custom_templates/', ''];
  const { file, content } = await singleFile(
    archive,
    hints,
    folders,
    /^[A-Za-z0-9_.-]+\.jinja$/,
    'a template',
  );
  return {
    target: `custom_templates/${file}`,
    isFile: true,
    files: new Map([[file, content]]),
    provides: [file],
  };
}

/** The file that `hacs.json` names, or else the only one in the first folder that has any. */
async function singleFile(
  archive: Archive,
  { filename }: Hints,
  folders: readonly string[],
  pattern: RegExp,
  what: string,
): Promise<{ readonly file: string; readonly content: Buffer }> {
  const places = folders.map((folder) => folder || 'the root').join(' or ');
  for (const folder of folders) {
    const accepts = (path: string) => pattern.test(path) && (filename === undefined || path === filename);
    const files = await readAll(archive, select(archive, folder, accepts));
    const [first, ...others] = files;
    if (!first) continue;
    if (others.length === 0) return { file: first[0], content: first[1] };
    const names = [...files.keys()].sort().join(', ');
    throw new RepositoryRefused(
      `The repository has several files in ${places} (${names}), and no "filename" in hacs.json says which one is ${what}.`,
    );
  }
  throw new RepositoryRefused(
    `The repository has no file for ${what} (${filename ?? pattern.source}) in ${places}.`,
  );
}

async function readHints(archive: Archive): Promise<Hints> {
  const entry = archive.entries.find(({ path, type }) => path === 'hacs.json' && type === 'file');
  if (entry) assertSize('hacs.json', entry.size, LARGEST_JSON);
  const json = entry ? parseObject(await archive.read(entry), 'hacs.json') : {};
  const filename = json['filename'];
  if (
    filename !== undefined &&
    (typeof filename !== 'string' || !/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(filename))
  )
    throw new RepositoryRefused('In hacs.json, "filename" is not the name of a file.');
  return {
    contentInRoot: json['content_in_root'] === true,
    filename,
    zipRelease: json['zip_release'] === true,
  };
}

async function readAll(archive: Archive, selection: Selection): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const [path, entry] of selection) files.set(path, await archive.read(entry));
  return files;
}

function parseObject(content: Buffer, path: string): Readonly<Record<string, unknown>> {
  assertSize(path, content.length, LARGEST_JSON);
  try {
    const json: unknown = JSON.parse(content.toString());
    if (isObject(json)) return json;
  } catch (error) {
    throw new RepositoryRefused(`The file ${shown(path)} is not valid JSON: ${messageOf(error)}.`);
  }
  throw new RepositoryRefused(`The file ${shown(path)} is not a JSON object.`);
}

function assertSize(path: string, size: number, limit: number): void {
  if (size > limit)
    throw new RepositoryRefused(
      `The file ${shown(path)} has ${Math.ceil(size / 1024)} KiB, and at most ${limit / 1024} KiB are accepted.`,
    );
}

const hasFolder = ({ entries }: Archive, folder: string): boolean =>
  entries.some(({ path }) => path.startsWith(folder));

/** What a repository needs for itself is not installed. */
const isUseful = (path: string): boolean =>
  !/(^|\/)(__pycache__|\.git[^/]*|\.DS_Store)(\/|$)/.test(path) && !path.endsWith('.pyc');

const isScript = (path: string): boolean => /^[^/]+\.js(\.gz|\.map)?$/.test(path);
