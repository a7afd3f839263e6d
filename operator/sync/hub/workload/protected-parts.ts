import { posix } from 'node:path';
import { isObject } from '../../../base/is-object';
import { identity, mergeKeys, type PodTemplate } from './merge';

/**
 * The path of the first part of the operator's pod template that the merged template lacks or changes.
 *
 * @returns undefined when all protected parts are there
 */
export function lostPart(own: PodTemplate, merged: PodTemplate): string | undefined {
  return lost(protectedParts(own), merged, '', '') ?? alteredStart(own, merged) ?? coveredMount(own, merged);
}

/**
 * The parts of the pod template that the operator needs. Images, resources, probes, security contexts and
 * other fields may be replaced.
 */
function protectedParts(own: PodTemplate): unknown {
  const { metadata, spec } = own as { metadata: object; spec: PodParts };
  return {
    metadata,
    spec: {
      initContainers: spec.initContainers.map(({ name, command, volumeMounts }) => ({
        name,
        command,
        volumeMounts,
      })),
      containers: spec.containers.map(({ name, ports, volumeMounts }) => ({ name, ports, volumeMounts })),
      volumes: spec.volumes,
    },
  };
}

interface PodParts {
  readonly initContainers: readonly Record<'name' | 'command' | 'volumeMounts', unknown>[];
  readonly containers: readonly Record<'name' | 'ports' | 'volumeMounts', unknown>[];
  readonly volumes: readonly unknown[];
}

/**
 * The first added field that would keep an init container of the operator from running to completion with the
 * operator's arguments.
 */
function alteredStart(own: PodTemplate, merged: PodTemplate): string | undefined {
  const named = (template: PodTemplate) =>
    (template as { spec: PodParts }).spec.initContainers as readonly Record<string, unknown>[];
  for (const { name } of named(own)) {
    const container = named(merged).find((each) => each['name'] === name);
    const field = ['args', 'restartPolicy'].find((each) => container?.[each] !== undefined);
    if (field) return `spec.initContainers[${String(name)}].${field}`;
  }
  return undefined;
}

/** The first mount that hides one of the operator's, by a different spelling of the same path. */
function coveredMount(own: PodTemplate, merged: PodTemplate): string | undefined {
  for (const list of ['initContainers', 'containers'] as const) {
    const present = (merged as unknown as { spec: PodParts }).spec[list];
    for (const container of (own as unknown as { spec: PodParts }).spec[list]) {
      const ours = pathsOf(container);
      const all = pathsOf(present.find(({ name }) => name === container.name) ?? container);
      const covering = all.find((path) => !ours.includes(path) && ours.includes(plain(path)));
      if (covering) return `spec.${list}[${String(container.name)}].volumeMounts[${covering}]`;
    }
  }
  return undefined;
}

const pathsOf = ({ volumeMounts }: { readonly volumeMounts: unknown }): string[] =>
  (volumeMounts as readonly { mountPath: string }[]).map(({ mountPath }) => mountPath);

const plain = (path: string): string => posix.resolve('/', path);

/**
 * Objects that no field may be added to, since it would change their meaning, for example a mount's `subPath`
 * or the `items` of a volume.
 */
const closedObjects = new Set([
  'spec.containers.volumeMounts',
  'spec.initContainers.volumeMounts',
  'spec.volumes',
  'spec.volumes.configMap',
  'spec.volumes.persistentVolumeClaim',
  'spec.volumes.projected',
  'spec.volumes.secret',
]);

/**
 * Compares the operator's parts with the merged template.
 *
 * @param path path for the lookup of merge keys
 * @param shown the same path with names of items, for the message
 */
function lost(expected: unknown, present: unknown, path: string, shown: string): string | undefined {
  if (expected === undefined) return undefined;
  const keys = mergeKeys[path];
  if (Array.isArray(expected) && keys) {
    const items = Array.isArray(present) ? (present as readonly unknown[]) : [];
    for (const item of expected as readonly unknown[]) {
      const id = identity(item, keys, shown);
      const found = items.find((each) => identity(each, keys, shown) === id);
      const place = `${shown}[${String((item as Record<string, unknown>)[keys[0]!])}]`;
      const missing = found === undefined ? place : lost(item, found, path, place);
      if (missing) return missing;
    }
    return undefined;
  }
  if (isObject(expected)) {
    if (!isObject(present)) return shown;
    for (const [field, value] of Object.entries(expected)) {
      const below = (parent: string) => (parent ? `${parent}.${field}` : field);
      const missing = lost(value, present[field], below(path), below(shown));
      if (missing) return missing;
    }
    const added = closedObjects.has(path) && Object.keys(present).find((field) => !(field in expected));
    return added ? `${shown}.${added}` : undefined;
  }
  return JSON.stringify(expected) === JSON.stringify(present) ? undefined : shown;
}
