/** Provisions a directory for each claim of the class `sandbox`. The controller manager binds the volumes. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { V1PersistentVolume, V1PersistentVolumeClaim } from '@kubernetes/client-node';
import { MERGE_PATCH, type NodeCache } from './node-cache';
import { KeyedQueue } from './keyed-queue';
import { PROVISIONER, STORAGE_CLASS } from './names';
import { describe, retry } from './retry';

const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';

export class Provisioner {
  private readonly work: KeyedQueue;

  constructor(
    private readonly cluster: NodeCache,
    private readonly directory: string,
  ) {
    this.work = new KeyedQueue((error) => cluster.log(`volumes: ${describe(error)}`));
  }

  async createStorageClass(): Promise<void> {
    const { storage, signal, log } = this.cluster;
    const body = {
      metadata: {
        name: STORAGE_CLASS,
        annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
      },
      provisioner: PROVISIONER,
      allowVolumeExpansion: true,
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'Immediate',
    };
    await retry('storage class', () => storage.createStorageClass({ body }), signal, log);
  }

  claimChanged({ metadata }: V1PersistentVolumeClaim): void {
    const { name = '', namespace = '' } = metadata ?? {};
    this.work.add(`claim ${namespace}/${name}`, async () => {
      const claim = this.cluster.caches.claims.get(name, namespace);
      const { storageClassName, volumeName, volumeMode = 'Filesystem' } = claim?.spec ?? {};
      if (!claim || storageClassName !== STORAGE_CLASS || claim.metadata?.deletionTimestamp) return;
      if (claim.status?.phase === 'Bound') await this.expand(claim);
      else if (!volumeName && volumeMode === 'Filesystem') await this.provision(claim);
    });
  }

  volumeChanged({ metadata }: V1PersistentVolume): void {
    const { name = '' } = metadata ?? {};
    this.work.add(`volume ${name}`, async () => {
      const volume = this.cluster.caches.volumes.get(name);
      const ours = volume?.metadata?.annotations?.[PROVISIONED_BY] === PROVISIONER;
      if (!volume || !ours || volume.metadata?.deletionTimestamp) return;
      const released = volume.status?.phase === 'Released';
      if (released && volume.spec?.persistentVolumeReclaimPolicy === 'Delete') await this.remove(volume);
    });
  }

  private async provision(claim: V1PersistentVolumeClaim): Promise<void> {
    const { core, signal, log } = this.cluster;
    const { name = '', namespace = '', uid = '' } = claim.metadata ?? {};
    if (this.isReserved(namespace, name)) return;
    const path = join(this.directory, `pvc-${uid}`);
    await mkdir(path, { recursive: true });
    const body: V1PersistentVolume = {
      metadata: { name: `pvc-${uid}`, annotations: { [PROVISIONED_BY]: PROVISIONER } },
      spec: {
        accessModes: claim.spec?.accessModes ?? [],
        capacity: { storage: requested(claim) },
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid },
        hostPath: { path, type: 'DirectoryOrCreate' },
        persistentVolumeReclaimPolicy: 'Delete',
        storageClassName: STORAGE_CLASS,
      },
    };
    await retry(
      `volume of claim ${namespace}/${name}`,
      () => core.createPersistentVolume({ body }),
      signal,
      log,
    );
  }

  /** Whether an existing volume is reserved for this claim. The controller manager then binds the volume. */
  private isReserved(namespace: string, name: string): boolean {
    return this.cluster.caches.volumes.list().some(({ spec }) => {
      const { namespace: ofNamespace, name: ofName, uid } = spec?.claimRef ?? {};
      return ofNamespace === namespace && ofName === name && uid === undefined;
    });
  }

  /** Sets the capacity to the requested size: a directory has no size. */
  private async expand(claim: V1PersistentVolumeClaim): Promise<void> {
    const { core, signal, log } = this.cluster;
    const { name = '', namespace = '' } = claim.metadata ?? {};
    const storage = requested(claim);
    if (claim.status?.capacity?.storage === storage) return;
    const what = `size of claim ${namespace}/${name}`;
    const volume = { name: claim.spec?.volumeName ?? '', body: { spec: { capacity: { storage } } } };
    await retry(what, () => core.patchPersistentVolume(volume, MERGE_PATCH), signal, log);
    const status = { name, namespace, body: { status: { capacity: { storage } } } };
    await retry(
      what,
      () => core.patchNamespacedPersistentVolumeClaimStatus(status, MERGE_PATCH),
      signal,
      log,
    );
  }

  private async remove(volume: V1PersistentVolume): Promise<void> {
    const { core, signal, log } = this.cluster;
    const { name = '' } = volume.metadata ?? {};
    const path = volume.spec?.hostPath?.path;
    if (path) await rm(path, { recursive: true, force: true });
    await retry(`deletion of volume ${name}`, () => core.deletePersistentVolume({ name }), signal, log);
  }
}

function requested(claim: V1PersistentVolumeClaim): string {
  return claim.spec?.resources?.requests?.storage ?? '0';
}
