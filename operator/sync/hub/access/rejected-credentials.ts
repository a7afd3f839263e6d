import { createHash } from 'node:crypto';
import type { LoginFailed } from '../../../client/errors';
import type { Credentials } from '../../../client/onboarding';
import type { Hub } from '../../../kinds/index';
import type { Cache } from '../../../runtime/cache';
import { PerHub } from '../per-hub';

/** What only a person can help with; `reason` is the one of the condition `BootstrapReady`. */
export interface Stuck {
  readonly type: 'stuck';
  readonly reason: 'MissingCredentials' | 'LoginFailed';
  readonly message: string;
}

/**
 * Credentials that a hub has refused. They are not tried again as long as they stay the same: every try is two failed
 * logins, and a hub that counts them would ban the operator for it.
 */
export class RejectedCredentials {
  private readonly entries: PerHub<{ readonly digest: string; readonly stuck: Stuck }>;

  constructor(cache: Pick<Cache, 'get'>) {
    this.entries = new PerHub(cache);
  }

  record(hub: Hub, credentials: Credentials, error: LoginFailed): Stuck {
    const message = `${error.message}: correct the Secret with the owner's credentials. The same ones are tried again only when the annotation reconcile-requested-at asks for it.`;
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
