import { posix } from 'node:path';
import { isAlias, isMap, isScalar, type Node } from 'yaml';
import { type HubYaml, parseHubYaml } from './hub-yaml';
import { dereference, entriesOf, entryOf } from './merge-keys';

/** The files that a hub loads, by name: `configuration.yaml` and those that it includes. */
export type Files = Readonly<Record<string, string>>;

/** A node, with the file that it is in. */
export interface Place {
  readonly node: Node | null;
  readonly file: HubYaml;
}

/** Files that include each other in a circle end here. */
const LONGEST_INCLUDE_CHAIN = 16;

/** The files of a configuration as one document: each is parsed when it is needed, and includes of known files are followed. */
export class ConfigFiles {
  private readonly parsed = new Map<string, HubYaml | undefined>();

  constructor(
    private readonly files: Files,
    private readonly parseText = parseHubYaml,
  ) {}

  get names(): string[] {
    return Object.keys(this.files);
  }

  /** `configuration.yaml`; undefined: it is not YAML. */
  get root(): Place | undefined {
    const file = this.parse('configuration.yaml');
    return file && { node: file.root, file };
  }

  /** Undefined: there is no such file, or it is not YAML. */
  parse(name: string): HubYaml | undefined {
    if (!this.parsed.has(name)) {
      const text = this.files[name];
      const parsed = text === undefined ? undefined : this.parseText(text);
      this.parsed.set(name, parsed && 'document' in parsed ? parsed : undefined);
    }
    return this.parsed.get(name);
  }

  /** The node that is meant: behind aliases and includes of known files. */
  follow(place: Place): Place {
    let { node, file } = place;
    for (let step = 0; step < LONGEST_INCLUDE_CHAIN; step++) {
      if (isAlias(node)) node = dereference(node, file.anchors);
      const included = this.included(node);
      if (!included) break;
      node = included.root;
      file = included;
    }
    return { node, file };
  }

  /** The file that the node includes; undefined: it is no include, or one of another file. */
  included(node: Node | null): HubYaml | undefined {
    if (!isScalar(node) || node.tag !== '!include') return undefined;
    return this.parse(nameInConfig(String(node.value)));
  }

  /** The entries of a mapping. Empty: it is none. */
  entries(place: Place): Map<string, Place> {
    const { node, file } = this.follow(place);
    if (!isMap(node)) return new Map();
    return new Map([...entriesOf(node, file.anchors)].map(([key, value]) => [key, { node: value, file }]));
  }

  /** One of them; undefined: there is none, or it is no mapping. */
  entry(place: Place, key: string): Place | undefined {
    const { node, file } = this.follow(place);
    const value = isMap(node) ? entryOf(node, key, file.anchors) : undefined;
    return value === undefined ? undefined : { node: value, file };
  }

  /** The section of `configuration.yaml` and those of its packages, as they are written. */
  section(name: string): { readonly own: Place | undefined; readonly inPackages: readonly Place[] } {
    const core = this.root && this.entry(this.root, 'homeassistant');
    const packages = core && this.entry(core, 'packages');
    const inPackages = packages ? [...this.entries(packages).values()] : [];
    return {
      own: this.root && this.entry(this.root, name),
      inPackages: inPackages.flatMap((each) => this.entry(each, name) ?? []),
    };
  }
}

/** `sensors.yaml` for `./sensors.yaml` and `/config/sensors.yaml`. */
export function nameInConfig(path: string): string {
  const relative = posix.normalize(path.replace(/^\/config(\/|$)/, './')).replace(/\/$/, '');
  return relative === '' ? '.' : relative;
}
