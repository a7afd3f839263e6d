import { scriptVariables } from '../../client/config-entities/script-variables';
import type { HubClient } from '../../client/hub-client';
import { MARKER_SCRIPT } from '../../kinds/ids';

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
