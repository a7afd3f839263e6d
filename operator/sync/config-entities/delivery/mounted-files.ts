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

/** Milliseconds without a further change after which changes are published, and the most that they wait in a burst. */
const QUIET_PERIOD = 200;
const LONGEST_WAIT = 8_000;

/** Brings the delivered definitions of one hub into the ConfigMaps that its pod mounts, and has the hub read them. */
export class MountedFiles {
  readonly definitions = new MountedDefinitions();
  private readonly configMaps: MountedConfigMaps;
  private readonly reading: HubReading;
  private next: Promise<void> | undefined;
  private running: Promise<void> | undefined;

  /** @param isExpecting whether more changes will come soon: one publication is enough for a burst */
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

  /** The cluster has ConfigMaps of this hub. */
  get exists(): boolean {
    return this.configMaps.applied.size > 0;
  }

  /** The cluster may not have the latest changes yet: they are not published, or a write has failed. */
  get isBehind(): boolean {
    return this.definitions.changed.size > 0;
  }

  /** The hub did not read the files, and is not asked to for a while. */
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

  /** The hub has read all files, with a configuration that it has accepted. */
  isRead(client: HubClient): Promise<boolean> {
    return this.reading.isRead(client);
  }

  /**
   * Resolves once the hub has read all that was changed before. Changes of a burst are published together.
   *
   * @throws HubFailed the hub does not read the files; it has them when it does
   */
  publish(client: HubClient): Promise<void> {
    this.next ??= this.publishNext(client);
    return this.next;
  }

  /** Like {@link publish}. A hub that uses no former content, since it does not include the files, runs none of the taken ones. */
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

  /** Writes ConfigMaps again that someone has changed or deleted, also while the hub is waited for, and those whose write has failed. */
  restore(hub: Hub): Promise<void> {
    return this.configMaps.restore(hub);
  }

  /** Deletes the ConfigMaps when nothing is delivered any more, and what they have left in the hub. Meanwhile nothing is published. */
  async removeAll(hub: Hub, client: HubClient): Promise<void> {
    await this.load();
    const isNeeded = this.definitions.isEmpty && this.configMaps.indices.length > 0;
    if (isNeeded && !this.isBusy && !this.isLeftAlone) await this.runAlone(this.removeEmpty(hub, client));
  }

  /**
   * The hub has to read files without the marker scripts before the ConfigMaps go: these are all that a next process of the operator
   * knows of the markers, whose entities would stay in the hub's registry otherwise.
   */
  private removeEmpty(hub: Hub, client: HubClient): Promise<void> {
    const { configMaps, definitions } = this;
    return configMaps.withoutMarkers(hub, async (indices) => {
      await this.reading.untilGone(client, indices, () => !definitions.isEmpty);
      for (const index of indices) {
        if (!definitions.isEmpty) return; // they are needed again
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
   * The hub names definitions where it cannot read a file. Their former ones take their place again: one definition would keep all others
   * out, and the hub from starting. False: none is named, or its former one is not known.
   *
   * @param contents those that the words are about: in another one, the line has another definition
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
