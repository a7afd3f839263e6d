import { isMap, isScalar, type Node, visit, type YAMLMap } from 'yaml';
import type { BoundedTask } from '../../../base/bounded-task';
import { NotPlain, parseHubYaml, parsePlainYaml, type HubYaml } from '../generate/hub-yaml';
import { dereference, entriesOf } from '../generate/merge-keys';
import { unusableValue } from './unusable';

/** The text of a blueprint. */
interface BlueprintText {
  readonly text: string;
  readonly domain: string;
  /** The field that contains the text, for messages: `spec.content`. */
  readonly field: string;
}

type ReadBlueprint =
  /** A sentence about an error, which begins with field and line. */
  | { readonly problem: string }
  | {
      /** The minimum version of Home Assistant. Absent if every version is accepted. */
      readonly minVersion?: string;
      /** True if the header has `source_url`. */
      readonly hasSource: boolean;
    };

/** Finds errors that the hub would reject, or would accept without a message. */
export const blueprintTask: BoundedTask<BlueprintText, ReadBlueprint> = {
  name: 'readBlueprint',
  run: (given, at) => {
    at(given.field);
    return readBlueprint(given, parseHubYaml);
  },
  inPlace: (given) => {
    try {
      return readBlueprint(given, parsePlainYaml);
    } catch (error) {
      if (error instanceof NotPlain) return undefined;
      throw error;
    }
  },
};

function readBlueprint({ text, domain, field }: BlueprintText, parse: typeof parseHubYaml): ReadBlueprint {
  const file = parse(text);
  const problemAt = (
    problem: string,
    { line, column }: { readonly line: number; readonly column: number },
  ) => ({
    problem: `${field}, line ${line}, column ${column}: ${problem}.`,
  });
  if (!('document' in file)) return problemAt(file.problem, file.position);
  const reading = new Reading(file);
  try {
    return reading.read(domain);
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    return problemAt(error.problem, file.positionOf(error.offset));
  }
}

/** An error at a position in the text. */
class Wrong extends Error {
  constructor(
    readonly problem: string,
    readonly offset: number,
  ) {
    super('wrong blueprint');
  }
}

type Entries = ReadonlyMap<string, Node | null>;

const offsetOf = (node: Node | null): number => node?.range?.[0] ?? 0;

class Reading {
  private readonly inputs = new Set<string>();

  constructor(private readonly file: HubYaml) {}

  /** @throws Wrong */
  read(domain: string): ReadBlueprint {
    const { root } = this.file;
    const unusable = unusableValue(this.file);
    if (unusable) throw new Wrong(unusable.problem, offsetOf(unusable.node));
    const header = this.mapIn(this.entries(root)?.get('blueprint') ?? null);
    if (!header)
      throw new Wrong('there is no mapping blueprint: with name, domain and input', offsetOf(root));
    const all = this.entriesOf(header);
    this.checkTags();
    if (this.textIn(all, 'name')?.trim() === undefined || this.textIn(all, 'name')?.trim() === '')
      throw new Wrong('blueprint.name is missing: add the name that people see', offsetOf(header));
    const own = this.textIn(all, 'domain');
    if (own !== domain)
      throw new Wrong(
        own === undefined
          ? `blueprint.domain is missing: add domain: ${domain}`
          : `blueprint.domain is ${own}, and spec.domain is ${domain}: correct one of them`,
        offsetOf(all.get('domain') ?? header),
      );
    this.readInputs(this.entries(all.get('input') ?? null));
    this.checkUses();
    const version = this.minVersion(all.get('homeassistant') ?? null);
    return { hasSource: all.has('source_url'), ...(version !== undefined && { minVersion: version }) };
  }

  /**
   * Rejects other tags than `!input`: their values, such as secrets and files of the hub, are not in the
   * text.
   */
  private checkTags(): void {
    visit(this.file.document, {
      Node: (_, node) => {
        const { tag = '' } = node as { tag?: string };
        if (!tag.startsWith('!') || tag === '!' || tag === '!input') return;
        throw new Wrong(
          `${tag} is not accepted in a blueprint: use !input, or write the value`,
          offsetOf(node),
        );
      },
    });
  }

  /** Adds the inputs. A section is an input that contains other inputs. */
  private readInputs(inputs: Entries | undefined): void {
    for (const [name, value] of inputs ?? []) {
      const section = this.entries(value);
      const inner = section?.has('input') ? this.entries(section.get('input') ?? null) : undefined;
      if (section?.has('input')) for (const [each, node] of inner ?? []) this.declare(each, node);
      else this.declare(name, value);
    }
  }

  private declare(name: string, node: Node | null): void {
    if (this.inputs.has(name))
      throw new Wrong(`the input ${name} is declared twice: rename one of the two`, offsetOf(node));
    this.inputs.add(name);
  }

  private checkUses(): void {
    visit(this.file.document, {
      Node: (_, node) => {
        if ((node as { tag?: string }).tag !== '!input') return;
        const name = isScalar(node) ? String(node.value) : undefined;
        if (name === undefined) throw new Wrong('!input takes the name of an input', offsetOf(node));
        if (!this.inputs.has(name))
          throw new Wrong(`the input ${name} is not declared: add it to blueprint.input`, offsetOf(node));
      },
    });
  }

  private minVersion(node: Node | null): string | undefined {
    const entries = this.entries(node);
    const version = entries && this.textIn(entries, 'min_version');
    if (version === undefined || /^\d+\.\d+\.\d+$/.test(version)) return version;
    throw new Wrong(
      `homeassistant.min_version is ${version}, and must be like 2026.11.0`,
      offsetOf(entries?.get('min_version') ?? node),
    );
  }

  private textIn(entries: Entries, key: string): string | undefined {
    const value = dereference(entries.get(key) ?? null, this.file.anchors);
    return isScalar(value) ? String(value.value) : undefined;
  }

  private entries(node: Node | null): Entries | undefined {
    const map = this.mapIn(node);
    return map && this.entriesOf(map);
  }

  private entriesOf(map: YAMLMap): Entries {
    return entriesOf(map, this.file.anchors);
  }

  private mapIn(node: Node | null): YAMLMap | undefined {
    const found = dereference(node, this.file.anchors);
    return isMap(found) ? found : undefined;
  }
}
