import { celIsBlueprintPath } from '../operator/kinds/blueprint-path';

/** The parts of a CRD that decide whether objects that are stored in a cluster remain valid and complete. */
export interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly Version[];
  };
}

interface Version {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema?: { readonly openAPIV3Schema?: Node };
  readonly subresources?: { readonly status?: object };
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

/** A node of an OpenAPI schema, as JSON. */
interface Node {
  readonly [keyword: string]: unknown;
  readonly type?: string;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-map-type'?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly additionalProperties?: Node | boolean;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Node[];
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string }[];
}

/**
 * Returns the changes from `released` to `current` that break stored objects or requests that were accepted:
 * one sentence for each, with kind and path. The list is empty when every object of the released kinds is
 * valid and keeps all its fields. A change that may be narrower and cannot be compared, such as another
 * pattern, counts as a break.
 */
export function breakingChanges(
  released: readonly Definition[],
  current: readonly Definition[],
): readonly string[] {
  return released.flatMap((before) => {
    const { kind } = before.spec.names;
    const after = current.find(({ metadata }) => metadata.name === before.metadata.name);
    if (!after) return [`${kind}: the definition ${before.metadata.name} was removed`];
    return definitionBreaks(before, after).map((change) => `${kind}: ${change}`);
  });
}

function definitionBreaks({ spec: before }: Definition, { spec: after }: Definition): string[] {
  const names = (['kind', 'plural'] as const).filter((name) => before.names[name] !== after.names[name]);
  return [
    ...names.map((name) => `names.${name} changed from ${before.names[name]} to ${after.names[name]}`),
    ...(before.scope === after.scope ? [] : [`scope changed from ${before.scope} to ${after.scope}`]),
    ...before.versions.flatMap((old) => {
      const version = after.versions.find(({ name }) => name === old.name);
      return version ? versionBreaks(old, version) : [`version ${old.name} was removed`];
    }),
  ];
}

function versionBreaks(before: Version, after: Version): string[] {
  const { name } = before;
  const selectable = (version: Version) => (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath);
  return [
    ...(before.served && !after.served ? [`version ${name} is no longer served`] : []),
    ...(before.storage && !after.storage ? [`version ${name} is no longer the stored one`] : []),
    ...(before.subresources?.status && !after.subresources?.status
      ? [`version ${name} has no longer a status of its own`]
      : []),
    ...selectable(before)
      .filter((path) => !selectable(after).includes(path))
      .map((path) => `${path} can no longer be selected`),
    ...schemaBreaks('', before.schema?.openAPIV3Schema ?? {}, after.schema?.openAPIV3Schema ?? {}),
  ];
}

function schemaBreaks(path: string, before: Node, after: Node): string[] {
  const own = [
    ...typeBreaks(before, after),
    ...boundBreaks(before, after),
    ...valueBreaks(before, after),
    ...mergeBreaks(before, after),
    ...requiredBreaks(before, after),
    ...ruleBreaks(before, after),
  ].map((change) => `${path || 'the object'}: ${change}`);
  return [...own, ...nestedBreaks(path, before, after)];
}

const PRESERVE = 'x-kubernetes-preserve-unknown-fields';
const INT_OR_STRING = 'x-kubernetes-int-or-string';

function typeBreaks(before: Node, after: Node): string[] {
  const typeOf = (node: Node) => (node[INT_OR_STRING] ? 'integer or string' : (node.type ?? 'any'));
  const [old, type] = [typeOf(before), typeOf(after)];
  const isWider =
    type === 'any' ||
    (old === 'integer' && type === 'number') ||
    (type === 'integer or string' && (old === 'integer' || old === 'string'));
  return [
    ...(old === type || isWider ? [] : [`type changed from ${old} to ${type}`]),
    ...(before['nullable'] && !after['nullable'] ? ['null is no longer accepted'] : []),
    ...(before[PRESERVE] && !after[PRESERVE] ? ['unknown fields are no longer kept'] : []),
  ];
}

const LOWER_BOUNDS = ['minimum', 'minLength', 'minItems', 'minProperties'];
const UPPER_BOUNDS = ['maximum', 'maxLength', 'maxItems', 'maxProperties'];

function boundBreaks(before: Node, after: Node): string[] {
  const stricter = (keyword: string, isStricter: (old: number, bound: number) => boolean) => {
    const [old, bound] = [before[keyword], after[keyword]] as (number | undefined)[];
    if (bound === undefined || (old !== undefined && !isStricter(old, bound))) return [];
    return [`${keyword} ${old === undefined ? `${bound} was added` : `changed from ${old} to ${bound}`}`];
  };
  return [
    ...LOWER_BOUNDS.flatMap((keyword) => stricter(keyword, (old, bound) => bound > old)),
    ...UPPER_BOUNDS.flatMap((keyword) => stricter(keyword, (old, bound) => bound < old)),
    ...['exclusiveMinimum', 'exclusiveMaximum', 'uniqueItems']
      .filter((keyword) => after[keyword] && !before[keyword])
      .map((keyword) => `${keyword} was added`),
  ];
}

/** Keywords that are compared only for equality: another value may be narrower. */
const OPAQUE = ['pattern', 'format', 'multipleOf', 'allOf', 'oneOf', 'not'];

function valueBreaks(before: Node, after: Node): string[] {
  const removed = (before.enum ?? []).filter((value) => !after.enum?.includes(value));
  const enumBreaks = !after.enum
    ? []
    : !before.enum
      ? ['enum was added']
      : removed.length > 0
        ? [`enum has no longer ${removed.map(String).join(', ')}`]
        : [];
  const opaque = OPAQUE.filter(
    (keyword) => after[keyword] !== undefined && !isEqual(before[keyword], after[keyword]),
  );
  return [
    ...enumBreaks,
    ...opaque.map((keyword) => `${keyword} ${before[keyword] === undefined ? 'was added' : 'changed'}`),
    ...alternativeBreaks(before, after),
    ...(before['default'] !== undefined && after['default'] === undefined
      ? [
          `the default ${JSON.stringify(before['default'])} was removed: stored objects keep it as if it had been set`,
        ]
      : []),
  ];
}

/**
 * An alternative that has fewer keywords than before, with unchanged values, accepts everything that it
 * accepted before.
 */
function alternativeBreaks(before: Node, after: Node): string[] {
  if (!after.anyOf) return [];
  if (!before.anyOf) return ['anyOf was added'];
  const isWider = (old: Node, alternative: Node) =>
    Object.keys(alternative).every((keyword) => isEqual(alternative[keyword], old[keyword]));
  const accepts = (old: Node) => after.anyOf!.some((alternative) => isWider(old, alternative));
  return before.anyOf.every(accepts) ? [] : ['anyOf changed'];
}

/**
 * Compares how server-side apply merges, since a change would give items of stored objects other owners. Only
 * a granular map may become atomic: the managers of its keys then own all of it, and no data is lost.
 */
function mergeBreaks(before: Node, after: Node): string[] {
  const defaults = { 'x-kubernetes-list-type': 'atomic', 'x-kubernetes-map-type': 'granular' };
  const value = (node: Node, keyword: keyof typeof defaults) => node[keyword] ?? defaults[keyword];
  const keywords = Object.keys(defaults) as (keyof typeof defaults)[];
  const keys = 'x-kubernetes-list-map-keys';
  return [
    ...keywords
      .filter((keyword) => value(before, keyword) !== value(after, keyword))
      .filter((keyword) => keyword !== 'x-kubernetes-map-type' || value(after, keyword) !== 'atomic')
      .map((keyword) => `${keyword} changed from ${value(before, keyword)} to ${value(after, keyword)}`),
    ...(isEqual(before[keys], after[keys]) ? [] : [`${keys} changed`]),
  ];
}

/** A required field with a default is added to stored objects when they are read. */
function requiredBreaks(before: Node, after: Node): string[] {
  return (after.required ?? [])
    .filter((name) => !before.required?.includes(name))
    .filter((name) => after.properties?.[name]?.['default'] === undefined)
    .map((name) => `${name} is newly required`);
}

/** Rules that were added for one value. The API server holds such a rule against a new or a changed value alone: stored objects stay valid. */
const RATCHETED: readonly string[] = [celIsBlueprintPath('self')];

function ruleBreaks(before: Node, after: Node): string[] {
  const rules = (node: Node) => (node['x-kubernetes-validations'] ?? []).map(({ rule }) => rule);
  return rules(after)
    .filter((rule) => !rules(before).includes(rule))
    .filter((rule) => !isAboutNewField(rule, before) && !RATCHETED.includes(rule))
    .filter((rule) => !rules(before).some((old) => isImplied(rule, old)))
    .map((rule) => `the rule "${rule}" was added`);
}

/**
 * Whether a rule holds wherever the old one holds: it has all alternatives of the old rule, or demands only a
 * part of one of them.
 */
function isImplied(rule: string, old: string): boolean {
  const alternatives = splitAt(' || ', rule);
  return splitAt(' || ', old).every((alternative) => {
    const demands = splitAt(' && ', alternative.replace(/^\((.*)\)$/, '$1'));
    return [alternative, ...demands].some((demand) => alternatives.includes(demand));
  });
}

/** Splits an expression at an operator outside of brackets. */
function splitAt(operator: string, expression: string): string[] {
  return expression.split(operator).reduce<string[]>((parts, part) => {
    const last = parts.at(-1);
    const isOpen = last !== undefined && last.split('(').length !== last.split(')').length;
    return isOpen ? [...parts.slice(0, -1), `${last}${operator}${part}`] : [...parts, part];
  }, []);
}

/**
 * Whether a rule is `!has(self.field) || …` for a field that no stored object has, and therefore holds for
 * all stored objects.
 */
function isAboutNewField(rule: string, before: Node): boolean {
  const [, field] = /^!has\((?:self|oldSelf)\.(\w+)\) \|\|/.exec(rule) ?? [];
  return (
    field !== undefined && !before[PRESERVE] && !before.additionalProperties && !before.properties?.[field]
  );
}

function nestedBreaks(path: string, before: Node, after: Node): string[] {
  const below = (name: string) => (path === '' ? name : `${path}.${name}`);
  const fields = Object.entries(before.properties ?? {}).flatMap(([name, node]) => {
    const next = after.properties?.[name] ?? valuesOf(after);
    if (next) return schemaBreaks(below(name), node, next);
    return after[PRESERVE] ? [] : [`${below(name)}: the field was removed`];
  });
  const values = valuesOf(before);
  const nextValues = valuesOf(after);
  const maps = !values
    ? []
    : nextValues
      ? schemaBreaks(below('*'), values, nextValues)
      : after[PRESERVE]
        ? []
        : [`${path}: fields of any name are no longer kept`];
  const items = before.items && after.items ? schemaBreaks(`${path}[]`, before.items, after.items) : [];
  return [...fields, ...maps, ...items];
}

function valuesOf({ additionalProperties }: Node): Node | undefined {
  return additionalProperties === true ? { [PRESERVE]: true } : additionalProperties || undefined;
}

/** Compares JSON values whose keys are in the same order. */
const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
