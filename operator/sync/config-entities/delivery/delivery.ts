import { isDeepStrictEqual } from 'node:util';
import type { ConfigEntityKind, EntityPayload } from '../../../client/connection/config-entity';
import type { ReloadResult } from '../../../client/config-entities/reload-retry';
import type { RemovalOptions } from '../../../client/config-entities/entity-removal';
import type { HubClient } from '../../../client/hub-client';
import type { Hub } from '../../../kinds';
import { isMarker } from '../../../kinds/ids';
import type { Services } from '../../services';
import { checkDefinition } from './check-definition';
import type { DeliveredDefinitions } from './delivered-definitions';
import { DeliveredFiles } from './delivered-files';
import type { Former } from './former-definitions';
import { HubFileRemovals } from './hub-file-removals';
import { TakenBack } from './taken-back';

export type DeliveryServices = Pick<Services, 'applier' | 'cache' | 'cluster' | 'clock'>;

/** What a definition replaces. */
export interface Replaced {
  /** `status.appliedHash` of its resource. */
  readonly accepted: string | undefined;
  /** The object in the hub's own file, which is taken out there; undefined: there is none, or it is equal. */
  readonly inHubFile?: EntityPayload | undefined;
  /** Uid of its resource, whose status does not record the object yet. */
  readonly claimedBy?: string | undefined;
}

/**
 * How the definitions of one hub get there: into its own files, which its API writes, or into ConfigMaps that its pod mounts
 * (rules.md, "Delivery").
 */
export class Delivery {
  readonly files: DeliveredFiles;
  readonly definitions: DeliveredDefinitions;
  private readonly hubFiles: HubFileRemovals;

  constructor(
    private readonly services: DeliveryServices,
    private readonly client: HubClient,
    private readonly at: { readonly namespace: string; readonly name: string },
    isExpecting: () => boolean,
  ) {
    this.files = new DeliveredFiles(services, at, isExpecting);
    this.definitions = this.files.definitions;
    this.hubFiles = new HubFileRemovals(client, services.clock);
  }

  /** `Hub.spec.delivery` is `File`. */
  get isByFile(): boolean {
    const spec = this.services.cache.get<Hub>('Hub', this.at.namespace, this.at.name)?.spec;
    return spec?.delivery === 'File' && !spec.external;
  }

  /**
   * Creates or replaces a definition among the delivered ones. Resolves once the hub has read it; scripts it has loaded by then.
   *
   * @param payload if it returns undefined, nothing is written
   * @param replaced the state before
   * @returns whether it was written
   * @throws HubRejected with the hub's validation error; HubFailed
   */
  async write(
    kind: ConfigEntityKind,
    id: string,
    payload: () => EntityPayload | undefined,
    replaced: Replaced,
  ): Promise<boolean> {
    await this.files.load();
    for (;;) {
      const checked = payload();
      if (!checked) return false;
      await checkDefinition(this.client, kind, checked);
      // Many edits meanwhile are one write.
      if (!isDeepStrictEqual(payload(), checked)) continue;
      this.failIfTakenBack(kind, id, checked);
      this.definitions.put(kind, id, checked, this.formerBeside(kind, id, checked, replaced));
      if (replaced.claimedBy !== undefined) this.definitions.claim(kind, id, replaced.claimedBy);
      await this.files.publish(this.client);
      this.failIfTakenBack(kind, id, checked);
      return true;
    }
  }

  /**
   * What takes the place of a definition that the hub does not load. Undefined: it stays, as the former one is not known any more.
   *
   * @param accepted `status.appliedHash` of its resource
   */
  fallback(kind: ConfigEntityKind, id: string, accepted: string | undefined): Former | undefined {
    const former = this.definitions.formerOf(kind, id);
    return former?.accepted === (accepted ?? '') ? former : undefined;
  }

  /** @param accepted `status.appliedHash` of a definition that the hub has not loaded yet: the replaced one stays known beside that */
  keepFormer(kind: ConfigEntityKind, id: string, accepted: string): void {
    if (this.definitions.keepFormer(kind, id, accepted)) this.publishFormers();
  }

  /** The hub uses the definition with this hash. */
  confirm(kind: ConfigEntityKind, id: string, hash: string): void {
    if (this.definitions.confirm(kind, id, hash)) this.publishFormers();
  }

  /** A write that fails is made up for by the next one. */
  private publishFormers(): void {
    void this.files.publish(this.client).catch(() => undefined);
  }

  /** Takes a definition that the hub does not load out again. */
  async takeBack(kind: ConfigEntityKind, id: string, { definition }: Former): Promise<void> {
    if (definition) this.definitions.put(kind, id, definition);
    else this.definitions.take(kind, id);
    await this.reload(kind);
    if (!definition) await this.client.entities.removeRegistration(kind, id);
  }

  /** Reloads a kind once the hub has read the delivered files. */
  async reload(kind: ConfigEntityKind): Promise<ReloadResult> {
    await this.files.publish(this.client);
    return this.client.reloads.request(kind, 0);
  }

  /** Takes a delivered object out of the hub's own file. */
  leaveHubFile(kind: ConfigEntityKind, id: string, shouldRemove: () => boolean): Promise<ReloadResult> {
    return this.hubFiles.remove(kind, id, shouldRemove);
  }

  /** Takes a definition that the hub's own file has as well out of the delivered ones. */
  async leaveFiles(kind: ConfigEntityKind, id: string): Promise<void> {
    this.definitions.take(kind, id);
    await this.files.publish(this.client);
    await this.client.reloads.request(kind, 0);
  }

  /**
   * Moves a definition into the hub's own file, where it stays.
   *
   * @param shouldReturn asked before each step; false: another resource has its id, and the definition as well
   * @throws HubRejected
   */
  async returnToHubFile(kind: ConfigEntityKind, id: string, shouldReturn: () => boolean): Promise<void> {
    await this.files.load();
    const delivered = this.definitions.get(kind, id);
    if (delivered && !(await this.client.entities.read(kind, id)))
      await this.client.entities.write(kind, id, () => (shouldReturn() ? delivered : undefined));
    if (shouldReturn()) await this.leaveFiles(kind, id);
  }

  /** Removes an object from the hub, wherever its definition is. */
  async remove(kind: ConfigEntityKind, id: string, options: RemovalOptions): Promise<void> {
    const { client } = this;
    const { shouldRemove, reload } = options;
    await this.files.load();
    const isNeverDelivered = kind === 'script' && isMarker(id);
    // A former attempt may have taken it, and the hub have it still.
    const { exists, isBehind } = this.files;
    const mayHaveIt = this.definitions.get(kind, id) !== undefined || exists || isBehind;
    if (mayHaveIt && !isNeverDelivered && shouldRemove()) {
      this.definitions.take(kind, id);
      await this.files.publishTaken(client);
      if (reload) await client.reloads.request(kind, 0);
      // A write of the hub's own file, as before a change of spec.delivery, may have had no answer yet.
      const isElsewhere =
        client.removal.lateWritePeriod > 0 || (await client.entities.readAfterWrites(kind, id));
      if (!isElsewhere) return client.entities.removeRegistration(kind, id, { shouldRemove });
    }
    await client.removal.remove(kind, id, options);
  }

  /** The hub could not read it: a publication, perhaps one after that of its write, has taken it out again. */
  private failIfTakenBack(kind: ConfigEntityKind, id: string, definition: EntityPayload): void {
    const words = this.definitions.whyUnreadable(kind, id, definition);
    if (words !== undefined) throw new TakenBack(this.client.rest.redact(words));
  }

  /** What stays beside a new definition until the hub uses that: several in a row may fail. */
  private formerBeside(
    kind: ConfigEntityKind,
    id: string,
    definition: EntityPayload,
    { accepted = '', inHubFile }: Replaced,
  ): Former | undefined {
    const present = this.definitions.formerOf(kind, id);
    if (present?.accepted === accepted) return present;
    const replaced = this.definitions.get(kind, id) ?? inHubFile ?? null;
    return isDeepStrictEqual(replaced, definition) ? undefined : { definition: replaced, accepted };
  }
}
