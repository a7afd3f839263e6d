import { isComparable, isLower } from '../../../base/hub-version';
import type { Hub, HubSpec } from '../../../kinds';
import { operatorAnnotations, userAnnotations } from '../../../kinds/annotations';
import { FIELD_MANAGER } from '../../../runtime/object-ownership';
import { pathOf } from '../../../runtime/objects';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import type { Claim } from '../../hub-workload/owned-objects';
import type { HubContext, WithClaim } from '../steps';

/**
 * Why `spec.version` must not run on this volume; undefined: it may. A hub migrates its database and its stores when it
 * is updated, and an older one cannot read them.
 */
export function refuseDowngrade(hub: Hub, { version }: HubSpec, claim: Claim): string | undefined {
  const ran = claim.metadata.annotations?.[operatorAnnotations.ranVersion];
  if (ran === undefined || !isLower(version, ran) || isAllowed(hub)) return undefined;
  return downgradeMessage(ran, version, `the volume ${claim.metadata.name}`);
}

/**
 * Records on the claim the highest version that has run there, as the hub reports it; after an allowed downgrade the
 * version that it went back to.
 */
export async function recordRanVersion(
  { cluster }: Pick<Services, 'cluster'>,
  { hub, claim }: Pick<HubContext & WithClaim, 'hub' | 'claim'>,
  version: string,
): Promise<void> {
  const ran = claim?.metadata.annotations?.[operatorAnnotations.ranVersion];
  if (!claim || version === ran || !isComparable(version)) return;
  if (ran !== undefined && isLower(version, ran) && !isAllowed(hub)) return;
  const { namespace, name, uid } = claim.metadata;
  await cluster.request({
    method: 'PATCH',
    path: pathOf(builtin.PersistentVolumeClaim, namespace, name),
    // A manager of its own: the claim may be the user's, and of ours this is one field beside the applied manifest.
    query: { fieldManager: `${FIELD_MANAGER}-ran-version`, force: true },
    contentType: 'application/apply-patch+yaml',
    body: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, uid, annotations: { [operatorAnnotations.ranVersion]: version } },
    },
  });
}

const isAllowed = (hub: Hub): boolean =>
  hub.metadata.annotations?.[userAnnotations.allowDowngrade] === 'true';

/** @param place the volume, in words */
export const downgradeMessage = (ran: string, version: string, place: string): string =>
  `${ran} has run on ${place}, and ${version} is older: it may not be able to read what is there. ` +
  `Set spec.version to ${ran} or later, or restore a backup and annotate the Hub with ${userAnnotations.allowDowngrade}=true.`;
