import type { BoundedTasks } from '../../base/bounded-task';
import type { HubCommunityRepositorySpec } from '../../kinds';
import { type Archive, readArchive, readSelected, select, shown } from './archive';
import { type Hints, parseObject, readHints } from './json-files';
import { RepositoryRefused } from './errors';
import type { RepositoryPackage } from './repository-package';
import { theme } from './theme-layout';

type Category = HubCommunityRepositorySpec['category'];
type Layout = (
  archive: Archive,
  hints: Hints,
  name: string,
  texts: BoundedTasks,
) => Promise<RepositoryPackage | Attached>;

/** A repository whose files are attached to its releases. */
interface Attached {
  /** Possible names of the attachment. The first that the release has is used. */
  readonly attachments: readonly string[];
  /**
   * Unpacks the files in the repository itself, for a version that is not a release. Absent if the repository
   * has none.
   */
  readonly unpackRepository?: (archive: Archive) => Promise<RepositoryPackage | Attached>;
  /** The reason for using an attachment, as the first half of a sentence. */
  readonly why: string;
  /** @throws RepositoryRefused */
  unpack(attachment: string, content: Buffer): Promise<RepositoryPackage>;
}

/**
 * Finds and unpacks the files that a repository of a category installs, at the places that the community's
 * conventions define.
 *
 * @param name name of the repository without its owner
 * @param texts reads its YAML files
 * @throws RepositoryRefused the repository does not have such a layout
 */
export async function unpack(
  archive: Archive,
  category: Category,
  name: string,
  texts: BoundedTasks,
): Promise<RepositoryPackage | Attached> {
  const hints = await readHints(archive);
  const inRepository = async (of: Archive) => layouts[category](of, await readHints(of), name, texts);
  if (!hints.zipRelease || category !== 'integration') return inRepository(archive);
  const hasFiles = archive.entries.some(({ path }) => path.startsWith('custom_components/'));
  return { ...attachedIntegration(hints), ...(hasFiles && { unpackRepository: inRepository }) };
}

/**
 * An integration whose release has an archive with the content of `custom_components/<domain>` as an
 * attachment.
 */
function attachedIntegration({ filename }: Hints): Attached {
  if (!filename?.endsWith('.zip'))
    throw new RepositoryRefused(
      'In hacs.json, "zip_release" needs a "filename" that ends with .zip: the name of the attachment of a release.',
    );
  return {
    attachments: [filename],
    why: `The repository offers its files as ${filename} attached to its releases (zip_release in hacs.json)`,
    unpack: async (_, content) =>
      integrationIn(await readArchive(content, false), '', `The attachment ${filename}`),
  };
}

/** @param where the beginning of a sentence that says where the files are */
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
  // If there is a link instead of the folder, this call reports it.
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
  // Repositories that build their plugin attach only the script to a release.
  return {
    attachments: scripts,
    why: missing,
    unpack: (script, content) => Promise.resolve(pluginOf(name, script, new Map([[script, content]]))),
  };
}

function pluginOf(name: string, script: string, files: ReadonlyMap<string, Buffer>): RepositoryPackage {
  return {
    target: `www/community/${name}`,
    isFile: false,
    files,
    provides: [`/local/community/${name}/${script}`],
  };
}

const pythonScript = singleFile({
  target: 'python_scripts',
  folders: ['python_scripts/'],
  pattern: /^[A-Za-z0-9_]+\.py$/,
  what: 'a Python script',
  nameOf: (file) => file.replace(/\.py$/, ''),
});

const template = singleFile({
  target: 'custom_templates',
  folders: ['custom_templates/', ''],
  pattern: /^[A-Za-z0-9_.-]+\.jinja$/,
  what: 'a template',
  nameOf: (file) => file,
});

interface SingleFile {
  /** Folder below `/config`. */
  readonly target: string;
  /** Folders of a repository. The first that has a matching file is used. */
  readonly folders: readonly string[];
  readonly pattern: RegExp;
  readonly what: string;
  /** Returns the name by which the hub knows the file. */
  readonly nameOf: (file: string) => string;
}

/**
 * A layout with one file: the file that `hacs.json` names, or else the only one in the first folder that has
 * any.
 */
function singleFile({ target, folders, pattern, what, nameOf }: SingleFile): Layout {
  return async (archive, { contentInRoot, filename }) => {
    const searched = contentInRoot ? [''] : folders;
    const places = searched.map((folder) => folder || 'the root').join(' or ');
    for (const folder of searched) {
      const accepts = (path: string) => pattern.test(path) && (filename === undefined || path === filename);
      const files = await readSelected(archive, select(archive, folder, accepts));
      const [file, ...others] = [...files.keys()].sort();
      if (file === undefined) continue;
      if (others.length === 0)
        return { target: `${target}/${file}`, isFile: true, files, provides: [nameOf(file)] };
      throw new RepositoryRefused(
        `The repository has several files in ${places} (${[file, ...others].join(', ')}), and no "filename" in hacs.json says which one is ${what}.`,
      );
    }
    throw new RepositoryRefused(
      `The repository has no file for ${what} (${filename ?? pattern.source}) in ${places}.`,
    );
  };
}

const layouts: Readonly<Record<Category, Layout>> = {
  integration: (archive, { contentInRoot }) =>
    integrationIn(archive, contentInRoot ? '' : integrationFolder(archive), 'The repository'),
  plugin,
  theme,
  python_script: pythonScript,
  template,
};

/** Reports whether a file is installed. Files that only the repository itself needs are left out. */
const isUseful = (path: string): boolean =>
  !/(^|\/)(__pycache__|\.git[^/]*|\.DS_Store)(\/|$)/.test(path) && !path.endsWith('.pyc');

const isScript = (path: string): boolean => /^[^/]+\.js(\.gz|\.map)?$/.test(path);
