import type { HubClient } from '../../../client/hub-client';
import { tokenValidity } from '../../../client/setup/tokens';
import type { Hub, HubSpec } from '../../../kinds/index';
import { TOKEN_RENEWAL } from '../../../base/limits';
import type { ClusterObject } from '../../../runtime/objects';
import { builtin } from '../../../runtime/types';
import { PerHub } from '../../hub-access/per-hub';
import { issueToken, revokeOtherTokens, tokenSecretName, type TokenServices } from '../../hub-access/token';

/**
 * Replaces the token before it expires, while it can still create its successor: this needs no password of the owner.
 * The old token is revoked when the new one has been used, since others use it until they see the Secret change.
 */
export class TokenRenewal {
  /** The token that the one in the Secret replaces. */
  private readonly superseded: PerHub<string>;

  constructor(private readonly services: TokenServices) {
    this.superseded = new PerHub(services.cache);
  }

  /** @param token the token that the hub has just accepted */
  async ensureFresh(hub: Hub, spec: HubSpec, client: HubClient, token: string): Promise<void> {
    const old = this.superseded.get(hub);
    if (old !== undefined && old !== token) {
      await revokeOtherTokens(client.connection, token);
      this.superseded.delete(hub);
    } else if (old === undefined && this.isOurs(hub, spec) && renewalDue(token, this.services.clock.now())) {
      await issueToken(this.services, hub, spec, client.connection);
      this.superseded.set(hub, token);
    }
  }

  private isOurs(hub: Hub, spec: HubSpec): boolean {
    const secret = this.services.cache.get<ClusterObject>(
      builtin.Secret.kind,
      hub.metadata.namespace,
      tokenSecretName(hub, spec),
    );
    return secret !== undefined && this.services.applier.isOurs(secret, hub);
  }
}

/** Whether a token is in the last tenth of its lifetime, at most 30 days before its end. False: it does not say when it ends. */
export function renewalDue(token: string, now: number): boolean {
  const life = tokenValidity(token);
  if (!life) return false;
  return now >= life.until - Math.min(TOKEN_RENEWAL, (life.until - life.from) / 10);
}
