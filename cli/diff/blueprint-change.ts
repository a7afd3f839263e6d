import type { HubBlueprint } from '../../operator/kinds';
import type { CustomResource } from '../../operator/kinds/resource';
import { shownBlueprint } from '../../operator/sync/configuration/blueprint/shown';
import { blueprintHash } from '../../operator/sync/configuration/blueprint/text-of';
import { isDriftLeft } from '../../operator/sync/objects/drift-policy';
import { hasAccepted } from '../../operator/sync/objects/ownership';
import { DRIFT_IS_LEFT, type HubChange } from './hub-change';
import type { StoredObjects } from './stored-objects';

const NOT_SHOWN =
  'The hub never shows the text of a blueprint: the operator has it read both, and replaces the one in the hub if they differ.';
const CHANGED = 'It was changed in the hub: the change is reverted.';

/** Returns the change that the operator would make to a blueprint, as far as it can be told without a write. */
export async function blueprintChange(
  given: CustomResource,
  { client: { blueprints } }: StoredObjects,
): Promise<HubChange> {
  const resource = given as unknown as HubBlueprint;
  const { domain, path, content, sourceUrl } = resource.spec;
  const listed = (await blueprints.list(domain)).get(path);
  if (!listed) return { action: 'create', fields: [], notes: [] };
  const isSame =
    listed.metadata !== undefined &&
    (await shownBlueprint(blueprints, domain, path, listed)).hash === resource.status?.bodyHash;
  // A text in a ConfigMap is not read: the command has only the resource.
  const isAccepted = content === undefined || hasAccepted(resource, blueprintHash(content, sourceUrl));
  if (isSame && isAccepted) return { action: 'none', fields: [], notes: [] };
  const drifted = !isSame && resource.status?.bodyHash !== undefined && isAccepted;
  if (isDriftLeft(resource, drifted)) return { action: 'none', fields: [], notes: [DRIFT_IS_LEFT] };
  return { action: 'update', fields: [], notes: [drifted ? CHANGED : NOT_SHOWN] };
}
