import { isDeepStrictEqual } from 'node:util';
import type { ConfigEntry } from '../../operator/client/connection/flow-step';
import { integration as definition } from '../../operator/kinds';
import type { CustomResource } from '../../operator/kinds/resource';
import { defaulted } from '../../operator/kinds/schema';
import { adoptable } from '../../operator/sync/integration/entry/acquisition';
import type { IntegrationResource } from '../../operator/sync/integration/integration-context';
import type { FieldDiff } from '../../operator/sync/objects/field-diff';
import type { HubChange } from './hub-change';
import type { StoredObjects } from './stored-objects';

const ANSWERS = ['configuration', 'steps', 'options', 'subentries'] as const;

/**
 * The change of an integration. The hub does not return answers of flows, so they are compared with those of
 * the resource in the cluster.
 *
 * @param before the resource in the cluster
 * @param others all resources of the same hub
 */
export async function integrationChange(
  given: CustomResource,
  before: CustomResource | undefined,
  others: readonly CustomResource[],
  stored: StoredObjects,
): Promise<HubChange> {
  const resource = given as IntegrationResource;
  const spec = defaulted(definition.spec, resource.spec);
  const entry = await entryOf(resource, others, stored);
  if (!entry)
    return { action: 'create', fields: [], notes: [`The hub’s forms of ${spec.domain} are answered.`] };
  const fields: FieldDiff[] = [
    ...(spec.title !== undefined && spec.title !== entry.title
      ? [{ field: 'title', actual: entry.title, desired: spec.title }]
      : []),
    ...((entry.disabled_by === null) !== spec.enabled
      ? [{ field: 'enabled', actual: entry.disabled_by === null, desired: spec.enabled }]
      : []),
  ];
  const changed = before
    ? ANSWERS.filter(
        (name) => !isDeepStrictEqual((before as IntegrationResource).spec[name], resource.spec[name]),
      )
    : [];
  const notes = changed.map((name) => `The answers in ${name} change: the hub’s forms are answered again.`);
  return { action: fields.length + notes.length > 0 ? 'update' : 'none', fields, notes };
}

/** The config entry that a resource owns, or would adopt. @param others all resources of the same hub */
export async function entryOf(
  resource: IntegrationResource,
  others: readonly CustomResource[],
  { client }: StoredObjects,
): Promise<ConfigEntry | undefined> {
  const integrations = others.filter(({ kind }) => kind === definition.kind) as IntegrationResource[];
  const spec = defaulted(definition.spec, resource.spec);
  const entries = await client.configEntries.all();
  const { name } = resource.metadata;
  const ownerOf = (id: string) =>
    integrations.find((each) => each.status?.entryID === id && each.metadata.name !== name);
  return (
    entries.get(resource.status?.entryID ?? '') ??
    (await adoptable({ client, entries, resource, spec, hub: { ownerOf } }))
  );
}
