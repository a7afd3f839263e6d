import type { HubClient } from '../../../client/hub-client';
import { scriptVariables } from '../../../client/config-entities/script-variables';
import { MARKER_SCRIPT } from '../../../kinds/ids';
import type { MarkerVariables } from '../generate/content-marker';

/** The marker that the hub has read last; undefined: it has read a configuration without one. */
export async function readMarker(client: HubClient): Promise<MarkerVariables | undefined> {
  const { configuration, secrets } = (await scriptVariables(client, MARKER_SCRIPT)) ?? {};
  if (typeof configuration !== 'string') return undefined;
  return { configuration, ...(typeof secrets === 'string' && { secrets }) };
}
