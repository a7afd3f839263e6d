import { OperationalError } from '../../../base/errors';
import { isObject } from '../../../base/is-object';

/** A PodTemplateSpec, or a part of one. */
export type PodTemplate = Readonly<Record<string, unknown>>;

/** The part cannot be merged. The message names the field and its fault. */
export class NotMergeable extends OperationalError {
  override readonly name = 'NotMergeable';
}

const ofContainer = {
  env: ['name'],
  ports: ['containerPort', 'protocol'],
  'resources.claims': ['name'],
  volumeDevices: ['devicePath'],
  volumeMounts: ['mountPath'],
} as const;

/**
 * The merge keys of each list that is merged item by item: `x-kubernetes-list-map-keys` of a PodTemplateSpec
 * in the API server's OpenAPI document, which a test compares with this table. Every other list is replaced
 * as a whole.
 */
export const mergeKeys: Readonly<Record<string, readonly string[]>> = {
  'metadata.ownerReferences': ['uid'],
  'spec.containers': ['name'],
  ...under('spec.containers'),
  'spec.hostAliases': ['ip'],
  'spec.imagePullSecrets': ['name'],
  'spec.initContainers': ['name'],
  ...under('spec.initContainers'),
  'spec.resourceClaims': ['name'],
  'spec.resources.claims': ['name'],
  'spec.schedulingGates': ['name'],
  'spec.topologySpreadConstraints': ['topologyKey', 'whenUnsatisfiable'],
  'spec.volumes': ['name'],
  'spec.volumes.ephemeral.volumeClaimTemplate.metadata.ownerReferences': ['uid'],
};

/** The API server's default for a merge key that is absent. */
const keyDefaults: Readonly<Record<string, string>> = { protocol: 'TCP' };

const handlers = ['exec', 'grpc', 'httpGet', 'tcpSocket'];

/** Alternative fields of an object: setting one removes the others. */
const oneOf: Readonly<Record<string, readonly string[]>> = {
  env: ['value', 'valueFrom'],
  livenessProbe: handlers,
  readinessProbe: handlers,
  startupProbe: handlers,
};

/**
 * Merges a part of a PodTemplateSpec into a whole one as `kubectl patch` does. Objects are merged field by
 * field and lists by {@link mergeKeys}, with new items at the end. Anything else is replaced. `null` removes
 * a field. The directives of a strategic merge patch work too: `$patch: replace`, and `$patch: delete` in an
 * object, which client-side apply also sends. Pure: neither argument is changed.
 *
 * @throws NotMergeable
 */
export function mergePodTemplate(base: PodTemplate, part: PodTemplate): PodTemplate {
  return mergeObjects(base, part, '');
}

function mergeValues(base: unknown, part: unknown, path: string): unknown {
  if (Array.isArray(part)) return mergeLists(Array.isArray(base) ? base : [], part, path);
  if (isObject(part)) return mergeObjects(isObject(base) ? base : {}, part, path);
  return part;
}

function mergeObjects(base: PodTemplate, part: PodTemplate, path: string): PodTemplate {
  const { $patch: directive, ...fields } = part;
  const start = directive === 'replace' ? {} : withoutAlternatives(base, fields, path);
  const merged = new Map(Object.entries(start));
  for (const [field, value] of Object.entries(fields)) {
    if (value === null || isDeletion(value)) merged.delete(field);
    else merged.set(field, mergeValues(start[field], value, path ? `${path}.${field}` : field));
  }
  return Object.fromEntries(merged);
}

function mergeLists(base: readonly unknown[], part: readonly unknown[], path: string): readonly unknown[] {
  const keys = mergeKeys[path];
  if (!keys) return part;
  const replaces = part.some(
    (item) => isObject(item) && item['$patch'] === 'replace' && Object.keys(item).length === 1,
  );
  const merged = new Map<string, unknown>();
  for (const [index, item] of (replaces ? [] : base).entries())
    merged.set(identity(item, keys, `${path}[${index}]`), item);
  for (const [index, item] of part.entries()) {
    if (isObject(item) && item['$patch'] === 'replace' && Object.keys(item).length === 1) continue;
    const id = identity(item, keys, `${path}[${index}]`);
    if (isDeletion(item)) merged.delete(id);
    else merged.set(id, mergeValues(merged.get(id), item, path));
  }
  return [...merged.values()];
}

/**
 * The values of an item's merge keys, as one string.
 *
 * @throws NotMergeable a key is missing or has the wrong type
 */
export function identity(item: unknown, keys: readonly string[], place: string): string {
  if (!isObject(item)) throw new NotMergeable(`${place}: must be an object`);
  const values = keys.map((key) => item[key] ?? keyDefaults[key]);
  const lacking = keys.filter((_, index) => values[index] === undefined);
  if (lacking.length > 0) throw new NotMergeable(`${place}: needs ${lacking.join(' and ')}`);
  const wrong = keys.find((key, index) => !isMergeKey(key, values[index]));
  if (wrong !== undefined) throw new NotMergeable(`${place}: ${wrong} must be text: quote it`);
  return JSON.stringify(values);
}

/**
 * Reports whether a value is valid for a merge key. Port numbers are the only keys that are numbers: the API
 * server rejects a port that is a string.
 */
const isMergeKey = (key: string, value: unknown): boolean =>
  typeof value === 'string' || (key === 'containerPort' && typeof value === 'number');

function withoutAlternatives(base: PodTemplate, part: PodTemplate, path: string): PodTemplate {
  const alternatives = oneOf[path.slice(path.lastIndexOf('.') + 1)] ?? [];
  if (!alternatives.some((name) => part[name] !== undefined && part[name] !== null)) return base;
  return Object.fromEntries(
    Object.entries(base).filter(([name]) => !alternatives.includes(name) || name in part),
  );
}

function under(containers: string): Record<string, readonly string[]> {
  return Object.fromEntries(
    Object.entries(ofContainer).map(([list, keys]) => [`${containers}.${list}`, keys]),
  );
}

const isDeletion = (value: unknown): boolean => isObject(value) && value['$patch'] === 'delete';
