import { scriptVariables } from '../../client/config-entities/script-variables';
import type { HubClient } from '../../client/hub-client';
import { MARKER_SCRIPT } from '../../kinds/ids';

/**
 * The hashes that identify the content of a hub. The marker script {@link MARKER_SCRIPT} has the hashes of
 * the last content that the hub has read, as variables: the hub returns them for `script/config` after it has
 * reloaded its scripts. For content that needs a restart, the Hub copies the hashes to the pod template.
 */
export interface ContentHashes {
  readonly configuration: string;
  /** Hash of the secrets. Absent for a hub without secrets. */
  readonly secrets?: string | undefined;
}

/**
 * The hashes in the marker that the hub has read last. If the hub has read parts of other content, the hash
 * of the configuration is changed, so that it differs from the hash of any content.
 *
 * @returns undefined when the configuration that the hub has read has no marker
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

/** Reports whether the digest of a part in the marker equals the digest of the part that the hub has read. */
const isPair = (part: unknown): boolean => Array.isArray(part) && part.length === 2 && part[0] === part[1];

export function isSameContent(a: ContentHashes | undefined, b: ContentHashes): boolean {
  return a?.configuration === b.configuration && a.secrets === b.secrets;
}
