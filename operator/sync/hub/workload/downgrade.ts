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
 * The reason why `spec.version` must not run on this volume. A hub migrates its database and its stores when
 * it is updated, and an older version cannot read them.
 *
 * @returns undefined when the version may run
 */
export function refuseDowngrade(hub: Hub, { version }: HubSpec, claim: Claim): string | undefined {
  const ran = ranVersion(claim);
  if (ran === undefined || !isLower(version, ran) || allowsDowngrade(hub, { version })) return undefined;
  return downgradeMessage(ran, version, `the volume ${claim.metadata.name}`, version);
}

/**
 * A message that the Hub still has an annotation that would allow a later downgrade.
 *
 * @returns undefined when there is no such annotation, or it is still needed
 */
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
 * Records on the claim the highest version that has run there, as reported by the hub. After an allowed
 * downgrade the lower version is recorded.
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
    // This annotation has its own field manager. The claim may be the user's, and on a claim of the
    // operator's the applied manifest does not include it.
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

/**
 * Reports whether the Hub's annotation allows a downgrade to its `spec.version`. The value is that version,
 * or `true` for any version.
 */
export function allowsDowngrade({ metadata }: Hub, { version }: Pick<HubSpec, 'version'>): boolean {
  const allowed = metadata.annotations?.[userAnnotations.allowDowngrade];
  return allowed === 'true' || allowed === version;
}

/**
 * The message of a refused downgrade.
 *
 * @param place the volume, in words
 * @param allowed the value of the annotation that allows the downgrade
 */
export const downgradeMessage = (ran: string, version: string, place: string, allowed: string): string =>
  `${ran} has run on ${place}, and ${version} is older: it may not be able to read what is there. ` +
  `Set spec.version to ${ran} or later, or restore a backup and annotate the Hub with ${userAnnotations.allowDowngrade}=${allowed}.`;
