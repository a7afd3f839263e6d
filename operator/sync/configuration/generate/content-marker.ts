import { scriptVariables } from '../../../client/config-entities/script-variables';
import type { HubClient } from '../../../client/hub-client';
import { MARKER_SCRIPT } from '../../../kinds/ids';
import { SECRETS_HASH_KEY } from '../../secrets-yaml/secrets-yaml';
import type { Files } from './config-files';
import { digestsOfParts, isInParts, partFile } from './parts';

/**
 * A content by its hashes. The marker {@link MARKER_SCRIPT} shows the one that the hub has read last, in variables, which the hub
 * answers to `script/config` once it has reloaded its scripts. The Hub copies the one to restart the hub for to the pod template.
 */
export interface ContentHashes {
  readonly configuration: string;
  /** Absent for a hub without secrets. */
  readonly secrets?: string | undefined;
}

/**
 * The value of its section, as YAML in one line. The hub resolves the secret, and the files with the digests of the parts.
 *
 * @param files without `configuration.yaml`
 */
export function markerYaml(hash: string, files: Files, withSecrets: boolean): string {
  const secrets = withSecrets ? `, secrets: !secret ${SECRETS_HASH_KEY}` : '';
  const pairs = isInParts(files)
    ? digestsOfParts(files).map((digest, index) => `["${digest}", !include ${partFile(index)}]`)
    : [];
  const parts = pairs.length > 0 ? `, parts: [${pairs.join(', ')}]` : '';
  return `{${MARKER_SCRIPT}: {sequence: [], variables: {configuration: "${hash}"${secrets}${parts}}}}`;
}

/** The marker of former files that the hub reads again: secrets have no copy, so it shows those of now. */
export function formerMarker(
  { files, marker }: { readonly files: Files; readonly marker: ContentHashes },
  { secrets }: ContentHashes,
): ContentHashes {
  const showsSecrets = files['configuration.yaml']?.includes(SECRETS_HASH_KEY) ?? false;
  return { configuration: marker.configuration, secrets: showsSecrets ? secrets : undefined };
}

/**
 * The marker that the hub has read last; undefined: it has read a configuration without one. Of a configuration with other
 * parts than its own, it is the marker of no content.
 */
export async function readMarker(client: HubClient): Promise<ContentHashes | undefined> {
  const { configuration, secrets, parts = [] } = (await scriptVariables(client, MARKER_SCRIPT)) ?? {};
  if (typeof configuration !== 'string') return undefined;
  const isWhole = Array.isArray(parts) && parts.every(isPair);
  return {
    configuration: isWhole ? configuration : `${configuration} with other parts`,
    secrets: typeof secrets === 'string' ? secrets : undefined,
  };
}

/** The digest of a part as the marker names it, and as the hub has read it. */
const isPair = (part: unknown): boolean => Array.isArray(part) && part.length === 2 && part[0] === part[1];

export function isSameContent(a: ContentHashes | undefined, b: ContentHashes): boolean {
  return a?.configuration === b.configuration && a.secrets === b.secrets;
}
