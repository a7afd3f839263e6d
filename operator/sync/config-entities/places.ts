import type { RemovalOptions } from '../../client/config-entities/entity-removal';
import type { ReloadResult } from '../../client/config-entities/reload-retry';
import type { ConfigEntityKind } from '../../client/connection/config-entity';
import type { HubClient } from '../../client/hub-client';
import type { Hub } from '../../kinds';
import { isMarker } from '../../kinds/ids';
import type { Services } from '../services';
import type { MountedDefinitions } from './delivery/mounted-definitions';
import { MountedFiles } from './delivery/mounted-files';
import { MountedFile } from './delivery/mounted-file';
import type { FileReadSchedule } from './file-read-schedule';
import { OwnFile } from './own-file';
import type { Place } from './place';

export type PlaceServices = Pick<Services, 'applier' | 'cache' | 'cluster' | 'clock'>;

/**
 * The two places that definitions of one hub can be in. An object is in one of them, or is being moved to the
 * other.
 */
export class Places {
  readonly files: MountedFiles;
  readonly own: Place;
  readonly mounted: Place;

  /** @param isExpecting reports whether more writes are expected soon */
  constructor(
    private readonly services: PlaceServices,
    private readonly client: HubClient,
    private readonly at: { readonly namespace: string; readonly name: string },
    { fileReads, isExpecting }: { readonly fileReads: FileReadSchedule; readonly isExpecting: () => boolean },
  ) {
    const { clock } = services;
    this.files = new MountedFiles(services, at, isExpecting);
    this.own = new OwnFile(client, clock, fileReads, this.files.definitions);
    this.mounted = new MountedFile(client, clock, this.files, this.own);
  }

  /** The place that `Hub.spec.delivery` selects for definitions. */
  get desired(): Place {
    const spec = this.services.cache.get<Hub>('Hub', this.at.namespace, this.at.name)?.spec;
    return spec?.delivery === 'File' && !spec.external ? this.mounted : this.own;
  }

  /** Reads the mounted definitions, once. */
  load(): Promise<void> {
    return this.files.load();
  }

  /** The claims of resources for new objects that only the ConfigMaps record. */
  get claims(): Pick<MountedDefinitions, 'claimOf' | 'isClaimed' | 'unclaim'> {
    return this.files.definitions;
  }

  /**
   * The place that has a definition. No request is sent to the hub: a definition that is not mounted counts
   * as being in the hub's own file.
   */
  whereIs(kind: ConfigEntityKind, id: string): Place {
    return this.files.definitions.get(kind, id) === undefined ? this.own : this.mounted;
  }

  /**
   * Moves an object. The destination has the object before the other place loses it.
   *
   * @param write writes the object to the destination; resolves with whether it is there
   * @param mayLeave called before the object is taken out of the other place
   * @returns undefined when the object was not written and so was not moved
   */
  async move(
    to: Place,
    kind: ConfigEntityKind,
    id: string,
    { write, mayLeave }: { readonly write: () => Promise<boolean>; readonly mayLeave: () => boolean },
  ): Promise<{ readonly reload: ReloadResult | undefined } | undefined> {
    if (!(await write())) return undefined;
    const from = to === this.own ? this.mounted : this.own;
    return { reload: await from.leave(kind, id, mayLeave) };
  }

  /**
   * Reports whether an object is only in the hub's own file, and not in the cluster. This is required for an
   * object that its resource leaves in the hub.
   */
  isSettled(kind: ConfigEntityKind, id: string): boolean {
    return this.whereIs(kind, id) === this.own && !this.files.isBehind;
  }

  /**
   * Moves a definition into the hub's own file, where it stays.
   *
   * @param mayLeave called before each step; false if another resource has the id, and with it the definition
   * @throws HubRejected
   */
  async settle(kind: ConfigEntityKind, id: string, mayLeave: () => boolean): Promise<void> {
    await this.load();
    const mounted = this.files.definitions.get(kind, id);
    const write = async () => {
      if (mounted && !(await this.client.entities.read(kind, id)))
        await this.client.entities.write(kind, id, () => (mayLeave() ? mounted : undefined));
      return true;
    };
    await this.move(this.own, kind, id, { write, mayLeave });
  }

  /** Removes an object from the hub, from either place. */
  async remove(kind: ConfigEntityKind, id: string, options: RemovalOptions): Promise<void> {
    const { client } = this;
    const { shouldRemove, reload, prepare } = options;
    await this.load();
    const isNeverMounted = kind === 'script' && isMarker(id);
    // A former attempt may have taken the definition out of the files, while the hub still has it.
    const mayBeMounted = this.files.exists || !this.isSettled(kind, id);
    if (mayBeMounted && !isNeverMounted && shouldRemove()) {
      this.files.definitions.take(kind, id);
      await this.files.publishTaken(client);
      if (reload) await client.reloads.request(kind, 0);
      // A write to the hub's own file may still be unanswered, for example from before a change of
      // spec.delivery.
      const isElsewhere =
        client.removal.lateWritePeriod > 0 || (await client.entities.readAfterWrites(kind, id));
      if (!isElsewhere) return client.entities.removeRegistration(kind, id, { shouldRemove, prepare });
    }
    await client.removal.remove(kind, id, options);
  }
}
