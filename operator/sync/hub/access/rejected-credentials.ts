import { createHash } from 'node:crypto';
import type { LoginFailed } from '../../../client/errors';
import type { Credentials } from '../../../client/onboarding';
import type { Hub } from '../../../kinds/index';
import type { Cache } from '../../../runtime/cache';
import { PerHub } from '../per-hub';

/** The bootstrap cannot continue without a person. `reason` is that of the condition `BootstrapReady`. */
export interface Stuck {
  readonly type: 'stuck';
  readonly reason: 'MissingCredentials' | 'LoginFailed';
  readonly message: string;
}

/**
 * Credentials that a hub has rejected. They are not sent again while they stay the same (rules.md, "Bootstrap"): every
 * attempt is two failed logins, which count towards a ban.
 */
export class RejectedCredentials {
  private readonly entries: PerHub<{ readonly digest: string; readonly stuck: Stuck }>;

  constructor(cache: Pick<Cache, 'get'>) {
    this.entries = new PerHub(cache);
  }

  record(hub: Hub, credentials: Credentials, error: LoginFailed): Stuck {
    const message = `${error.message}: correct the Secret with the owner's credentials. Unchanged credentials are sent again only when the annotation reconcile-requested-at is set.`;
    const stuck = { type: 'stuck', reason: 'LoginFailed', message } as const;
    this.entries.set(hub, { digest: digestOf(credentials), stuck });
    return stuck;
  }

  find(hub: Hub, credentials: Credentials): Stuck | undefined {
    const known = this.entries.get(hub);
    return known?.digest === digestOf(credentials) ? known.stuck : undefined;
  }

  clear(hub: Hub): void {
    this.entries.delete(hub);
  }
}

function digestOf({ username, password }: Credentials): string {
  return createHash('sha256').update(`${username}\n${password}`).digest('hex');
}
