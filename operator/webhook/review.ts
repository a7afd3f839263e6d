import {
  automation,
  configuration,
  type Hub,
  hub,
  type HubConfiguration,
  kindsByName,
  script,
} from '../kinds';
import { duplicateMessage, hasChosenId } from '../kinds/duplicate-id';
import { API_GROUP } from '../kinds/group';
import { fieldOfId } from '../kinds/ids';
import type { KindDefinition } from '../kinds/kind';
import type { CustomResource } from '../kinds/resource';
import type { AdmissionRequest, Verdict } from './admission-review';
import type { ClusterState } from './cluster-state';
import { overriddenDatabase } from '../kinds/recorder-sources';
import { unquotedTextMessage, unquotedTexts } from '../kinds/unquoted-text';
import { incompleteContent, unsafeIntegerMessage, unsafeIntegers } from '../runtime/json';
import type { Files } from '../sync/configuration/generate/config-files';
import { missingKeyMessage, missingKeys } from '../sync/configuration/generate/secret-uses';
import { type EntryResource, entryTypeOf } from '../sync/registry/entry-types';
import { secretUsesTask } from '../sync/configuration/generate/texts';

/** Finds the uses of `!secret` in files. @returns undefined if they are not known */
export type SecretUses = (files: Files) => ReadonlyMap<string, string> | undefined;

/** Finds the uses in texts that are cheap to read. Other texts are admitted, and checked by the reconcile. */
const usesInPlace: SecretUses = (files) => secretUsesTask.inPlace?.(files);

const ADMITTED: Verdict = { warnings: [] };

/**
 * Applies the rules to an object that is created or changed (rules.md, "Admission"). The rules have no side
 * effects, so that a dry-run gets the same answer.
 */
export function review(
  { kind, object, oldObject, operation }: AdmissionRequest,
  state: ClusterState,
  usesIn = usesInPlace,
): Verdict {
  const definition = kind.group === API_GROUP ? kindsByName.get(kind.kind) : undefined;
  if (!definition || !object || (operation !== 'CREATE' && operation !== 'UPDATE')) return ADMITTED;
  if (object.metadata.deletionTimestamp !== undefined) return ADMITTED;
  const warnings = warningsOf(object, definition, state, usesIn);
  const duplicate = duplicateOf(definition, object, state);
  if (!duplicate) return { warnings };
  const message = duplicateMessage(definition, object, duplicate.metadata.name);
  // Duplicates that were stored while the webhook was unavailable must stay editable: the reconcile reports
  // them.
  return oldObject && definition.identity?.(object) === definition.identity?.(oldObject)
    ? { warnings: [message, ...warnings] }
    : { refusal: { field: fieldOfId(object), message }, warnings };
}

/**
 * The other resource that has the same id in the same hub (rules.md, "Ownership of objects in the hub"). A
 * resource that is being deleted no longer counts.
 *
 * @returns undefined if there is none, or if this kind has no such ids
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

/** Finds parts of an admitted resource that will have no effect. @returns one sentence for each */
type Rule = (
  resource: CustomResource,
  definition: KindDefinition,
  state: ClusterState,
  usesIn: SecretUses,
) => string[];

/** Kinds that have triggers or conditions. */
const actingKinds = new Set<string>([automation.kind, script.kind]);

const rules: readonly Rule[] = [
  // rules.md, "Numbers"
  ({ spec }) => unsafeIntegers(spec, 'spec').map(unsafeIntegerMessage),
  ({ spec }, { kind }) => (actingKinds.has(kind) ? unquotedTexts(spec, 'spec').map(unquotedTextMessage) : []),
  (resource) => entryWarnings(resource),
  recorderWarnings,
  versionWarnings,
  secretWarnings,
];

export function warningsOf(
  resource: CustomResource,
  definition: KindDefinition,
  state: ClusterState,
  usesIn: SecretUses,
): string[] {
  // The rules would read fields that the cache has left out.
  const incomplete = resource.omitted && incompleteContent(resource);
  if (incomplete) return [incomplete];
  return rules.flatMap((rule) => rule(resource, definition, state, usesIn));
}

/** A mistake that the reconciliation will refuse. It is only a warning, since a stored resource has to stay editable. */
function entryWarnings(resource: CustomResource): string[] {
  const problem = entryTypeOf(resource)?.validate?.(resource as EntryResource);
  return problem === undefined ? [] : [problem];
}

function recorderWarnings({ spec }: CustomResource, { kind }: KindDefinition): string[] {
  if (kind !== configuration.kind) return [];
  const overridden = overriddenDatabase((spec as HubConfiguration['spec']).recorder);
  return overridden === undefined ? [] : [overridden];
}

/**
 * Image tags whose version changes without notice. Home Assistant recommends only `stable`, which is the
 * default.
 */
const MOVING_TAGS: ReadonlySet<string> = new Set(['latest', 'beta', 'rc', 'dev']);

function versionWarnings({ spec }: CustomResource, { kind }: KindDefinition): string[] {
  const { version = '' } = spec as Hub['spec'];
  if (kind !== hub.kind || !MOVING_TAGS.has(version)) return [];
  return [
    `version: ${version} is another Home Assistant from day to day, and each new pod may get it. Name a version, such as 2026.11.0.`,
  ];
}

/**
 * Warns of unknown secrets only if the hub has a HubSecrets, so that HubSecrets and resource can be applied
 * in any order.
 */
function secretWarnings(
  resource: CustomResource,
  definition: KindDefinition,
  state: ClusterState,
  usesIn: SecretUses,
): string[] {
  if (definition.kind !== configuration.kind) return [];
  const files = filesWithSecrets(resource);
  if (Object.keys(files).length === 0) return [];
  const hubName = definition.hubName(resource);
  const secrets = state.secretsOf(resource.metadata.namespace, hubName);
  const uses = secrets && usesIn(files);
  if (!uses) return [];
  return missingKeys(uses, secrets).map((each) => missingKeyMessage(hubName, each));
}

/** The files of a HubConfiguration that may use `!secret`. */
export function filesWithSecrets({ spec }: CustomResource): Files {
  const { configuration: text = '', files = {} } = spec as HubConfiguration['spec'];
  const all = Object.entries({ 'configuration.yaml': text, ...files });
  return Object.fromEntries(all.filter(([, content]) => content.includes('!secret')));
}
