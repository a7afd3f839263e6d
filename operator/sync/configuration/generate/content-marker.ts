import { scriptVariables } from '../../../client/config-entities/script-variables';
import type { HubClient } from '../../../client/hub-client';
import { MARKER_SCRIPT } from '../../../kinds/ids';
import { SECRETS_HASH_KEY } from '../../secrets-yaml/secrets-yaml';
import type { Files } from './config-files';

/**
 * A content by its hashes. The marker {@link MARKER_SCRIPT} shows the one that the hub has read last, in variables, which the hub
 * answers to `script/config` once it has reloaded its scripts. The Hub copies the one to restart the hub for to the pod template.
 */
export interface ContentHashes {
  readonly configuration: string;
  /** Absent for a hub without secrets. */
  readonly secrets?: string | undefined;
}

/** The value of its section, as YAML in one line. The hub resolves the secret. */
export function markerYaml(hash: string, withSecrets: boolean): string {
  const secrets = withSecrets ? `, secrets: !secret ${SECRETS_HASH_KEY}` : '';
  return `{${MARKER_SCRIPT}: {sequence: [], variables: {configuration: "${hash}"${secrets}}}}`;
}

/** The marker of former files that the hub reads again: secrets have no copy, so it shows those of now. */
export function formerMarker(
  { files, marker }: { readonly files: Files; readonly marker: ContentHashes },
  { secrets }: ContentHashes,
): ContentHashes {
  const showsSecrets = files['configuration.yaml']?.includes(SECRETS_HASH_KEY) ?? false;
  return { configuration: marker.configuration, secrets: showsSecrets ? secrets : undefined };
}

/** The marker that the hub has read last; undefined: it has read a configuration without one. */
export async function readMarker(client: HubClient): Promise<ContentHashes | undefined> {
  const { configuration, secrets } = (await scriptVariables(client, MARKER_SCRIPT)) ?? {};
  if (typeof configuration !== 'string') return undefined;
  return { configuration, secrets: typeof secrets === 'string' ? secrets : undefined };
}

export function isSameContent(a: ContentHashes | undefined, b: ContentHashes): boolean {
  return a?.configuration === b.configuration && a.secrets === b.secrets;
}
