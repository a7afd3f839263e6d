import { lstat, mkdir, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../operator/base/errors';
import { isObject } from '../../operator/base/is-object';
import { type BoundedTasks, unbounded } from '../../operator/base/bounded-task';
import { type Finding, findingsOf } from '../../operator/offline/findings';
import { type Manifest, readManifests } from '../../operator/offline/manifests';
import type { NotExpressed } from './config-entities';
import { likelySecrets, webhookIds } from './likely-secrets';
import { CommandError } from '../command-error';
import { NotWritable, printDocument } from '../yaml/print';
import { isSame, readingsOf } from '../yaml/readings';
import { readText, replaceFile } from '../yaml/replace-file';
import { isSameObject } from '../yaml/same-object';
import type { Described } from './resources';

/** A file of an export. */
export interface ExportedFile {
  /** Path below the folder of the export, such as `automations/porch.yaml`. */
  readonly path: string;
  readonly text: string;
  readonly object: string;
  readonly kind: string;
  readonly name: string;
  /** True for a file of the hub that is not a manifest. */
  readonly isRaw?: true;
}

/** A fact about a file that the user should know before the file is published. */
export interface Warning {
  readonly path: string;
  /** The warning, as a sentence. */
  readonly message: string;
}

interface CheckedFiles {
  readonly files: readonly ExportedFile[];
  readonly warnings: readonly Warning[];
  readonly notExpressed: readonly NotExpressed[];
}

/** The folder of a kind, such as `automations` for `hubautomations`. */
const folderOf = (plural: string): string => plural.replace(/^hub(?=.)/, '');

/**
 * The files for the resources that the operator would accept. Other resources are listed with the reason: a
 * value that looks like a secret, or a finding of `validate`.
 */
export async function filesOf(described: readonly Described[]): Promise<CheckedFiles> {
  const notExpressed: NotExpressed[] = [];
  const warnings: Warning[] = [];
  const candidates: (ExportedFile & { readonly manifest: Manifest })[] = [];
  for (const { object, definition, resource, path: given, warning } of described) {
    const reason = unfit(resource);
    if (reason !== undefined) {
      notExpressed.push({ object, reason });
      continue;
    }
    const path = given ?? join(folderOf(definition.plural), `${resource.metadata.name}.yaml`);
    const text = textOf(resource);
    if (typeof text !== 'string') {
      notExpressed.push({ object, reason: `It cannot be written as YAML: ${text.problem}.` });
      continue;
    }
    const [manifest] = readManifests(path, text) as [Manifest];
    const webhooks = webhookIds(resource.spec, ['spec']);
    if (webhooks.length > 0) warnings.push({ path, message: `${webhooks.join(' and ')}${WEBHOOK}` });
    if (warning !== undefined) warnings.push({ path, message: warning });
    const { kind, metadata } = resource;
    candidates.push({ path, text, object, kind, name: metadata.name, manifest });
  }
  const findings = await findingsOf(
    candidates.map(({ manifest }) => manifest),
    unbounded,
  );
  const errors = firstErrors(findings);
  const files = candidates.flatMap(({ manifest: _, ...file }) => {
    const error = errors.get(file.path);
    if (error === undefined) return [file];
    notExpressed.push({ object: file.object, reason: error });
    return [];
  });
  const written = new Set(files.map(({ path }) => path));
  return { files, notExpressed, warnings: warnings.filter(({ path }) => written.has(path)) };
}

/** The first error of each file. */
const firstErrors = (findings: readonly Finding[]): ReadonlyMap<string, string> =>
  new Map(
    findings
      .filter(({ severity }) => severity === 'error')
      .reverse() // the map keeps the last value, so the first error of each file wins
      .map(({ file, field, message }) => [file, field === undefined ? message : `${field}: ${message}`]),
  );

const WEBHOOK =
  ' is a secret: who knows it can trigger the automation. Keep the file where only people of the house read it.';

/** Why a resource must not be written, regardless of the rules of its kind; undefined if it may be. */
function unfit({ spec }: Described['resource']): string | undefined {
  const secrets = likelySecrets(spec, ['spec']);
  if (secrets.length > 0)
    return `${secrets.join(' and ')} looks like a secret, which must not be in Git. Keep it in the hub, such as in a helper or a script of its own, or write the resource by hand.`;
  const unsafe = unsafeNumbers(spec, 'spec');
  if (unsafe.length > 0)
    return `${unsafe.join(' and ')} is a whole number beyond 2^53, which would lose digits: make it a text in the hub.`;
  return undefined;
}

/**
 * Paths of unsafe numbers. Large floats are included, because the API server writes them like integers, and
 * the operator refuses those.
 */
function unsafeNumbers(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => unsafeNumbers(item, `${path}[${index}]`));
  if (isObject(value))
    return Object.entries(value).flatMap(([key, part]) => unsafeNumbers(part, `${path}.${key}`));
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? [path] : [];
}

function textOf(resource: Described['resource']): string | { readonly problem: string } {
  try {
    const text = printDocument(resource);
    const [read] = readingsOf(text);
    return isSame(read, { kubectl: resource, yaml12: resource })
      ? text
      : { problem: 'it would be read as another object' };
  } catch (error) {
    if (error instanceof NotWritable) return { problem: error.message };
    throw error;
  }
}

/** A file that an export did not write, with the reason as a sentence. */
export interface KeptFile {
  readonly path: string;
  readonly reason: string;
}

/** The result of writing the files of an export. */
interface WrittenFiles {
  readonly written: readonly ExportedFile[];
  readonly kept: readonly KeptFile[];
  /**
   * YAML files in the same folders for which this export has no object, for example because the object was
   * removed.
   */
  readonly others: readonly string[];
}

const OTHER_CONTENT =
  'It is there with another content. Compare it with an export into another folder, take fields over with kubectl hub pull, or replace all such files with --force.';

/**
 * Writes the files below the folder. An existing file with an equal object is not changed, so that comments
 * are kept. A file with other content is kept too, unless `isReplaced` is set.
 *
 * @param texts reads the existing files
 * @throws CommandError a link leads out of the folder, or a file cannot be written
 */
export async function writeFiles(
  folder: string,
  files: readonly ExportedFile[],
  { isReplaced, texts }: { readonly isReplaced: boolean; readonly texts: BoundedTasks },
): Promise<WrittenFiles> {
  const folders = [...new Set(files.map(({ path }) => dirname(path)))];
  const ways = new Set(folders.flatMap(wayTo));
  for (const each of ways) await makeFolder(join(folder, each));
  const kept: KeptFile[] = [];
  for (const file of files) {
    const path = join(folder, file.path);
    const former = await readText(path).catch((error: unknown) => {
      if (error instanceof CommandError) return error;
      throw error;
    });
    if (former instanceof CommandError) kept.push({ path: file.path, reason: `${former.message}.` });
    else if (former === undefined) await replaceFile(path, former, file.text);
    else if (
      former !== file.text &&
      (file.isRaw || !(await isSameObject(texts, { former, text: file.text })))
    ) {
      if (isReplaced) await replaceFile(path, former, file.text);
      else kept.push({ path: file.path, reason: OTHER_CONTENT });
    }
  }
  const expected = new Set(files.map(({ path }) => path));
  const present = await Promise.all(
    folders.map(async (each) => (await readdir(join(folder, each))).map((name) => join(each, name))),
  );
  const others = present.flat().filter((path) => path.endsWith('.yaml') && !expected.has(path));
  const left = new Set(kept.map(({ path }) => path));
  return { written: files.filter(({ path }) => !left.has(path)), kept, others };
}

/** All folders on the way to a path: `.`, `a` and `a/b` for `a/b`. */
const wayTo = (folder: string): readonly string[] =>
  folder === '.' ? ['.'] : [...wayTo(dirname(folder)), folder];

/** @throws CommandError */
async function makeFolder(path: string): Promise<void> {
  try {
    await makeFolders(path);
    if (!(await lstat(path)).isSymbolicLink()) return;
  } catch (error) {
    throw new CommandError(`cannot write into ${path}: ${messageOf(error)}`);
  }
  throw new CommandError(`${path} is a symbolic link, which is not followed: replace it by a folder`);
}

/**
 * Creates a folder and its parents. The recursive `mkdir` of Node.js never ends where a file system permits
 * no new folder, such as `/proc`.
 */
async function makeFolders(path: string): Promise<void> {
  const isThere = (each: string) =>
    lstat(each).then(
      () => true,
      () => false,
    );
  if (!(await isThere(path))) {
    const parent = dirname(path);
    if (parent !== path && !(await isThere(parent))) await makeFolders(parent);
    await mkdir(path);
  } else if (!(await stat(path)).isDirectory()) throw new Error('it is no folder');
}
