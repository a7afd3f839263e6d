import { isComparable, isLower } from '../../../base/hub-version';
import { truncate } from '../../../base/truncate';
import type { Hub, HubSpec } from '../../../kinds';
import { operatorAnnotations, userAnnotations } from '../../../kinds/annotations';
import { FIELD_MANAGER } from '../../../runtime/object-ownership';
import { pathOf } from '../../../runtime/objects';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import type { Claim } from '../../hub-pod/owned-objects';

/**
 * Why `spec.version` must not run on this volume; undefined: it may. A hub migrates its database and its stores when it
 * is updated, and an older one cannot read them.
 */
export function refuseDowngrade(hub: Hub, { version }: HubSpec, claim: Claim): string | undefined {
  const ran = ranVersion(claim);
  if (ran === undefined || !isLower(version, ran) || allowsDowngrade(hub, { version })) return undefined;
  return downgradeMessage(ran, version, `the volume ${claim.metadata.name}`, version);
}

/** Says that the Hub still has an annotation that would allow a later downgrade; undefined: it has none, or needs it. */
export function leftAllowance(hub: Hub, { version }: HubSpec, claim: Claim | undefined): string | undefined {
  const { annotations, name, namespace } = hub.metadata;
  const allowed = annotations?.[userAnnotations.allowDowngrade];
  const isNeeded = isLower(version, ranVersion(claim) ?? version);
  if (allowed === undefined || allowed === version || isNeeded) return undefined;
  return (
    `The annotation ${userAnnotations.allowDowngrade}=${truncate(allowed, 40)} is not needed now and may allow a later downgrade: ` +
    `remove it (kubectl -n ${namespace} annotate hub ${name} ${userAnnotations.allowDowngrade}-).`
  );
}

/**
 * Records on the claim the highest version that has run there, as the hub reports it; after an allowed downgrade the
 * version that it went back to.
 */
export async function recordRanVersion(
  { cluster }: Pick<Services, 'cluster'>,
  {
    hub,
    spec,
    claim,
  }: { readonly hub: Hub; readonly claim: Claim | undefined; readonly spec: Pick<HubSpec, 'version'> },
  version: string,
): Promise<void> {
  const ran = ranVersion(claim);
  if (!claim || version === ran || !isComparable(version)) return;
  if (ran !== undefined && isLower(version, ran) && !allowsDowngrade(hub, spec)) return;
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

const ranVersion = (claim: Claim | undefined): string | undefined =>
  claim?.metadata.annotations?.[operatorAnnotations.ranVersion];

/** Whether the Hub has the annotation that allows its `spec.version`: with that version as its value, or with `true` for any. */
export function allowsDowngrade({ metadata }: Hub, { version }: Pick<HubSpec, 'version'>): boolean {
  const allowed = metadata.annotations?.[userAnnotations.allowDowngrade];
  return allowed === 'true' || allowed === version;
}

/**
 * @param place the volume, in words
 * @param allowed the value of the annotation that allows it
 */
export const downgradeMessage = (ran: string, version: string, place: string, allowed: string): string =>
  `${ran} has run on ${place}, and ${version} is older: it may not be able to read what is there. ` +
  `Set spec.version to ${ran} or later, or restore a backup and annotate the Hub with ${userAnnotations.allowDowngrade}=${allowed}.`;
