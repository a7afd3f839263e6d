import type { Hub } from '../../operator/kinds';
import { objectNames } from '../../operator/kinds/object-names';
import type { ClusterObject } from '../../operator/runtime/objects';
import { builtin } from '../../operator/runtime/types';
import type { Cluster } from '../cluster';
import { about, type Finding } from './finding';

interface VolumeClaim extends ClusterObject {
  readonly spec?: { readonly storageClassName?: string };
  readonly status?: { readonly phase?: string };
}

/** Annotation of the default storage class, which claims without a class get. */
const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

/** Checks that the volume of a hub is bound, or that its storage class can provision one. */
export async function checkStorage(cluster: Cluster, { metadata, spec }: Hub): Promise<Finding[]> {
  const { ok, fault } = about('storage class', `Hub ${metadata.name}`);
  if (spec.external) return [];
  const name = spec.storage?.existingClaim ?? objectNames(metadata.name).volumeClaim;
  const claim = await cluster.api.find<VolumeClaim>(builtin.PersistentVolumeClaim, cluster.namespace, name);
  if (claim?.status?.phase === 'Bound') return [ok(`The volume claim ${name} is bound.`)];
  if (!claim && spec.storage?.existingClaim)
    return [fault(`The claim ${name} of spec.storage.existingClaim does not exist.`, 'Create it.')];
  const { items } = await cluster.api.request<{ items: readonly ClusterObject[] }>({
    method: 'GET',
    path: '/apis/storage.k8s.io/v1/storageclasses',
  });
  const named = claim?.spec?.storageClassName ?? spec.storage?.storageClassName;
  const names = items.map((each) => each.metadata.name);
  if (named !== undefined && named !== '')
    return [
      names.includes(named)
        ? ok(`The storage class ${named} exists; the volume claim ${name} is not bound yet.`)
        : fault(
            `The storage class ${named} does not exist, so the volume claim ${name} gets no volume.`,
            `Create it, or delete the Hub and create it with one of ${names.join(', ') || 'the classes that you install'}.`,
          ),
    ];
  const isDefault = items.some((each) => each.metadata.annotations?.[DEFAULT_CLASS] === 'true');
  return [
    isDefault
      ? ok(`There is a default storage class; the volume claim ${name} is not bound yet.`)
      : fault(
          `The cluster has no default storage class, so the volume claim ${name} gets no volume.`,
          `Mark a class with the annotation ${DEFAULT_CLASS}, or set spec.storage.storageClassName.`,
        ),
  ];
}
