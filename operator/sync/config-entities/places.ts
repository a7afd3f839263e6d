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

/** The two places of the definitions of one hub: an object is in one of them, or on its way from one to the other. */
export class Places {
  readonly files: MountedFiles;
  readonly own: Place;
  readonly mounted: Place;

  /** @param isExpecting whether more writes will come soon */
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

  /** The place where definitions are to be: `Hub.spec.delivery`. */
  get desired(): Place {
    const spec = this.services.cache.get<Hub>('Hub', this.at.namespace, this.at.name)?.spec;
    return spec?.delivery === 'File' && !spec.external ? this.mounted : this.own;
  }

  /** Reads the mounted definitions, once. */
  load(): Promise<void> {
    return this.files.load();
  }

  /** The resources of new objects that only the ConfigMaps name. */
  get claims(): Pick<MountedDefinitions, 'claimOf' | 'isClaimed' | 'unclaim'> {
    return this.files.definitions;
  }

  /** The place that has a definition. No request is sent to the hub: one that is not mounted counts as one of its own file. */
  whereIs(kind: ConfigEntityKind, id: string): Place {
    return this.files.definitions.get(kind, id) === undefined ? this.own : this.mounted;
  }

  /**
   * Moves an object: its destination has it before the other place is without it.
   *
   * @param write puts it there; resolves with whether it is there
   * @param mayLeave asked before it is taken out of the other place
   * @returns undefined: it was not written, and stays
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

  /** An object that its resource leaves is in the hub's own file, and the cluster has nothing of it. */
  isSettled(kind: ConfigEntityKind, id: string): boolean {
    return this.whereIs(kind, id) === this.own && !this.files.isBehind;
  }

  /**
   * Moves a definition into the hub's own file, where it stays.
   *
   * @param mayLeave asked before each step; false: another resource has its id, and the definition as well
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

  /** Removes an object from the hub, wherever its definition is. */
  async remove(kind: ConfigEntityKind, id: string, options: RemovalOptions): Promise<void> {
    const { client } = this;
    const { shouldRemove, reload } = options;
    await this.load();
    const isNeverMounted = kind === 'script' && isMarker(id);
    // A former attempt may have taken it, and the hub have it still.
    const mayBeMounted = this.files.exists || !this.isSettled(kind, id);
    if (mayBeMounted && !isNeverMounted && shouldRemove()) {
      this.files.definitions.take(kind, id);
      await this.files.publishTaken(client);
      if (reload) await client.reloads.request(kind, 0);
      // A write of the hub's own file, as before a change of spec.delivery, may have had no answer yet.
      const isElsewhere =
        client.removal.lateWritePeriod > 0 || (await client.entities.readAfterWrites(kind, id));
      if (!isElsewhere) return client.entities.removeRegistration(kind, id, { shouldRemove });
    }
    await client.removal.remove(kind, id, options);
  }
}
