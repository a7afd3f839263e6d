import type { Clock } from '../../base/clock';
import { isObject } from '../../base/is-object';
import { HubBanned, HubError, HubUnreachable, NotFound, NotHomeAssistant } from './errors';

/** Milliseconds for which a check is valid, unless a connection fails earlier. */
const LIFETIME = 10_000;

/**
 * Checks that Home Assistant answers at an address from a user's resource before the token is sent there: the
 * address may have been reassigned to another server.
 */
export class HubIdentityCheck {
  private validUntil = -Infinity;
  private checking: Promise<void> | undefined;

  /** @param check rejects if no hub answers */
  constructor(
    private readonly check: () => Promise<void>,
    private readonly clock: Clock,
  ) {}

  /** Resolves when a hub has answered within {@link LIFETIME}; throws the error of `check` otherwise. */
  async verify(): Promise<void> {
    if (this.clock.monotonic() < this.validUntil) return;
    await (this.checking ??= this.checkNow().finally(() => (this.checking = undefined)));
  }

  /** To be called with each error. After a failed connection, another server may answer at the address. */
  invalidateOn(error: unknown): void {
    if (error instanceof HubUnreachable) this.validUntil = -Infinity;
  }

  private async checkNow(): Promise<void> {
    await this.check();
    this.validUntil = this.clock.monotonic() + LIFETIME;
  }
}

/** The part of a `RestClient` that fetches the manifest. */
interface ManifestReader {
  readonly address: { readonly url: string };
  get<T>(path: string, options: { readonly token: null }): Promise<T>;
}

/**
 * Checks with `/manifest.json`, without a token, that a hub answers. The request does not count toward a ban.
 * Another server may answer, so errors contain no text of the answer.
 *
 * @throws NotHomeAssistant another server answers
 * @throws NotFound the hub does not serve its API yet
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
  if (!isObject(manifest) || manifest['name'] !== 'Home Assistant')
    throw new NotHomeAssistant(`${url} is not a hub`);
}
