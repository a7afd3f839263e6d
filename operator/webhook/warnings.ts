import { automation, configuration, type HubConfiguration, script } from '../kinds';
import type { KindDefinition } from '../kinds/kind';
import { overriddenDatabase } from '../kinds/recorder-sources';
import type { CustomResource } from '../kinds/resource';
import { unquotedTextMessage, unquotedTexts } from '../kinds/unquoted-text';
import { unsafeIntegerMessage, unsafeIntegers } from '../runtime/json';
import { missingKeys } from '../sync/configuration/missing-secrets';
import { secretUses } from '../sync/configuration/secret-uses';
import type { ClusterState } from './cluster-state';

/** What of an admitted resource will not work as it is written, as sentences. */
type Rule = (resource: CustomResource, definition: KindDefinition, state: ClusterState) => string[];

/** kubectl shows at most this many; the API server drops what is beyond 4 KiB. */
const MOST = 10;

/** YAML of this size takes about 10 ms to parse; a longer text is checked by the reconciliation alone. Characters. */
const LONGEST_YAML = 16_384;

/** Kinds with triggers or conditions. */
const actingKinds = new Set([automation.kind, script.kind]);

const rules: readonly Rule[] = [
  unsafeIntegerWarnings,
  unquotedTextWarnings,
  recorderWarnings,
  secretWarnings,
];

export function warningsOf(
  resource: CustomResource,
  definition: KindDefinition,
  state: ClusterState,
): string[] {
  const all = rules.flatMap((rule) => rule(resource, definition, state));
  return all.length <= MOST ? all : [...all.slice(0, MOST - 1), `There are ${all.length - MOST + 1} more.`];
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
function secretWarnings(resource: CustomResource, definition: KindDefinition, state: ClusterState): string[] {
  if (definition.kind !== configuration.kind) return [];
  const { configuration: text = '', files = {} } = resource.spec as HubConfiguration['spec'];
  const all = { 'configuration.yaml': text, ...files };
  const withSecrets = Object.entries(all).filter(([, content]) => content.includes('!secret'));
  if (withSecrets.length === 0) return [];
  if (withSecrets.reduce((sum, [, content]) => sum + content.length, 0) > LONGEST_YAML) return [];
  const hub = definition.hubName(resource);
  const secrets = state.secretsOf(resource.metadata.namespace, hub);
  if (!secrets) return [];
  return missingKeys(secretUses(Object.fromEntries(withSecrets)), secrets).map(
    ([key, place]) =>
      `${place}: no HubSecrets of the Hub ${hub} gives the key ${key} of !secret: add it to one.`,
  );
}
