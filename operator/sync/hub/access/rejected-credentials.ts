import type { LoginFailed } from '../../../client/connection/errors';
import type { Hub } from '../../../kinds/index';
import type { Cache } from '../../../runtime/cache';
import { PerHub } from '../../hub-access/per-hub';

/** The bootstrap cannot continue without a person. `reason` is that of the condition `BootstrapReady`. */
export interface Stuck {
  readonly type: 'stuck';
  readonly reason: 'MissingCredentials' | 'LoginFailed' | 'SecretRefused';
  readonly message: string;
}

/**
 * Credentials that a hub has rejected, by their digest. They are not sent again while they stay the same (rules.md,
 * "Bootstrap"): every attempt is two failed logins, which count towards a ban. The digest is in the status, so that a
 * restart of the operator costs no attempt either.
 */
export class RejectedCredentials {
  /** Rejections that the status may not show yet; null: the hub has accepted credentials since. */
  private readonly entries: PerHub<{ readonly digest: string; readonly stuck: Stuck } | null>;

  constructor(cache: Pick<Cache, 'get'>) {
    this.entries = new PerHub(cache);
  }

  record(hub: Hub, digest: string, error: LoginFailed): Stuck {
    const stuck = loginFailed(error.message);
    this.entries.set(hub, { digest, stuck });
    return stuck;
  }

  /** Whether these credentials were rejected. */
  find(hub: Hub, digest: string): Stuck | undefined {
    if (digest !== this.digest(hub)) return undefined;
    return this.entries.get(hub)?.stuck ?? loginFailed('the hub has rejected these credentials');
  }

  /** The hub has accepted credentials. */
  clear(hub: Hub): void {
    this.entries.set(hub, null);
  }

  /** For the status: the digest of the credentials that were rejected last; null: none. */
  digest(hub: Hub): string | null {
    const entry = this.entries.get(hub);
    const { rejectedCredentials = null } = hub.status?.bootstrap ?? {};
    return entry === undefined ? rejectedCredentials : (entry?.digest ?? null);
  }
}

function loginFailed(cause: string): Stuck {
  const message = `${cause}: correct the Secret with the owner's credentials. Unchanged credentials are sent again only when the annotation reconcile-requested-at is set.`;
  return { type: 'stuck', reason: 'LoginFailed', message };
}
