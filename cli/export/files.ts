import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../operator/base/is-object';
import { unbounded } from '../../operator/base/bounded-task';
import { findingsOf } from '../../operator/offline/findings';
import { type Manifest, readManifests } from '../../operator/offline/manifests';
import type { NotExpressed } from './config-entities';
import { likelySecrets } from './likely-secrets';
import type { Described } from './resources';
import { yamlText } from './yaml-text';

/** A file of an export. */
export interface ExportedFile {
  /** Below the folder of the export: `automations/porch.yaml`. */
  readonly path: string;
  readonly text: string;
  readonly object: string;
  readonly kind: string;
  readonly name: string;
}

export interface CheckedFiles {
  readonly files: readonly ExportedFile[];
  readonly notExpressed: readonly NotExpressed[];
}

/** `HubAutomation` → `automations` */
const folderOf = (plural: string): string => plural.replace(/^hub(?=.)/, '');

/**
 * The files of the resources that the operator would accept. The others are named with the reason: a value that looks like a
 * secret, or the finding of `validate`.
 */
export async function filesOf(described: readonly Described[]): Promise<CheckedFiles> {
  const notExpressed: NotExpressed[] = [];
  const candidates: (ExportedFile & { readonly manifest: Manifest })[] = [];
  for (const { object, definition, resource } of described) {
    const reason = unfit(resource);
    if (reason !== undefined) {
      notExpressed.push({ object, reason });
      continue;
    }
    const path = join(folderOf(definition.plural), `${resource.metadata.name}.yaml`);
    const text = yamlText(resource);
    const [manifest] = readManifests(path, text);
    if (!manifest || !('object' in manifest) || !isDeepStrictEqual(manifest.object, plain(resource)))
      throw new Error(`cannot write ${object} as YAML: it would be read as another object`);
    const { kind, metadata } = resource;
    candidates.push({ path, text, object, kind, name: metadata.name, manifest });
  }
  const findings = await findingsOf(
    candidates.map(({ manifest }) => manifest),
    unbounded,
  );
  const errors = new Map(
    findings
      .filter(({ severity }) => severity === 'error')
      .reverse() // the first one of each file counts
      .map(({ file, field, message }) => [file, field === undefined ? message : `${field}: ${message}`]),
  );
  const files = candidates.flatMap(({ manifest: _, ...file }) => {
    const error = errors.get(file.path);
    if (error === undefined) return [file];
    notExpressed.push({ object: file.object, reason: error });
    return [];
  });
  return { files, notExpressed };
}

/** Why a resource must not be written, regardless of the rules of its kind. */
function unfit({ spec }: Described['resource']): string | undefined {
  const secrets = likelySecrets(spec, ['spec']);
  if (secrets.length > 0)
    return `${secrets.join(' and ')} looks like a secret, which must not be in Git. Keep it in the hub, such as in a helper or a script of its own, or write the resource by hand.`;
  const unsafe = unsafeNumbers(spec, 'spec');
  if (unsafe.length > 0)
    return `${unsafe.join(' and ')} is an integer beyond 2^53, which would lose digits: make it a text in the hub.`;
  return undefined;
}

function unsafeNumbers(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => unsafeNumbers(item, `${path}[${index}]`));
  if (isObject(value))
    return Object.entries(value).flatMap(([key, part]) => unsafeNumbers(part, `${path}.${key}`));
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? [path] : [];
}

/** Without prototypes and absent fields, as an object of JSON. */
const plain = (value: object): unknown => JSON.parse(JSON.stringify(value));

/** Writes the files. @returns paths of YAML files in their folders that this export did not write, such as of removed objects */
export async function writeFiles(folder: string, files: readonly ExportedFile[]): Promise<readonly string[]> {
  const folders = [...new Set(files.map(({ path }) => path.slice(0, path.lastIndexOf('/'))))];
  for (const each of folders) await mkdir(join(folder, each), { recursive: true });
  for (const { path, text } of files) await writeFile(join(folder, path), text);
  const written = new Set(files.map(({ path }) => path));
  const present = await Promise.all(
    folders.map(async (each) => (await readdir(join(folder, each))).map((name) => join(each, name))),
  );
  return present.flat().filter((path) => path.endsWith('.yaml') && !written.has(path));
}
