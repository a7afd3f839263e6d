import { posix } from 'node:path';
import { isMap, isScalar, type Node, type Pair, visit } from 'yaml';
import type { BoundedTask } from '../../operator/base/bounded-task';
import {
  type Files,
  includedFiles,
  isIncludeOfFolder,
  isYaml,
  nameInConfig,
} from '../../operator/sync/configuration/generate/config-files';
import { type HubYaml, parseHubYaml } from '../../operator/sync/configuration/generate/hub-yaml';
import { hasSecret, isSecretKey } from '../export/likely-secrets';
import { type GivenSecrets, givenSecrets, isOfSecrets, secretsIn } from './given-secrets';
import { KINDS } from './hub-files';
import { secretComments, secretLines } from './secret-lines';

/** The files and secrets that a configuration uses, found by following its includes. */
export interface Inventory {
  /** The files that `configuration.yaml` includes, directly or indirectly, sorted. */
  readonly included: readonly string[];
  /** Included paths for which the copy has no text, sorted. */
  readonly lost: readonly string[];
  /** The keys of `!secret`, sorted. */
  readonly secrets: readonly string[];
  /** The keys of `secrets.yaml`; absent if there is no such file, or not all keys can be read. */
  readonly given?: readonly string[];
  readonly notes: readonly Note[];
}

interface Note {
  /** A sentence that begins with the file and the line. */
  readonly message: string;
  /** True if the configuration cannot be used because of this. */
  readonly isError: boolean;
}

/** Tags, apart from the includes, that the hub's loader knows. */
const TAGS: ReadonlySet<string> = new Set(['!secret', '!env_var', '!input']);

interface Given {
  readonly files: Files;
  /** Paths of the copy that are not read as text. The path of a folder ends with a slash. */
  readonly left: readonly string[];
}

export const inventoryTask: BoundedTask<Given, Inventory> = {
  name: 'inventory',
  run: ({ files, left }, at) => new Reading(files, left, at).inventory(),
};

/** Whether a value may be a password: long texts, and texts that the hub fills in, are not. */
const isWritten = (value: unknown): boolean =>
  isScalar(value) && !value.tag?.startsWith('!') && /^[^\n{]{4,64}$/.test(String(value.value).trim());

/** Whether a file is carried along without being included. */
const isTaken = (name: string): boolean => /^(blueprints|custom_templates)\//.test(name);

class Reading {
  private readonly included = new Set<string>();
  private readonly lost = new Set<string>();
  private readonly secrets = new Set<string>();
  private readonly notes: Note[] = [];
  /** The lines with a note about a secret, as `<file>, line <n>`. */
  private readonly noted = new Set<string>();

  constructor(
    private readonly files: Files,
    private readonly left: readonly string[],
    private readonly at: (part: string) => void,
  ) {}

  inventory(): Inventory {
    this.follow('configuration.yaml');
    this.included.delete('configuration.yaml');
    const given = givenSecrets(this.files);
    this.noteLines(given);
    for (const message of given?.unread ?? []) this.notes.push({ message, isError: true });
    return {
      included: [...this.included].sort(),
      lost: [...this.lost].sort(),
      secrets: [...this.secrets].sort(),
      ...(given?.unread.length === 0 && { given: [...given.values.keys()] }),
      notes: this.notes,
    };
  }

  /**
   * Finds secrets that are not nodes of a followed file: in comments, in files of other forms, and in the
   * secrets' own values.
   */
  private noteLines(given: GivenSecrets | undefined): void {
    for (const [name, text] of Object.entries(this.files)) {
      const isFollowed = name === 'configuration.yaml' || this.included.has(name);
      const isOfHub = Object.hasOwn(KINDS, name);
      if (isOfSecrets(name) || !(isFollowed || isOfHub || isTaken(name))) continue;
      for (const { key, line } of given ? secretsIn(text, given) : []) this.noteValue(name, line, key);
      const lines = isFollowed && isYaml(name) ? secretComments(text) : secretLines(text);
      // Comments of the hub's own files are not carried along, and their values are checked when they become
      // resources.
      for (const { line, subject } of isOfHub ? [] : lines) this.noteSecret(`${name}, line ${line}`, subject);
    }
    for (const [key, { size }] of given?.values ?? [])
      if (size > 1 && this.secrets.has(key))
        this.notes.push({
          message: `!secret ${key} has a value in secrets.yaml and another one in that of a folder, and all files share one here: rename one of the two.`,
          isError: false,
        });
  }

  private noteValue(name: string, line: number, key: string): void {
    const place = `${name}, line ${line}`;
    this.noted.add(place);
    const way = Object.hasOwn(KINDS, name) ? 'keep the object in a package, with' : 'write';
    const message = `${place}: it has the value of the key ${key} of secrets.yaml, which must not be in Git: ${way} !secret ${key}.`;
    this.notes.push({ message, isError: false });
  }

  private follow(name: string): void {
    const text = Object.hasOwn(this.files, name) ? this.files[name] : undefined;
    if (text === undefined || this.included.has(name) || isOfSecrets(name)) return;
    this.included.add(name);
    this.at(name);
    const file = parseHubYaml(text);
    if (!('document' in file)) {
      const { line, column } = file.position;
      this.notes.push({
        message: `${name}, line ${line}, column ${column}: ${file.problem}.`,
        isError: true,
      });
      return;
    }
    visit(file.document, {
      Pair: (_, pair) => this.pair(name, file, pair),
      Node: (_, node) => this.node(name, file, node),
    });
  }

  private pair(name: string, file: HubYaml, { key, value }: Pair): void {
    if (!isScalar(key) || !isSecretKey(String(key.value)) || !isWritten(value)) return;
    if (isScalar(value) && hasSecret(String(value.value))) return; // the scalar itself is reported elsewhere
    this.noteSecret(placeOf(name, file, value as Node), String(key.value));
  }

  private noteSecret(place: string, subject: string): void {
    const line = place.replace(/, column \d+$/, '');
    if (line === place && this.noted.has(line)) return; // another part of this line was reported already
    this.noted.add(line);
    const message = `${place}: ${subject} looks like a secret, which must not be in Git: move its value into secrets.yaml, and write !secret with its key.`;
    this.notes.push({ message, isError: false });
  }

  private node(name: string, file: HubYaml, node: Node): void {
    const { tag = '' } = node as { tag?: string };
    const value = isScalar(node) ? String(node.value) : '';
    if (!tag.startsWith('!') || tag === '!') {
      if (hasSecret(value)) this.noteSecret(placeOf(name, file, node), 'the text');
    } else if (tag === '!secret') this.secrets.add(value);
    else if (tag === '!env_var') this.variable(placeOf(name, file, node), value);
    else if (/^!include(_dir_(list|named|merge_list|merge_named))?$/.test(tag))
      this.include(name, node, value);
    else if (!TAGS.has(tag)) {
      const message = `${placeOf(name, file, node)}: the hub does not know the tag ${tag}: correct it.`;
      this.notes.push({ message, isError: true });
    }
  }

  private include(name: string, node: Node, value: string): void {
    const path = nameInConfig(value, posix.dirname(name));
    const found = isIncludeOfFolder(node) ? includedFiles(Object.keys(this.files), path) : [path];
    for (const each of found) this.follow(each);
    const lost = isIncludeOfFolder(node) ? includedFiles(this.left, path) : [];
    const around = this.left.filter((each) => each === path || (each.endsWith('/') && path.startsWith(each)));
    for (const each of [...lost, ...around]) this.lost.add(each);
  }

  private variable(place: string, text: string): void {
    const [variable, ...otherwise] = text.split(/\s+/);
    if (otherwise.length > 0) return;
    const message = `${place}: !env_var ${variable} needs this variable in the container hub: set it in spec.podTemplate of the Hub, or write a default after its name.`;
    this.notes.push({ message, isError: false });
  }
}

function placeOf(name: string, { positionOf }: HubYaml, node: Node): string {
  const { line, column } = positionOf(isMap(node) || node.range ? node.range![0] : 0);
  return `${name}, line ${line}, column ${column}`;
}
