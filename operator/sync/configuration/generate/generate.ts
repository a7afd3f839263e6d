import { isMap } from 'yaml';
import type { HubConfigurationSpec } from '../../../kinds';
import { MARKER_SCRIPT } from '../../../kinds/ids';
import { type HubYaml, parseHubYaml, type Position, type YamlProblem } from './hub-yaml';
import { extensionOf, markedText, unmarkedText } from './extension';
import type { ContentHashes } from '../../hub-pod/content-hashes';
import { markerYaml } from './content-marker';
import { configHash } from './config-hash';
import { secretUses } from './secret-uses';
import type { OwnDefinitions } from '../../hub-pod/own-definitions';
import { HUB_PORT } from '../../hub-pod/owned-objects';
import { ConfigFiles, fieldOfFile, type Files, isYaml, type Origins } from './config-files';
import { hiddenInFolders } from './hidden-files';
import { includeCircle } from './include-circle';
import { arePlain } from './file-keys';
import { type ForeignTarget, foldersOf, foreignTargets } from './foreign-targets';
import { lockoutsIn } from './lockouts';
import { type CutOff, cutOff, type HttpSection, httpSectionIn } from './http-section';
import { isPartFile, partFile, withPartFiles } from './parts';
import { fitsInOne, problemOfFiles, problemOfStored } from './sizes';
import { ownDefinitionsIn } from './own-definitions';
import { readSections, type Sections, withSecretDigests } from './sections';
import { digestOfSecret, type ReadSecrets } from '../../secrets-yaml/secrets-yaml';

/** The parts of a defaulted spec from which the files are generated. */
export interface ConfigurationSource extends Pick<
  HubConfigurationSpec,
  'configuration' | 'files' | 'recorder'
> {
  /** Absent if all files are from `spec.files`. */
  readonly origins?: Origins;
  /** True if the hub reads delivered files. */
  readonly readsDelivery?: boolean;
  /** True if the hub has a generated `secrets.yaml`, whose hash the marker can refer to. */
  readonly hasSecrets: boolean;
}

export interface GeneratedConfiguration {
  readonly type: 'configuration';
  /** All files by name, with the operator's marker in `configuration.yaml`. */
  readonly files: Files;
  /** Hash of the files without the marker, since the marker contains it: `sha256:<hex>`. */
  readonly hash: string;
  /** The sections as the hub reads them. The digests of secrets are empty. */
  readonly sections: Sections;
  /** The keys that `!secret` refers to, each with its first place in words. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Sentences about parts of `spec.recorder` that do not take effect. */
  readonly notices: readonly string[];
  /** Sentences about parts that the hub accepts, but with which the operator cannot log in. */
  readonly lockouts: readonly string[];
  /** Included files and folders that only the hub's volume may have. */
  readonly targets: readonly ForeignTarget[];
  /** Sentences about further targets, which the start of a pod does not check. */
  readonly unlooked: readonly string[];
  /** Sentences about files and entries that the hub silently ignores. */
  readonly hidden: readonly string[];
  readonly http: HttpSection;
  readonly definitions: OwnDefinitions;
}

/** The `message` names the problem and its position. */
interface Invalid {
  readonly type: 'invalid';
  readonly message: string;
}

export type Generated = GeneratedConfiguration | Invalid;

type Parse = typeof parseHubYaml;

const BYTE_ORDER_MARK = '\ufeff';

const CANNOT_EXTEND =
  'The includes of automations, scenes and scripts cannot be added to spec.configuration as it is written: write its sections one below the other, without an indent.';

const TOO_DEEP =
  'spec.configuration with spec.files refers to its parts too deeply: shorten its chains of aliases.';

const RESERVED = `The script ${MARKER_SCRIPT} in spec.configuration or spec.files has the id of the operator's own script: rename it.`;

/**
 * Generates the hub's `configuration.yaml` and the other files. The user's text is kept byte for byte.
 * Entries that the hub needs are added: the includes of the files that the hub's config API writes, even if a
 * section of the user includes other files; the recorder; and the marker (rules.md, "Generated
 * configuration"). The result is parsed again to verify it.
 */
export function generateConfiguration(
  source: ConfigurationSource,
  at: (part: string) => void = () => undefined,
  parseText = parseHubYaml,
): Generated {
  try {
    return generate(source, at, remembering(parseText));
  } catch (error) {
    // Aliases of aliases can be nested too deeply for the parser.
    if (error instanceof RangeError) return invalid(TOO_DEEP);
    throw error;
  }
}

/**
 * A sentence about too many or too large files.
 *
 * @returns undefined when the files are within the limits
 */
export const problemOfSource = ({
  configuration,
  files,
}: Pick<ConfigurationSource, 'configuration' | 'files'>): string | undefined =>
  problemOfFiles({ ...files, 'configuration.yaml': configuration });

function generate(source: ConfigurationSource, at: (part: string) => void, parse: Parse): Generated {
  const checked = check(source, at, parse);
  if ('message' in checked) return checked;
  const { written, all } = checked;
  const { configuration, files = {}, origins, hasSecrets } = source;
  // The byte order mark is added again at the end, since positions in the text are counted without it.
  const mark = configuration.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const extension = extensionOf(configuration.slice(mark.length), checked.configuration, source, parse);
  if (!extension) return invalid(CANNOT_EXTEND);
  const { file, notices } = extension;
  // The marker is left out of the sections. It contains the hash of all other content.
  const unmarkedFiles = { ...files, 'configuration.yaml': mark + unmarkedText(extension) };
  const hash = configHash(unmarkedFiles);
  const { targets, unlooked } = foreignTargets(written, parse, origins);
  const sections = readSections(unmarkedFiles, parse);
  const uses = [...sections.values()].flatMap(({ secrets }) => Object.keys(secrets));
  const notes = sections.size + uses.length + foldersOf(targets).length;
  const isOne = Object.keys(files).length === 0 || fitsInOne(unmarkedFiles, notes);
  const stored = isOne ? files : withPartFiles(files);
  const text = markedText(extension, markerYaml(hash, stored, hasSecrets), parse);
  if (text === undefined) return invalid(CANNOT_EXTEND);
  const generated = { ...stored, 'configuration.yaml': mark + text };
  const tooLarge = problemOfStored(generated, notes, (name) => fieldOfFile(name, origins));
  if (tooLarge !== undefined) return invalid(tooLarge);
  return {
    type: 'configuration',
    files: generated,
    hash,
    sections,
    secrets: secretUses(written, parse, origins),
    notices,
    lockouts: lockoutsIn(extension.sections, file.anchors),
    targets,
    unlooked,
    hidden: hiddenInFolders(all),
    http: httpSectionIn(all),
    definitions: ownDefinitionsIn(all),
  };
}

/** The files as the user wrote them, of which the hub can read all. */
interface CheckedFiles {
  /** All texts by name. */
  readonly written: Files;
  readonly configuration: HubYaml;
  readonly all: ConfigFiles;
}

/** Checks the user's files, from their sizes and syntax to what they would do to the hub. */
function check(
  { configuration, files = {}, origins }: ConfigurationSource,
  at: (part: string) => void,
  parse: Parse,
): CheckedFiles | Invalid {
  const tooMuch = problemOfSource({ configuration, files });
  if (tooMuch !== undefined) return invalid(tooMuch);
  at('spec.configuration');
  const parsed = parse(configuration);
  if (!('document' in parsed)) return notYaml('spec.configuration', parsed);
  const { root, positionOf } = parsed;
  if (root !== null && !isMap(root)) {
    const problem = 'it must be a mapping of section names, such as `logger:`';
    return notYaml('spec.configuration', { problem, position: positionOf(root.range![0]) });
  }
  const inTheWay = fileInTheWay(Object.keys(files), origins);
  if (inTheWay) return invalid(inTheWay);
  for (const [name, text] of Object.entries(files)) {
    if (!isYaml(name)) continue;
    const field = fieldOfFile(name, origins);
    at(field);
    const file = parse(text);
    if (!('document' in file)) return notYaml(field, file);
  }
  at(Object.keys(files).length === 0 ? 'spec.configuration' : 'spec.configuration with spec.files');
  const written = { 'configuration.yaml': configuration, ...files };
  const all = new ConfigFiles(written, parse, origins);
  if (hasMarker(all)) return invalid(RESERVED);
  const circle = includeCircle(all);
  if (circle) return invalid(circle);
  const cut = cutOff(all);
  return cut ? unreachable(cut) : { written, configuration: parsed, all };
}

/** Reports whether a script of the user has the id of the operator's marker script. */
function hasMarker(files: ConfigFiles): boolean {
  const sections = files.root ? [...files.entries(files.root)] : [];
  const scripts = sections.filter(([key]) => /^script( |$)/.test(key)).map(([, place]) => place);
  return [...scripts, ...files.section('script').inPackages].some(
    (each) => files.entry(each, MARKER_SCRIPT) !== undefined,
  );
}

/**
 * A sentence about a path that is used both as a file and as a folder.
 *
 * @returns undefined when there is none
 */
function fileInTheWay(names: readonly string[], origins: Origins | undefined): string | undefined {
  const known = new Set(names);
  for (const name of names) {
    const folders = name.split('/').slice(0, -1);
    const other = folders
      .map((_, index) => folders.slice(0, index + 1).join('/'))
      .find((each) => known.has(each));
    if (other !== undefined)
      return `${fieldOfFile(other, origins)} is a file, and the folder of ${name}: rename one of the two.`;
  }
  return undefined;
}

/** Remembers parsed texts: a large file takes a second to parse, and is read in several places. */
function remembering(parseText: Parse): Parse {
  const known = new Map<string, ReturnType<Parse>>();
  return (text) => {
    const parsed = known.get(text) ?? parseText(text);
    known.set(text, parsed);
    return parsed;
  };
}

const REMEDIES = {
  server_port: 'spec.service.port of the Hub sets the port of its Service',
  server_host: 'spec.networkPolicy of the Hub limits who reaches it',
};

function unreachable({ setting, place: { node, file } }: CutOff): Invalid {
  const at = node?.range ? `, ${inWords(file.positionOf(node.range[0]))}` : '';
  const remedy = REMEDIES[setting as keyof typeof REMEDIES] ?? 'encrypt at the Ingress or Gateway of the Hub';
  return invalid(
    `spec.configuration${at}: http.${setting} would make the hub unreachable for the probes of its pod and for the operator, which use plain HTTP at port ${HUB_PORT}. Remove it; ${remedy}.`,
  );
}

const notYaml = (field: string, { problem, position }: YamlProblem): Invalid =>
  invalid(`${field}, ${inWords(position)}: ${problem}.`);

const invalid = (message: string): Invalid => ({ type: 'invalid', message });

const inWords = ({ line, column }: Position): string => `line ${line}, column ${column}`;

/** A generated configuration together with the secrets that it uses, as the hub gets it. */
export interface Content {
  /** All files by name, including `configuration.yaml`. */
  readonly files: Files;
  /** The included folders that only the hub's volume may have. The start of a pod checks them. */
  readonly folders: readonly string[];
  readonly targets: readonly ForeignTarget[];
  /** Sentences about parts that the hub and its check silently ignore. */
  readonly remarks: readonly string[];
  readonly http: HttpSection;
  readonly definitions: OwnDefinitions;
  /** The value of the marker once the hub has read this content. */
  readonly marker: ContentHashes;
  readonly sections: Sections;
  /** The hashes that the pod template gets: a change of them restarts the hub. */
  readonly restart: ContentHashes;
  /** Reads the sections of other files, with the digests of the present secrets. */
  readonly sectionsOf: (files: Files) => Promise<Sections>;
}

export function contentOf(
  { files, hash, sections, targets, unlooked, hidden, http, definitions }: GeneratedConfiguration,
  secrets: ReadSecrets | undefined,
  restart: ContentHashes,
  texts: { sections(files: Files): Promise<Sections> },
): Content {
  const digest = (key: string): string => (secrets ? digestOfSecret(secrets, key) : '');
  const sectionsOf = async (each: Files) => withSecretDigests(await texts.sections(each), digest);
  const marker = { configuration: hash, secrets: secrets?.hash };
  const sealed = withSecretDigests(sections, digest);
  const folders = foldersOf(targets);
  const remarks = [...hidden, ...unlooked];
  return {
    files,
    folders,
    targets,
    remarks,
    http,
    definitions,
    marker,
    sections: sealed,
    restart,
    sectionsOf,
  };
}

/**
 * Reports whether a file holds the digest of a part other than the first. These files are added and removed
 * together, so the first one represents all.
 */
const isOtherPart = (name: string): boolean => name !== partFile(0) && isPartFile(name);

/**
 * The names of files that only the start of a pod adds or removes, since files are linked into the hub's
 * directory then. A link to a file that was removed would break the include of its folder, since the hub
 * could not read it.
 */
export function filesOfNextPod(before: Files, after: Files): string[] {
  const added = Object.keys(after).filter((name) => !Object.hasOwn(before, name));
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  const changed = arePlain(Object.keys(before)) ? added : [...added, ...removed];
  return changed.filter((name) => !isOtherPart(name));
}
