import type { HubCommunityRepositorySpec } from '../../kinds';
import { type Archive, readArchive, shown } from './archive';
import { type Hints, readHints } from './hints';
import { parseObject } from './json-file';
import { RepositoryRefused } from './errors';
import type { RepositoryPackage } from './repository-package';
import { readSelected, select } from './selection';
import { theme } from './theme-layout';

type Category = HubCommunityRepositorySpec['category'];

/** A repository whose files are attached to its releases. */
export interface Attached {
  /** Names that the attachment may have: the first one that the release has counts. */
  readonly attachments: readonly string[];
  /** The repository has the files itself as well, for a version that is no release. */
  readonly isOptional: boolean;
  /** Why an attachment is looked for, as the first half of a sentence. */
  readonly why: string;
  /** @throws RepositoryRefused */
  unpack(attachment: string, content: Buffer): Promise<RepositoryPackage>;
}

/**
 * Finds the files that a repository of a category installs, as the community's conventions place them, and unpacks them.
 *
 * @param name of the repository, without its owner
 * @throws RepositoryRefused it has no such layout
 */
export async function unpack(
  archive: Archive,
  category: Category,
  name: string,
): Promise<RepositoryPackage | Attached> {
  const hints = await readHints(archive);
  if (hints.zipRelease && category === 'integration')
    return attachedIntegration(hints, hasFolder(archive, 'custom_components/'));
  return layouts[category](archive, hints, name);
}

/**
 * Unpacks the files that are in the repository itself.
 *
 * @throws RepositoryRefused
 */
export async function unpackRepository(
  archive: Archive,
  category: Category,
  name: string,
): Promise<RepositoryPackage | Attached> {
  return layouts[category](archive, await readHints(archive), name);
}

/** The archive that is attached has the content of `custom_components/<domain>`. */
function attachedIntegration({ filename }: Hints, isOptional: boolean): Attached {
  if (!filename?.endsWith('.zip'))
    throw new RepositoryRefused(
      'In hacs.json, "zip_release" needs a "filename" that ends with .zip: the name of the attachment of a release.',
    );
  return {
    attachments: [filename],
    isOptional,
    why: `The repository offers its files as ${filename} attached to its releases (zip_release in hacs.json)`,
    unpack: async (_, content) =>
      integrationIn(await readArchive(content, false), '', `The attachment ${filename}`),
  };
}

/** Repositories that build their plugin attach the script alone. */
function attachedPlugin(name: string, scripts: readonly string[], why: string): Attached {
  return {
    attachments: scripts,
    isOptional: false,
    why,
    unpack: (script, content) => Promise.resolve(pluginOf(name, script, new Map([[script, content]]))),
  };
}

const layouts: Readonly<
  Record<Category, (archive: Archive, hints: Hints, name: string) => Promise<RepositoryPackage | Attached>>
> = { integration, plugin, theme, python_script: pythonScript, template };

function integration(archive: Archive, hints: Hints): Promise<RepositoryPackage> {
  return integrationIn(archive, hints.contentInRoot ? '' : integrationFolder(archive), 'The repository');
}

/** @param where begins a sentence */
async function integrationIn(archive: Archive, folder: string, where: string): Promise<RepositoryPackage> {
  const files = await readSelected(archive, select(archive, folder, isUseful));
  const text = files.get('manifest.json');
  if (!text)
    throw new RepositoryRefused(`${where} has no ${folder}manifest.json, which an integration needs.`);
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

async function plugin(archive: Archive, hints: Hints, name: string): Promise<RepositoryPackage | Attached> {
  const short = name.replace(/^lovelace-/, '');
  const names = hints.filename
    ? [hints.filename]
    : [...new Set([name, short, `${name}-bundle`, `${short}-bundle`])].map((each) => `${each}.js`);
  const folders = hints.contentInRoot ? [''] : ['dist/', ''];
  for (const folder of folders)
    for (const file of names) {
      if (!archive.entries.some(({ path }) => path === folder + file)) continue;
      const accepts = folder === '' ? isScript : isUseful;
      const files = await readSelected(archive, select(archive, folder, accepts));
      if (!files.has(file))
        throw new RepositoryRefused(`${shown(folder + file)} is no file that can be installed.`);
      return pluginOf(name, file, files);
    }
  const missing = `The repository has no ${names.join(' or ')} ${hints.contentInRoot ? 'at its root' : 'in dist/ or at its root'}`;
  const scripts = names.filter((each) => each.endsWith('.js'));
  if (scripts.length === 0) throw new RepositoryRefused(`${missing}, which a plugin needs.`);
  return attachedPlugin(name, scripts, missing);
}

function pluginOf(name: string, script: string, files: ReadonlyMap<string, Buffer>): RepositoryPackage {
  return {
    target: `www/community/${name}`,
    isFile: false,
    files,
    provides: [`/local/community/${name}/${script}`],
  };
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
    const files = await readSelected(archive, select(archive, folder, accepts));
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

const hasFolder = ({ entries }: Archive, folder: string): boolean =>
  entries.some(({ path }) => path.startsWith(folder));

/** Files that only the repository itself needs are not installed. */
const isUseful = (path: string): boolean =>
  !/(^|\/)(__pycache__|\.git[^/]*|\.DS_Store)(\/|$)/.test(path) && !path.endsWith('.pyc');

const isScript = (path: string): boolean => /^[^/]+\.js(\.gz|\.map)?$/.test(path);
