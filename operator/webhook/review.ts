import { kindsByName } from '../kinds';
import { duplicateMessage, hasChosenId } from '../kinds/duplicate-id';
import { API_GROUP } from '../kinds/group';
import { fieldOfId } from '../kinds/ids';
import type { KindDefinition } from '../kinds/kind';
import type { CustomResource } from '../kinds/resource';
import type { AdmissionRequest, Verdict } from './admission-review';
import type { ClusterState } from './cluster-state';
import { warningsOf } from './warnings';

/** YAML of this size takes about 10 ms to parse; a longer text is checked by the reconciliation. Characters. */
const LONGEST_YAML = 16_384;

const ADMITTED: Verdict = { warnings: [] };

/**
 * Applies the rules to an object that is created or changed (rules.md, "Admission"). It has no side effects, so that a
 * dry-run needs no other answer.
 */
export function review(
  { kind, object, oldObject, operation }: AdmissionRequest,
  state: ClusterState,
  longestYaml = LONGEST_YAML,
): Verdict {
  const definition = kind.group === API_GROUP ? kindsByName.get(kind.kind) : undefined;
  if (!definition || !object || (operation !== 'CREATE' && operation !== 'UPDATE')) return ADMITTED;
  if (object.metadata.deletionTimestamp !== undefined) return ADMITTED;
  const warnings = warningsOf(object, definition, state, longestYaml);
  const duplicate = duplicateOf(definition, object, state);
  if (!duplicate) return { warnings };
  const message = duplicateMessage(definition, object, duplicate.metadata.name);
  // Two that were stored while the webhook was not reached must stay editable: the reconciliation reports them.
  return oldObject && !hasNewId(definition, object, oldObject)
    ? { warnings: [message, ...warnings] }
    : { refusal: { field: fieldOfId(object), message }, warnings };
}

/**
 * The other resource that has the same id in the same hub (rules.md, "Ownership of objects in the hub"). One that is
 * being deleted gives its id up. Undefined: there is none, or this kind has no such ids.
 */
function duplicateOf(
  definition: KindDefinition,
  resource: CustomResource,
  state: ClusterState,
): CustomResource | undefined {
  if (!hasChosenId(definition)) return undefined;
  return state
    .othersWithIdentity(definition, resource)
    .find((other) => other.metadata.deletionTimestamp === undefined);
}

function hasNewId(definition: KindDefinition, object: CustomResource, before: CustomResource): boolean {
  return definition.identity?.(object) !== definition.identity?.(before);
}
