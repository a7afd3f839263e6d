import { hash as hashOf } from 'node:crypto';
import { isAlias, isMap, isScalar, isSeq, type Node, type Scalar } from 'yaml';
import { MARKER_SCRIPT } from '../../../kinds/ids';
import { ConfigFiles, type Files, isIncludeOfFolder, type Place } from './config-files';
import { parseHubYaml } from './hub-yaml';
import { dereference } from './merge-keys';
import { PlaceMap } from './place-map';

/**
 * A part of the configuration that the hub loads as a unit: `logger`, `automation`, `sensor.filter` (the
 * platform filter of sensor), `homeassistant.auth_providers`. Labelled sections (`automation ui`) and
 * packages belong to their section.
 */
export interface Section {
  /**
   * Hash of the section as the hub reads it: includes and aliases are resolved, comments and values of
   * secrets left out.
   */
  readonly digest: string;
  /** The keys that the section uses by `!secret`, each with the digest of its value. */
  readonly secrets: Readonly<Record<string, string>>;
}

export type Sections = ReadonlyMap<string, Section>;

/** Parts of a section that the hub loads differently from the rest of it. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  frontend: ['themes'],
  homeassistant: ['auth_providers', 'auth_mfa_modules'],
  logger: ['filters'],
  lovelace: ['resources'],
};

/** Name of the part for files that templates import. The hub has a separate service that reads them again. */
export const CUSTOM_TEMPLATES = 'homeassistant.custom_templates';

/** Sections whose reload reads blueprints again. */
const WITH_BLUEPRINTS: ReadonlySet<string> = new Set(['automation', 'script', 'template']);

/** Sections whose items have no platform, regardless of the names of their keys. */
const WITHOUT_PLATFORMS: ReadonlySet<string> = new Set(['automation', 'script', 'template', 'homeassistant']);

/** The top-level section of a part: `logger` for `logger.filters`. */
export const sectionOf = (part: string): string => part.split('.', 1)[0]!;

/**
 * The sections of a configuration. A file that is not YAML has none, since the hub would not load it either.
 * The operator's own marker is left out. The digests of secrets are empty.
 */
export function readSections(files: Files, parse = parseHubYaml): Sections {
  return new SectionReader(new ConfigFiles(files, parse)).read();
}

/**
 * Sets the digests of secrets.
 *
 * @param secretDigest returns a digest that changes with the value of the secret; empty if there is no such
 * secret
 */
export function withSecretDigests(sections: Sections, secretDigest: (key: string) => string): Sections {
  const seal = ({ digest, secrets }: Section): Section => ({
    digest,
    secrets: Object.fromEntries(Object.keys(secrets).map((key) => [key, secretDigest(key)])),
  });
  return new Map([...sections].map(([name, section]) => [name, seal(section)]));
}

/**
 * Limit for the number of sections and uses of secrets, since the record in a ConfigMap has no room for more.
 */
const MOST_NOTES = 10_000;

type Content = string | Place;

interface Summary {
  readonly digest: string;
  /** True if the node is a secret, or contains one. */
  readonly hasSecrets: boolean;
}

class SectionReader {
  private readonly contributions = new Map<string, { digests: string[]; contents: Content[] }>();
  private readonly summaries = new PlaceMap<Summary>();
  private readonly inProgress = new PlaceMap<true>();
  private notes = 0;

  constructor(private readonly files: ConfigFiles) {}

  read(): Sections {
    const { root } = this.files;
    if (root) this.addAll(root, false);
    for (const name of this.files.names) this.addUsed(name);
    return new Map(
      [...this.contributions].map(([name, { digests, contents }]) => {
        const secrets = Object.fromEntries(this.secretsIn(contents).map((key) => [key, '']));
        return [name, { digest: hash(digests), secrets }];
      }),
    );
  }

  /** Adds a file that the hub reads without an include to the section that uses it. */
  private addUsed(name: string): void {
    const [folder, domain = ''] = name.split('/');
    const section =
      folder === 'custom_templates' && domain ? CUSTOM_TEMPLATES : folder === 'blueprints' ? domain : '';
    if (section === CUSTOM_TEMPLATES || WITH_BLUEPRINTS.has(section))
      this.add(section, [name, this.files.textOf(name)]);
  }

  /** Adds the sections of a mapping, which is `configuration.yaml` or a package. */
  private addAll(place: Place, isPackage: boolean): void {
    for (const [key, written] of this.files.entries(place)) {
      const section = key.split(' ', 1)[0]!;
      const content = this.files.follow(written);
      // The marker is recognised by its id, which no script of a user has.
      const isMarker = section === 'script' && this.files.entry(content, MARKER_SCRIPT) !== undefined;
      if (!isMarker) this.addSection(section, content, written, isPackage);
    }
  }

  private addSection(section: string, content: Place, written: Place, isPackage: boolean): void {
    if (this.files.isMapping(content) && Object.hasOwn(PARTS, section))
      return this.addParts(section, content, isPackage);
    const items = this.files.items(content);
    const platforms = items.map((item) => this.platformOf(section, item));
    if (platforms.every((platform) => platform === undefined)) return this.add(section, [written]);
    items.forEach((item, index) => {
      const platform = platforms[index];
      this.add(platform === undefined ? section : `${section}.${platform}`, [item]);
    });
  }

  /**
   * Adds a section whose parts are loaded separately. Packages inside of a package are ignored, as by the
   * hub.
   */
  private addParts(section: string, content: Place, isPackage: boolean): void {
    const rest: Content[] = [];
    for (const [key, place] of this.files.entries(content)) {
      if (section === 'homeassistant' && key === 'packages' && !isPackage) this.addPackages(place);
      else if (PARTS[section]!.includes(key)) this.add(`${section}.${key}`, [place]);
      else rest.push(key, place);
    }
    this.add(section, rest);
  }

  private addPackages(written: Place): void {
    const isMapping = (place: Place) => this.files.isMapping(place);
    for (const each of isMapping(written) ? this.files.entries(written).values() : [written])
      if (isMapping(each)) this.addAll(each, true);
      else this.add('homeassistant.packages', [each]);
  }

  private platformOf(section: string, place: Place): string | undefined {
    if (WITHOUT_PLATFORMS.has(section)) return undefined;
    const written = this.files.entry(place, 'platform');
    const platform = written && dereference(written.node, written.file.anchors);
    return isScalar(platform) && !platform.tag ? String(platform.value) : undefined;
  }

  private add(name: string, contents: readonly Content[]): void {
    const present = this.contributions.get(name) ?? { digests: [], contents: [] };
    present.digests.push(this.summarize(contents).digest); // a copy for each of 37,000 items would take seconds
    for (const each of contents) present.contents.push(each);
    this.contributions.set(name, present);
  }

  /**
   * The keys that contents refer to by `!secret`, sorted. They are collected in one set for a whole section:
   * a set per node would grow with the square of the number of nodes.
   */
  private secretsIn(contents: readonly Content[]): string[] {
    const keys = new Set<string>();
    const visited = new PlaceMap<true>();
    const ahead = [...contents];
    while (ahead.length > 0 && this.notes + keys.size <= MOST_NOTES) {
      const next = ahead.pop()!;
      if (typeof next === 'string' || next.node === null || visited.get(next)) continue;
      visited.set(next, true);
      if (!this.summaryOf(next).hasSecrets) continue;
      if (isSecret(next.node)) keys.add(String(next.node.value));
      for (const inner of this.contentOf(next)) ahead.push(inner);
    }
    this.notes += keys.size + 1;
    return [...keys].sort();
  }

  private summaryOf(place: Place): Summary {
    const { node } = place;
    if (node === null) return this.summarize(['null']);
    const known = this.summaries.get(place);
    if (known) return known;
    // The hub's check rejects a node that contains itself.
    if (this.inProgress.get(place)) return this.summarize(['itself']);
    this.inProgress.set(place, true);
    const { digest, hasSecrets } = this.summarize(this.contentOf(place));
    const summary = { digest, hasSecrets: hasSecrets || isSecret(node) };
    this.inProgress.delete(place);
    if (!isShort(node)) this.summaries.set(place, summary);
    return summary;
  }

  private summarize(contents: readonly Content[]): Summary {
    let hasSecrets = false;
    const words = contents.map((content) => {
      if (typeof content === 'string') return content;
      const inner = this.summaryOf(content);
      hasSecrets ||= inner.hasSecrets;
      return inner.digest;
    });
    return { digest: hash(words), hasSecrets };
  }

  /** The strings and nodes that a node consists of. */
  private contentOf({ node, file }: Place): Content[] {
    const inFile = (inner: unknown): Place => ({ node: inner as Node | null, file });
    if (isAlias(node)) return [inFile(dereference(node, file.anchors))];
    if (isMap(node)) {
      const pairs = node.items;
      return ['map', node.tag ?? '', ...pairs.flatMap(({ key, value }) => [inFile(key), inFile(value)])];
    }
    if (isSeq(node)) return ['list', node.tag ?? '', ...node.items.map(inFile)];
    if (!isScalar(node)) return [];
    const value = String(node.value);
    const included = this.files.included({ node, file });
    if (included) return [{ node: included.root, file: included }];
    if (isIncludeOfFolder(node)) return ['directory', node.tag!, value, ...this.folder({ node, file })];
    return ['scalar', node.tag ?? '', node.type === 'PLAIN' ? 'plain' : 'quoted', value];
  }

  /** The known files of an included folder, each after its name. */
  private folder(place: Place): Content[] {
    return this.files.inFolder(place).flatMap((file) => [file.name, { node: file.root, file }]);
  }
}

/**
 * Reports whether a node needs no cached summary. Most nodes are short scalars, and caching them all would
 * take more memory than the nodes. Nodes with an anchor are cached, since aliases may repeat them.
 */
const isShort = (node: Node): boolean =>
  isScalar(node) && node.anchor === undefined && String(node.value).length <= 64;

const isSecret = (node: Node): node is Scalar => isScalar(node) && node.tag === '!secret';

function hash(parts: readonly string[]): string {
  // All parts are hashed in one call: a call costs more than the few bytes of a node.
  const whole = parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join('');
  return hashOf('sha256', whole, 'hex').slice(0, 32);
}
