import { isDeepStrictEqual } from 'node:util';
import { Stopping } from '../../../base/errors';
import { HubFailed } from '../../../client/connection/errors';
import type { Hub } from '../../../kinds';
import { operatorAnnotations } from '../../../kinds/annotations';
import { objectNames } from '../../../kinds/object-names';
import type { ClusterObject } from '../../../runtime/objects';
import { builtin } from '../../../runtime/types';
import { DELIVERIES, deliveryMetadata } from '../../hub-pod/delivery';
import { isForOtherVolume } from '../../hub-pod/hub-volume';
import { keepsVolume } from '../../hub-pod/retain';
import type { Services } from '../../services';
import type { MountedDefinitions, DeliveryData } from './mounted-definitions';

interface MountedConfigMap extends ClusterObject {
  readonly data?: DeliveryData;
}

/**
 * Writes the definitions of one hub into the ConfigMaps that its pod mounts, and reads them from there. The
 * ConfigMaps are the record of all delivered definitions, as `automations.yaml` is for definitions that the
 * hub's API has written.
 */
export class MountedConfigMaps {
  /** Hash of the content of each ConfigMap in the cluster. */
  readonly applied = new Map<number, string>();
  /** For each ConfigMap, the number of writes that changed its content. */
  readonly changes = new Map<number, number>();
  /** For each ConfigMap, its version and owner after the last write. */
  private readonly written = new Map<number, string>();
  private loading: Promise<void> | undefined;
  /** The volume that the definitions belong to. Undefined if not known. */
  private volume: string | undefined;
  private lastWrite: Promise<unknown> = Promise.resolve();
  /** True while the ConfigMaps are empty and about to be deleted, and so have no marker scripts. */
  private isEnding = false;

  constructor(
    private readonly services: Pick<Services, 'applier' | 'cache'>,
    private readonly at: { readonly namespace: string; readonly name: string },
    private readonly definitions: MountedDefinitions,
  ) {}

  /** @throws Stopping the Hub was deleted */
  get hub(): Hub {
    const hub = this.services.cache.get<Hub>('Hub', this.at.namespace, this.at.name);
    if (!hub) throw new Stopping('the Hub was deleted meanwhile');
    return hub;
  }

  /** Reads the ConfigMaps, once for each volume of the hub. */
  load(hub = this.services.cache.get<Hub>('Hub', this.at.namespace, this.at.name)): Promise<void> {
    const volume = hub?.status?.volumeID;
    if (this.volume !== undefined && volume !== undefined && this.volume !== volume) this.forget();
    this.volume ??= volume;
    this.loading ??= this.readAll().catch((error: unknown) => {
      this.loading = undefined;
      throw error;
    });
    return this.loading;
  }

  /** Forgets the definitions, which say nothing about another volume. */
  private forget(): void {
    this.definitions.clear();
    this.applied.clear();
    this.written.clear();
    this.loading = this.volume = undefined;
  }

  /** Writes all changes that were made before the call. */
  async flush(hub: Hub): Promise<void> {
    await this.lastWrite; // wait for a restoration: if it fails, its changes are written here
    const { changed } = this.definitions;
    for (const index of [...changed]) await this.apply(hub, index, () => changed.has(index));
  }

  /** Writes ConfigMaps again that someone has changed or deleted, or whose write has failed. */
  async restore(hub: Hub): Promise<void> {
    await this.load(hub);
    const isOther = (index: number) => this.indices.includes(index) && !this.isAsWritten(hub, index);
    for (const index of this.indices) if (isOther(index)) await this.apply(hub, index, () => isOther(index));
  }

  /** Reports whether the ConfigMap is unchanged since the last write, and has no pending changes. */
  private isAsWritten(hub: Hub, index: number): boolean {
    const present = deliveryMetadata(this.services, this.at, index);
    const isSame = present && this.written.get(index) === this.versionOf(hub, present);
    return isSame === true && !this.definitions.changed.has(index);
  }

  private versionOf(hub: Hub, { metadata: { resourceVersion } }: ClusterObject): string {
    return [resourceVersion, hub.metadata.uid, keepsVolume(this.services, hub), this.volume].join();
  }

  /**
   * Writes the empty ConfigMaps without the marker scripts, then does the work. ConfigMaps that still exist
   * after it get their marker scripts again.
   */
  async withoutMarkers(hub: Hub, work: (indices: readonly number[]) => Promise<void>): Promise<void> {
    const { indices, definitions } = this;
    this.isEnding = true;
    try {
      for (const index of indices) await this.apply(hub, index, () => definitions.isEmpty);
      await work(indices);
    } finally {
      this.isEnding = false;
      for (const index of this.applied.keys()) definitions.changed.add(index);
    }
  }

  /** Deletes a ConfigMap, unless there are definitions again. */
  remove(hub: Hub, index: number): Promise<void> {
    return this.inTurn(async () => {
      if (!this.definitions.isEmpty) return;
      // Deleted before the request, since a definition that is added during the request has to be written.
      this.definitions.changed.delete(index);
      await this.services.applier.remove(builtin.ConfigMap, hub, objectNames(this.at.name).delivery(index));
      this.applied.delete(index);
    });
  }

  /** The data of the ConfigMaps that have these contents. */
  async dataOf(contents: ReadonlyMap<number, string>): Promise<ReadonlyMap<number, DeliveryData>> {
    const found = new Map<number, DeliveryData>();
    for (const [index, hash] of contents) {
      const configMap = await this.find(index);
      if (configMap?.data && hashOf(configMap) === hash) found.set(index, configMap.data);
    }
    return found;
  }

  /** Indices of the ConfigMaps that exist in the cluster or may exist. */
  get indices(): readonly number[] {
    return [...new Set([...this.definitions.changed, ...this.applied.keys()])];
  }

  /**
   * Reads all ConfigMaps from the API server, since the cache may miss one. The definitions of that ConfigMap
   * would be overwritten, and lost if no resource adds them again.
   */
  private async readAll(): Promise<void> {
    const { definitions, hub } = this;
    if (hub.spec.external) return;
    const read = new Map<number, MountedConfigMap['data']>();
    for (const index of DELIVERIES) {
      const found = await this.find(index);
      if (!found || !this.services.applier.isOurs(found, hub)) continue;
      if (isForOtherVolume(found, this.volume))
        throw new HubFailed(`the ConfigMap ${found.metadata.name} is still that of another volume`);
      read.set(index, found.data);
      this.applied.set(index, hashOf(found));
      definitions.read(index, found.data);
    }
    for (const [index, data] of read)
      if (!isDeepStrictEqual(definitions.content(index).data, data)) definitions.changed.add(index);
  }

  private find(index: number): Promise<MountedConfigMap | undefined> {
    const { namespace, name } = this.at;
    return this.services.applier.find(builtin.ConfigMap, namespace, objectNames(name).delivery(index));
  }

  /**
   * Writes a ConfigMap in its turn, if that is still needed then. If the write fails, the ConfigMap stays
   * marked as changed.
   */
  private apply(hub: Hub, index: number, isNeeded: () => boolean): Promise<void> {
    return this.inTurn(async () => {
      if (!isNeeded()) return;
      for (const each of this.definitions.receiving) await this.writeOne(hub, each);
      await this.writeOne(hub, index);
    });
  }

  /** Runs writes one after another, so that older content never replaces newer content. */
  private inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.lastWrite.then(work);
    this.lastWrite = done.catch(() => undefined);
    return done;
  }

  private async writeOne(hub: Hub, index: number): Promise<void> {
    const { definitions } = this;
    const { changed, receiving } = definitions;
    const isReceiving = receiving.delete(index);
    if (changed.delete(index)) definitions.renewBesides(index);
    try {
      await this.write(hub, index);
    } catch (error) {
      changed.add(index);
      if (isReceiving) receiving.add(index);
      throw error;
    }
  }

  private async write(hub: Hub, index: number): Promise<void> {
    const { definitions } = this;
    const { data, hash } = definitions.content(index, !(this.isEnding && definitions.isEmpty));
    const { namespace, name } = this.at;
    const written = await this.services.applier.apply(
      builtin.ConfigMap,
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: objectNames(name).delivery(index),
          namespace,
          annotations: {
            [operatorAnnotations.contentHash]: hash,
            ...(this.volume !== undefined && { [operatorAnnotations.volume]: this.volume }),
          },
        },
        data,
      },
      // The ConfigMap is kept together with the volume. It must have no owner reference then, since a
      // foreground deletion does not wait for finalizers.
      { owner: hub, ownerReference: keepsVolume(this.services, hub) ? 'never' : 'at creation' },
    );
    if (this.applied.get(index) !== hash) this.changes.set(index, (this.changes.get(index) ?? 0) + 1);
    this.applied.set(index, hash);
    this.written.set(index, this.versionOf(hub, written));
  }
}

const hashOf = ({ metadata }: MountedConfigMap): string =>
  metadata.annotations?.[operatorAnnotations.contentHash] ?? '';
