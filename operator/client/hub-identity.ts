import type { Clock } from '../clock';
import { HubBanned, HubError, HubUnreachable, NotFound, NotHomeAssistant } from './errors';

/** A proof is good for so long, unless a connection fails before. */
const LIFETIME = 10_000;

/**
 * That a hub answers at an address which a person wrote and which may be anybody's tomorrow: before a token goes
 * there, the hub has just been seen.
 */
export class HubIdentityCheck {
  private goodUntil = -Infinity;
  private asking: Promise<void> | undefined;

  /** @param ask throws when no hub answers */
  constructor(
    private readonly ask: () => Promise<void>,
    private readonly clock: Clock,
  ) {}

  /** Resolves when a hub answered a moment ago; throws what `ask` throws. */
  async verify(): Promise<void> {
    if (this.clock.monotonic() < this.goodUntil) return;
    await (this.asking ??= this.askNow().finally(() => (this.asking = undefined)));
  }

  /** Whoever answers after a failed connection may be somebody else. */
  invalidateOn(error: unknown): void {
    if (error instanceof HubUnreachable) this.goodUntil = -Infinity;
  }

  private async askNow(): Promise<void> {
    await this.ask();
    this.goodUntil = this.clock.monotonic() + LIFETIME;
  }
}

/** The part of a `RestClient` that fetches the manifest. */
interface ManifestReader {
  readonly address: { readonly url: string };
  get<T>(path: string, options: { readonly token: null }): Promise<T>;
}

/**
 * Asks, without a token and without feeding the hub's ban, whether a hub answers. What answers may be anybody, so no
 * word of it gets into an error.
 *
 * @throws NotHomeAssistant something else answers
 * @throws NotFound a hub that does not serve anything yet
 * @throws HubBanned, HubUnreachable
 */
export async function verifyIsHub(rest: ManifestReader): Promise<void> {
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
