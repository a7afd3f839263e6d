import type { Hub, HubSpec } from '../../kinds';
import { objectNames } from '../../kinds/object-names';
import type { ConditionValue } from '../../runtime/outcome';
import type { ClusterObject } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';

interface Claim extends ClusterObject {
  readonly spec: { readonly storageClassName?: string; readonly accessModes?: readonly string[]; readonly volumeName?: string };
  readonly status?: { readonly phase?: string };
}

/** First step of a pass: the claim for `/config`. With `storage.existingClaim` nothing is made. */
export async function syncStorage(services: Services, hub: Hub, spec: HubSpec): Promise<ConditionValue> {
  const { storage } = spec;
  const claim = storage.existingClaim
    ? await findClaim(services, hub, storage.existingClaim)
    : await applyClaim(services, hub, spec);
  if (!claim) {
    const message = `The PersistentVolumeClaim ${storage.existingClaim} of storage.existingClaim does not exist: create it.`;
    return { status: 'False', reason: 'Mismatch', message };
  }
  const bound = claim.status?.phase === 'Bound';
  const message = bound ? `${claim.metadata.name} is bound.` : `${claim.metadata.name} is ${claim.status?.phase ?? 'Pending'}.`;
  return { status: bound ? 'True' : 'Unknown', reason: 'Bound', message };
}

function applyClaim({ applier }: Services, hub: Hub, { storage }: HubSpec): Promise<Claim> {
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: objectNames(hub.metadata.name).volumeClaim, namespace: hub.metadata.namespace },
    spec: {
      accessModes: storage.accessModes,
      resources: { requests: { storage: storage.size } },
      ...(storage.storageClassName !== undefined && { storageClassName: storage.storageClassName }),
    },
  };
  return applier.apply<Claim>(builtin.PersistentVolumeClaim, claim, { owner: hub, ownerReference: !storage.retain });
}

function findClaim({ applier }: Services, hub: Hub, name: string): Promise<Claim | undefined> {
  return applier.find<Claim>(builtin.PersistentVolumeClaim, hub.metadata.namespace, name);
}
