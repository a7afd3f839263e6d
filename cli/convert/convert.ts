import type { BoundedTasks } from '../../operator/base/bounded-task';
import { configuration, secrets as secretsKind } from '../../operator/kinds';
import { pathProblem } from '../../operator/kinds/file-paths';
import { GROUP_VERSION } from '../../operator/kinds/group';
import { type Files, isYaml } from '../../operator/sync/configuration/generate/config-files';
import { CommandError } from '../command-error';
import type { NotExpressed } from '../export/config-entities';
import { type ExportedFile, filesOf, type Warning } from '../export/files';
import { printDocument } from '../yaml/print';
import { describeBlueprints } from './blueprints';
import { checkConfiguration } from './check';
import { type ConfigMapPlan, filesFromOf, planConfigMaps } from './config-maps';
import { pastedKindTask } from './definitions';
import { describeDefinitions } from './describe-definitions';
import { HelpersOfYaml } from './helpers-of-yaml';
import { KINDS } from './hub-files';
import { type Inventory, inventoryTask } from './inventory';
import { isOfSecrets } from './given-secrets';
import { kustomization } from './kustomization';
import { secretsOf } from './secrets';
import type { Left, Source } from './sorting';
import { within } from './within';

interface Names {
  readonly hub: string;
  readonly namespace?: string;
  /** Whether helpers of the YAML become resources. */
  readonly helpers?: boolean;
}

/** The files for Git, and reports about everything that they do not contain. */
export interface Converted {
  readonly files: readonly ExportedFile[];
  readonly notExpressed: readonly NotExpressed[];
  /** Sentences about errors that make the configuration unusable. */
  readonly errors: readonly string[];
  readonly warnings: readonly Warning[];
  readonly stays: readonly Left[];
  /** The Secret that the user has to create. */
  readonly secret?: { readonly name: string; readonly keys: readonly string[] };
}

/** @throws CommandError reading a text exceeds the limits of time or memory */
export async function convert(source: Source, names: Names, texts: BoundedTasks): Promise<Converted> {
  const given = await named(source, texts);
  const helpers = await HelpersOfYaml.read(given, names.helpers === true, texts);
  const described = await describeDefinitions(given, names.hub, helpers, texts);
  const { files, ...taken } = await helpers.takeOut(given, described.resources, texts);
  const blueprints = await describeBlueprints(files, names.hub, texts);
  const checked = await filesOf([...taken.resources, ...blueprints.resources]);
  const own = Object.hasOwn(files, 'configuration.yaml')
    ? await convertConfiguration({ ...source, files }, blueprints.taken, names, texts)
    : { files: [], errors: [], warnings: [], stays: source.left, configMaps: [] };
  const resources = [...own.files.filter(({ kind }) => kind !== ''), ...checked.files];
  return {
    ...own,
    files: [
      ...own.files,
      ...checked.files,
      ...kustomization(
        resources.map(({ path }) => path),
        own.configMaps,
        names,
      ),
    ],
    notExpressed: [...described.notExpressed, ...checked.notExpressed],
    warnings: [
      ...own.warnings,
      ...taken.warnings.map((message) => ({ path: 'configuration', message })),
      ...checked.warnings,
    ],
    stays: [...own.stays, ...taken.stays],
  };
}

/**
 * The files of the source. If the source is a single file, its content decides which file of the hub it is,
 * such as automations.yaml.
 */
async function named({ type, files }: Source, texts: BoundedTasks): Promise<Files> {
  if (type === 'folder') return files;
  const [given] = Object.entries(files);
  if (!given) throw new CommandError('the file has no text in UTF-8: name a YAML file');
  const [name, text] = given;
  if (name === 'configuration.yaml' || Object.hasOwn(KINDS, name)) return files;
  const kind = await within(texts, pastedKindTask, text, name);
  const form = Object.entries(KINDS).find(([, each]) => each === kind)?.[0] ?? 'configuration.yaml';
  return { [form]: text };
}

async function convertConfiguration(
  { files, left }: Source,
  taken: ReadonlySet<string>,
  names: Names,
  texts: BoundedTasks,
) {
  const given = { files, left: left.map(({ path }) => path) };
  const inventory = await within(texts, inventoryTask, given, 'configuration.yaml');
  const { carried, stays, refused } = carriedFiles(files, taken, left, inventory);
  const configMaps = planConfigMaps(names.hub, carried);
  const manifest = resourceOf(configuration.kind, names.hub, names.hub, {
    configuration: files['configuration.yaml']!,
    ...(configMaps.length > 0 && { filesFrom: configMaps.map(filesFromOf) }),
  });
  const { secret, ...secrets } = secretsOf(names.hub, inventory);
  const raw = Object.entries(carried).map(([path, text]) => rawFile(`config/${path}`, text));
  const findings = withNotes(await checkConfiguration(manifest, configMaps, carried, texts), inventory);
  return {
    files: [
      resourceFile('hub-configuration.yaml', manifest),
      ...(secret
        ? [resourceFile('hub-secrets.yaml', resourceOf(secretsKind.kind, names.hub, names.hub, secret.spec))]
        : []),
      ...raw,
    ],
    errors: [...refused, ...findings.errors],
    warnings: [...findings.warnings, ...largeFiles(configMaps, carried), ...secrets.warnings].map(
      (message) => ({ path: 'configuration', message }),
    ),
    stays: [...stays, ...secrets.stays],
    configMaps,
    ...(secret && { secret: { name: secret.name, keys: secret.keys } }),
  };
}

/** The errors and warnings of the check, after the notes of the inventory. An error of both is there once. */
function withNotes(
  { errors, warnings }: Awaited<ReturnType<typeof checkConfiguration>>,
  { notes }: Inventory,
): { readonly errors: readonly string[]; readonly warnings: readonly string[] } {
  const messages = (isError: boolean) =>
    notes.filter((each) => each.isError === isError).map(({ message }) => message);
  const inNotes = new Set(messages(true));
  return {
    errors: [...inNotes, ...errors.filter((each) => !inNotes.has(each))],
    warnings: [...messages(false), ...warnings],
  };
}

/**
 * Splits the files of the source. Included files are `carried` along; files that are not included stay.
 * `refused` has a sentence for each included file that cannot be carried along.
 */
function carriedFiles(
  files: Files,
  taken: ReadonlySet<string>,
  left: readonly Left[],
  { included, lost }: Inventory,
) {
  const carried: Record<string, string> = {};
  const stays = left.filter(({ path }) => !lost.includes(path));
  const refused = left
    .filter(({ path }) => lost.includes(path))
    .map(({ path, reason }) => `${path} is included: ${reason}.`);
  const isIncluded = new Set(included);
  const handled = new Set(['configuration.yaml', 'secrets.yaml', ...Object.keys(KINDS), ...taken]);
  for (const [path, text] of Object.entries(files)) {
    if (handled.has(path) || path.startsWith('.')) continue;
    const isOfHub = /^blueprints\/[^/]+\/homeassistant\//.test(path);
    const isLoaded = isIncluded.has(path) || (/^(blueprints|custom_templates)\//.test(path) && !isOfHub);
    const problem = pathProblem(path);
    const character = isYaml(path) && isIncluded.has(path) ? undefined : lostCharacter(path, text);
    if (isOfSecrets(path)) stays.push({ path, reason: 'its keys belong into the Secret, too' });
    else if (isOfHub) stays.push({ path, reason: 'the hub writes its own blueprints itself' });
    else if (!isLoaded) stays.push({ path, reason: 'nothing includes it' });
    else if (problem !== undefined)
      refused.push(`${path}: ${problem}. Rename it, also where it is included.`);
    else if (character !== undefined) refused.push(character);
    else carried[path] = text;
  }
  return { carried, stays, refused };
}

/**
 * Characters that kubectl refuses or reads as a line break. In an included YAML file, they are an error for
 * the hub too.
 */
const NOT_KEPT = /[\x7f-\x9f\ufffe\uffff]/;

/** A sentence about the first character that would not reach the cluster; undefined if there is none. */
function lostCharacter(path: string, text: string): string | undefined {
  const found = NOT_KEPT.exec(text);
  if (!found) return undefined;
  const code = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  const line = text.slice(0, found.index).split('\n').length;
  return `${path}, line ${line}: kubectl does not keep the character U+${code}: remove it.`;
}

const largeFiles = (configMaps: readonly ConfigMapPlan[], files: Files): string[] =>
  configMaps
    .filter((each) => each.files.length === 1 && Buffer.byteLength(files[each.files[0]!.path]!) > 250_000)
    .map(
      ({ files: [file] }) =>
        `config/${file!.path} is too large for kubectl apply without --server-side: use that option, or split it.`,
    );

const resourceOf = (kind: string, name: string, hub: string, spec: object) => ({
  apiVersion: GROUP_VERSION,
  kind,
  metadata: { name },
  spec: { hubRef: { name: hub }, ...spec },
});

const resourceFile = (path: string, manifest: ReturnType<typeof resourceOf>): ExportedFile => ({
  path,
  text: printDocument(manifest),
  object: manifest.kind,
  kind: manifest.kind,
  name: manifest.metadata.name,
});

const rawFile = (path: string, text: string): ExportedFile => ({
  path,
  text,
  object: path,
  kind: '',
  name: path,
  isRaw: true,
});
