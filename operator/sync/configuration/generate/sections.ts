import { createHash } from 'node:crypto';
import { isAlias, isMap, isScalar, isSeq, type Node } from 'yaml';
import { MARKER_SCRIPT } from '../../../kinds/ids';
import { ConfigFiles, type Files, nameInConfig, type Place } from './config-files';
import { dereference, parseHubYaml } from './hub-yaml';

/**
 * A part of the configuration that the hub loads as a whole: `logger`, `automation`, `sensor.filter` (the platform filter
 * of sensor), `homeassistant.auth_providers`. Labelled sections (`automation ui`) and packages count for their section.
 */
export interface Section {
  /** Hash of the section as the hub reads it, through includes and aliases, without comments and without values of secrets. */
  readonly digest: string;
  /** The keys that it uses by `!secret`, each with the digest of its value. */
  readonly secrets: Readonly<Record<string, string>>;
}

export type Sections = ReadonlyMap<string, Section>;

/** Parts of a section that the hub loads in another way than the rest of it. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  frontend: ['themes'],
  homeassistant: ['auth_providers', 'auth_mfa_modules'],
  logger: ['filters'],
  lovelace: ['resources'],
};

/** Sections whose items have no platform, regardless of the names of their keys. */
const WITHOUT_PLATFORMS: ReadonlySet<string> = new Set(['automation', 'script', 'template', 'homeassistant']);

/** The top-level section of a part: `logger` of `logger.filters`. */
export const sectionOf = (part: string): string => part.split('.', 1)[0]!;

/**
 * The sections of a configuration. A file that is not YAML has none: the hub would not load it either. The operator's
 * own marker is none. The digests of secrets are empty.
 */
export function readSections(files: Files, parse = parseHubYaml): Sections {
  return new SectionReader(new ConfigFiles(files, parse)).read();
}

/** @param secretDigest stands for the value of a secret: another value has another digest. Empty: there is no such secret. */
export function withSecretDigests(sections: Sections, secretDigest: (key: string) => string): Sections {
  const seal = ({ digest, secrets }: Section): Section => ({
    digest,
    secrets: Object.fromEntries(Object.keys(secrets).map((key) => [key, secretDigest(key)])),
  });
  return new Map([...sections].map(([name, section]) => [name, seal(section)]));
}

type Content = string | Place;

interface Summary {
  readonly digest: string;
  readonly secrets: ReadonlySet<string>;
}

function sectionFrom(parts: readonly Summary[]): Section {
  const keys = [...new Set(parts.flatMap(({ secrets }) => [...secrets]))].sort();
  const secrets = Object.fromEntries(keys.map((key) => [key, '']));
  return { digest: hash(parts.map(({ digest }) => digest)), secrets };
}

class SectionReader {
  private readonly contributions = new Map<string, Summary[]>();
  private readonly summaries = new Map<Node, Summary>();
  private readonly inProgress = new Set<Node>();

  constructor(private readonly files: ConfigFiles) {}

  read(): Sections {
    const { root } = this.files;
    if (root) this.addAll(root);
    return new Map([...this.contributions].map(([name, parts]) => [name, sectionFrom(parts)]));
  }

  /** Adds the sections of a mapping: of `configuration.yaml`, or of a package. */
  private addAll(place: Place): void {
    for (const [key, written] of this.files.entries(place)) {
      const section = key.split(' ', 1)[0]!;
      const content = this.files.follow(written);
      // No script of a person has the id of the marker.
      const isMarker = section === 'script' && this.files.entries(content).has(MARKER_SCRIPT);
      if (!isMarker) this.addSection(section, content, written);
    }
  }

  private addSection(section: string, content: Place, written: Place): void {
    const { node, file } = content;
    if (isMap(node) && Object.hasOwn(PARTS, section)) return this.addParts(section, content);
    const items = isSeq(node) ? (node.items as Node[]) : isMap(node) ? [node] : [];
    const platforms = items.map((item) => this.platformOf(section, { node: item, file }));
    if (platforms.every((platform) => platform === undefined)) return this.add(section, [written]);
    items.forEach((item, index) => {
      const platform = platforms[index];
      this.add(platform === undefined ? section : `${section}.${platform}`, [{ node: item, file }]);
    });
  }

  private addParts(section: string, content: Place): void {
    const rest: Content[] = [];
    for (const [key, place] of this.files.entries(content)) {
      if (section === 'homeassistant' && key === 'packages') this.addPackages(place);
      else if (PARTS[section]!.includes(key)) this.add(`${section}.${key}`, [place]);
      else rest.push(key, place);
    }
    this.add(section, rest);
  }

  private addPackages(written: Place): void {
    const isMapping = (place: Place) => isMap(this.files.follow(place).node);
    for (const each of isMapping(written) ? this.files.entries(written).values() : [written])
      if (isMapping(each)) this.addAll(each);
      else this.add('homeassistant.packages', [each]);
  }

  private platformOf(section: string, place: Place): string | undefined {
    if (WITHOUT_PLATFORMS.has(section)) return undefined;
    const written = this.files.entries(place).get('platform');
    const platform = written && dereference(written.node, written.file.anchors);
    return isScalar(platform) && !platform.tag ? String(platform.value) : undefined;
  }

  private add(name: string, contents: readonly Content[]): void {
    const present = this.contributions.get(name) ?? [];
    present.push(this.summarize(contents)); // a copy for each of 37,000 items would take seconds
    this.contributions.set(name, present);
  }

  private summaryOf({ node, file }: Place): Summary {
    if (node === null) return this.summarize(['null']);
    const known = this.summaries.get(node);
    if (known) return known;
    // A node that contains itself: the hub's check refuses it.
    if (this.inProgress.has(node)) return this.summarize(['itself']);
    this.inProgress.add(node);
    const summary = this.summarize(this.contentOf({ node, file }));
    this.inProgress.delete(node);
    const uses = isScalar(node) && node.tag === '!secret' ? [String(node.value)] : [];
    const complete = { ...summary, secrets: new Set([...summary.secrets, ...uses]) };
    this.summaries.set(node, complete);
    return complete;
  }

  private summarize(contents: readonly Content[]): Summary {
    const secrets = new Set<string>();
    const words = contents.map((content) => {
      if (typeof content === 'string') return content;
      const inner = this.summaryOf(content);
      for (const key of inner.secrets) secrets.add(key);
      return inner.digest;
    });
    return { digest: hash(words), secrets };
  }

  /** Words and nodes that a node consists of. */
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
    const included = this.files.included(node);
    if (included) return [{ node: included.root, file: included }];
    if (node.tag?.startsWith('!include_dir')) return ['directory', node.tag, value, ...this.directory(value)];
    return ['scalar', node.tag ?? '', node.type === 'PLAIN' ? 'plain' : 'quoted', value];
  }

  /** The known files of a directory: they are all in that of the configuration. */
  private directory(path: string): Content[] {
    if (nameInConfig(path) !== '.') return [];
    return this.files.names
      .filter((name) => name !== 'configuration.yaml')
      .sort()
      .flatMap((name) => {
        const file = this.files.parse(name);
        return [name, ...(file ? [{ node: file.root, file }] : [])];
      });
  }
}

function hash(parts: readonly string[]): string {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(`${Buffer.byteLength(part)}:`).update(part);
  return sum.digest('hex').slice(0, 32);
}
