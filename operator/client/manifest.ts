import { HubBanned, HubError, HubUnreachable, NotHomeAssistant, NotFound } from './errors';
import type { RestClient } from './rest';

/**
 * Asks, without a token and without feeding the hub's ban, whether a hub answers. What answers may be anybody, so no
 * word of it gets into an error.
 *
 * @throws NotHomeAssistant something else answers
 * @throws NotFound a hub that does not serve anything yet
 * @throws HubBanned, HubUnreachable
 */
export async function verifyIsHub(rest: RestClient): Promise<void> {
  const { url } = rest.address;
  let manifest: unknown;
  try {
    manifest = await rest.get<unknown>('/manifest.json', { token: null });
  } catch (error) {
    if (error instanceof NotFound) throw new NotFound('404', `${url} does not serve a hub (HTTP 404)`);
    if (error instanceof HubBanned || error instanceof HubUnreachable || error instanceof NotHomeAssistant)
      throw error;
    if (error instanceof HubError) throw new HubUnreachable(`${url} answers with an error`);
    throw error;
  }
  if (!isHubManifest(manifest)) throw new NotHomeAssistant(`${url} is not a hub`);
}

function isHubManifest(manifest: unknown): boolean {
  return (
    typeof manifest === 'object' &&
    manifest !== null &&
    'name' in manifest &&
    manifest.name === 'Home Assistant'
  );
}
