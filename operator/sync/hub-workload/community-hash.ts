import { createHash } from 'node:crypto';
import type { Hub, HubCommunityRepository, HubCommunityRepositoryStatus } from '../../kinds/index';
import type { Services } from '../services';

/**
 * `sha256:<hex>` of the community integrations on the hub's volume, by the status of their resources: the hub loads an
 * integration only when it starts, so another hash is a rolling restart. Equal files may be put onto the volume again,
 * or onto another one, after the hub has started: so the claim counts, and the id of the installation. Undefined: there
 * are none.
 */
export function communityHash({ cache }: Pick<Services, 'cache'>, { metadata }: Pick<Hub, 'metadata'>) {
  const installed = [
    ...cache.ofHub<HubCommunityRepository>('HubCommunityRepository', metadata.namespace, metadata.name),
  ]
    .filter(({ spec, status }) => spec.category === 'integration' && status?.digest !== undefined)
    .map(({ status }) => lineOf(status!))
    .sort();
  if (installed.length === 0) return undefined;
  return `sha256:${createHash('sha256').update(installed.join('')).digest('hex')}`;
}

/** Status of an earlier version has no `installationID`. */
const lineOf = ({ target, digest, claimUID, installationID }: HubCommunityRepositoryStatus): string =>
  `${[target, digest, claimUID, installationID].filter((part) => part !== undefined).join(' ')}\n`;
