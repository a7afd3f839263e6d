import { automation, configuration, type HubConfiguration, script } from '../kinds';
import type { KindDefinition } from '../kinds/kind';
import { overriddenDatabase } from '../kinds/recorder-sources';
import type { CustomResource } from '../kinds/resource';
import { unquotedTextMessage, unquotedTexts } from '../kinds/unquoted-text';
import { incompleteContent, unsafeIntegerMessage, unsafeIntegers } from '../runtime/json';
import { missingKeys, secretUses } from '../sync/configuration/generate/secret-uses';
import type { ClusterState } from './cluster-state';

/** The parts of an admitted resource that will have no effect, as sentences. */
type Rule = (
  resource: CustomResource,
  definition: KindDefinition,
  state: ClusterState,
  longestYaml: number,
) => string[];

/** Kinds with triggers or conditions. */
const actingKinds = new Set<string>([automation.kind, script.kind]);

const rules: readonly Rule[] = [
  unsafeIntegerWarnings,
  unquotedTextWarnings,
  recorderWarnings,
  secretWarnings,
];

/** @param longestYaml a longer text in a configuration is not looked at: it takes time to parse. Characters. */
export function warningsOf(
  resource: CustomResource,
  definition: KindDefinition,
  state: ClusterState,
  longestYaml: number,
): string[] {
  // The rules read fields that were left out.
  const incomplete = resource.omitted && incompleteContent(resource);
  if (incomplete) return [incomplete];
  return rules.flatMap((rule) => rule(resource, definition, state, longestYaml));
}

/** rules.md, "Numbers" */
function unsafeIntegerWarnings({ spec }: CustomResource): string[] {
  return unsafeIntegers(spec, 'spec').map(unsafeIntegerMessage);
}

function unquotedTextWarnings({ spec }: CustomResource, { kind }: KindDefinition): string[] {
  return actingKinds.has(kind) ? unquotedTexts(spec, 'spec').map(unquotedTextMessage) : [];
}

function recorderWarnings({ spec }: CustomResource, { kind }: KindDefinition): string[] {
  if (kind !== configuration.kind) return [];
  const overridden = overriddenDatabase((spec as HubConfiguration['spec']).recorder);
  return overridden === undefined ? [] : [overridden];
}

/** Only if the hub has a HubSecrets, so that the order in which the two are applied makes no difference. */
function secretWarnings(
  resource: CustomResource,
  definition: KindDefinition,
  state: ClusterState,
  longestYaml: number,
): string[] {
  if (definition.kind !== configuration.kind) return [];
  const { configuration: text = '', files = {} } = resource.spec as HubConfiguration['spec'];
  const all = { 'configuration.yaml': text, ...files };
  const withSecrets = Object.entries(all).filter(([, content]) => content.includes('!secret'));
  if (withSecrets.length === 0) return [];
  if (withSecrets.reduce((sum, [, content]) => sum + content.length, 0) > longestYaml) return [];
  const hub = definition.hubName(resource);
  const secrets = state.secretsOf(resource.metadata.namespace, hub);
  if (!secrets) return [];
  return missingKeys(secretUses(Object.fromEntries(withSecrets)), secrets).map(
    ([key, place]) =>
      `${place}: no HubSecrets of the Hub ${hub} gives the key ${key} of !secret: add it to one.`,
  );
}
