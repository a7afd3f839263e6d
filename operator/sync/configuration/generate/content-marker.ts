import { scriptVariables } from '../../../client/config-entities/script-variables';
import type { HubClient } from '../../../client/hub-client';
import { MARKER_SCRIPT } from '../../../kinds/ids';
import { SECRETS_HASH_KEY } from '../../secrets-yaml/secrets-yaml';

/**
 * Variables of the marker {@link MARKER_SCRIPT}, which the hub answers to `script/config` once it has reloaded its scripts, by the
 * name of what they stand for.
 */
export interface MarkerVariables {
  readonly configuration: string;
  /** Absent for a hub without secrets. */
  readonly secrets?: string;
}

/** The value of its section, as YAML in one line. The hub resolves the secret. */
export function markerYaml(hash: string, withSecrets: boolean): string {
  const secrets = withSecrets ? `, secrets: !secret ${SECRETS_HASH_KEY}` : '';
  return `{${MARKER_SCRIPT}: {sequence: [], variables: {configuration: "${hash}"${secrets}}}}`;
}

/** The marker that the hub has read last; undefined: it has read a configuration without one. */
export async function readMarker(client: HubClient): Promise<MarkerVariables | undefined> {
  const { configuration, secrets } = (await scriptVariables(client, MARKER_SCRIPT)) ?? {};
  if (typeof configuration !== 'string') return undefined;
  return { configuration, ...(typeof secrets === 'string' && { secrets }) };
}

/** Whether the hub has read the content that this marker stands for. */
export function isSameMarker(a: MarkerVariables | undefined, b: MarkerVariables): boolean {
  return a?.configuration === b.configuration && a.secrets === b.secrets;
}
