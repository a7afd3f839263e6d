import type { RegistryRecord } from '../../../../operator/client/connection/api-types';
import type { EntryResource } from '../../../../operator/sync/registry/entry-types';

/** Returns a resource of the hub `villa`. */
export function anEntry(
  kind: 'HubFloor' | 'HubLabel' | 'HubArea' | 'HubZone' | 'HubHelper' | 'HubPerson',
  name: string,
  fields: {
    spec?: Record<string, unknown>;
    status?: Record<string, unknown>;
    metadata?: Partial<EntryResource['metadata']>;
  } = {},
): EntryResource {
  const { spec = {}, status, metadata } = fields;
  return {
    apiVersion: 'hub-operator.dev/v1',
    kind,
    metadata: {
      namespace: 'home',
      name,
      uid: `uid-of-${name}`,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...metadata,
    },
    spec: { hubRef: { name: 'villa' }, name, ...spec },
    ...(status && { status }),
  };
}

/** Returns entries of a registry by id, each with this name. */
export function entriesNamed(names: Readonly<Record<string, string>>): Map<string, RegistryRecord> {
  return new Map(Object.entries(names).map(([id, name]) => [id, { name }]));
}
