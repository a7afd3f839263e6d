import { HubFailed } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import type { Hub } from '../../../kinds';
import { deliveryMarker } from '../../../kinds/ids';
import { deliveredFile } from '../../hub-pod/delivery';
import type { Services } from '../../services';
import { MountedDefinitions } from './mounted-definitions';
import { MountedConfigMaps } from './mounted-config-maps';
import { HubReading } from './hub-reading';
import { unreadableLines } from './unreadable-lines';

/** The amount of delivered definitions of a hub, for the status of its Hub. */
interface DeliverySize {
  readonly configMaps: number;
  /** Bytes of all definitions, and of those in the fullest ConfigMap. */
  readonly bytes: number;
  readonly largestBytes: number;
}

/**
 * Milliseconds without another change after which changes are published. During a burst of changes they are
 * published after the longest wait.
 */
const QUIET_PERIOD = 200;
const LONGEST_WAIT = 8_000;

/**
 * Writes the delivered definitions of one hub into the ConfigMaps that its pod mounts, and makes the hub read
 * them.
 */
export class MountedFiles {
  readonly definitions = new MountedDefinitions();
  private readonly configMaps: MountedConfigMaps;
  private readonly reading: HubReading;
  private next: Promise<void> | undefined;
  private running: Promise<void> | undefined;

  /**
   * @param isExpecting reports whether more changes are expected soon, so that a burst needs only one
   * publication
   */
  constructor(
    private readonly services: Pick<Services, 'applier' | 'cache' | 'cluster' | 'clock'>,
    at: { readonly namespace: string; readonly name: string },
    private readonly isExpecting: () => boolean,
  ) {
    this.configMaps = new MountedConfigMaps(services, at, this.definitions);
    this.reading = new HubReading(services, at, this.configMaps);
  }

  /** Reads the ConfigMaps, once. */
  load(): Promise<void> {
    return this.configMaps.load();
  }

  /** True if the cluster has ConfigMaps of this hub. */
  get exists(): boolean {
    return this.configMaps.applied.size > 0;
  }

  /**
   * True if the cluster may not have the latest changes yet, since they are not published or a write has
   * failed.
   */
  get isBehind(): boolean {
    return this.definitions.changed.size > 0;
  }

  /** True while the hub is left alone, since it did not read the files a short time ago. */
  get isLeftAlone(): boolean {
    return this.reading.isLeftAlone;
  }

  get size(): DeliverySize {
    const sizes = this.definitions.sizes();
    return {
      configMaps: this.configMaps.applied.size,
      bytes: sizes.reduce((sum, each) => sum + each, 0),
      largestBytes: Math.max(...sizes),
    };
  }

  /** Reports whether the hub has read all files, with a configuration that it has accepted. */
  isRead(client: HubClient): Promise<boolean> {
    return this.reading.isRead(client);
  }

  /**
   * Resolves once the hub has read all changes that were made before the call. Changes of a burst are
   * published together.
   *
   * @throws HubFailed the hub does not read the files; they are in the cluster nevertheless
   */
  publish(client: HubClient): Promise<void> {
    this.next ??= this.publishNext(client);
    return this.next;
  }

  /**
   * Like {@link publish}, for definitions that were taken out. It also succeeds if the hub does not include
   * the files, since it runs none of their definitions then.
   */
  async publishTaken(client: HubClient): Promise<void> {
    try {
      await this.publish(client);
    } catch (error) {
      if (!(error instanceof HubFailed) || (await this.reading.mayUseFormer(client))) throw error;
    }
  }

  /** Resolves when nothing is being published. */
  async waitUntilIdle(): Promise<void> {
    while (this.isBusy) await (this.next ?? this.running)?.catch(() => undefined);
  }

  /**
   * Writes ConfigMaps again that someone has changed or deleted, or whose write has failed. This is done even
   * while a publication waits for the hub.
   */
  restore(hub: Hub): Promise<void> {
    return this.configMaps.restore(hub);
  }

  /**
   * Deletes the ConfigMaps when nothing is delivered any more, and their traces in the hub. Nothing is
   * published during this.
   */
  async removeAll(hub: Hub, client: HubClient): Promise<void> {
    await this.load();
    const isNeeded = this.definitions.isEmpty && this.configMaps.indices.length > 0;
    if (isNeeded && !this.isBusy && !this.isLeftAlone) await this.runAlone(this.removeEmpty(hub, client));
  }

  /**
   * Removes the empty ConfigMaps. Before that, the hub has to read files without the marker scripts.
   * Otherwise the entities of these scripts would stay in the hub's registry, since a later process of the
   * operator knows the scripts only from the ConfigMaps.
   */
  private removeEmpty(hub: Hub, client: HubClient): Promise<void> {
    const { configMaps, definitions } = this;
    return configMaps.withoutMarkers(hub, async (indices) => {
      await this.reading.untilGone(client, indices, () => !definitions.isEmpty);
      for (const index of indices) {
        if (!definitions.isEmpty) return; // the ConfigMaps are needed again
        await client.entities.removeRegistration('script', deliveryMarker(index));
      }
      for (const index of indices) await configMaps.remove(hub, index);
    });
  }

  private get isBusy(): boolean {
    return this.next !== undefined || this.running !== undefined;
  }

  private async runAlone(work: Promise<void>): Promise<void> {
    this.running = work;
    try {
      await work;
    } finally {
      if (this.running === work) this.running = undefined;
    }
  }

  private async publishNext(client: HubClient): Promise<void> {
    await this.running?.catch(() => undefined);
    await this.untilQuiet();
    this.next = undefined;
    await this.runAlone(this.publishNow(client));
  }

  private async untilQuiet(): Promise<void> {
    const { clock } = this.services;
    const began = clock.monotonic();
    do await clock.sleep(QUIET_PERIOD);
    while (this.isExpecting() && clock.monotonic() - began < LONGEST_WAIT);
  }

  private async publishNow(client: HubClient): Promise<void> {
    await this.load();
    const { hub } = this.configMaps;
    client.rest.assertOpen();
    await this.configMaps.flush(hub);
    await this.reading.untilSeen(client, (contents, words) => this.takeBackUnreadable(hub, contents, words));
  }

  /**
   * Restores the former versions of the definitions that the hub names in an error about an unreadable file.
   * A single such definition would exclude all others, and prevent the hub from starting.
   *
   * @param contents the contents that the error is about; in other contents, the line has another definition
   * @returns false when no definition is named, or its former version is not known
   */
  private async takeBackUnreadable(
    hub: Hub,
    contents: ReadonlyMap<number, string>,
    words: string,
  ): Promise<boolean> {
    if (words === '') return false;
    const data = await this.configMaps.dataOf(contents);
    const lines = unreadableLines(words, (kind, index) => data.get(index)?.[deliveredFile(kind)]);
    if (!this.definitions.takeBack(lines, words)) return false;
    this.reading.forgetFailure();
    await this.configMaps.flush(hub);
    return true;
  }
}
