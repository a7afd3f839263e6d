import { FilesNotRead, HubFailed } from '../../../client/connection/errors';
import { rereadScripts, scriptVariables } from '../../../client/config-entities/script-variables';
import type { HubClient } from '../../../client/hub-client';
import { operatorAnnotations } from '../../../kinds/annotations';
import { deliveryMarker } from '../../../kinds/ids';
import { objectNames } from '../../../kinds/object-names';
import type { ClusterObject } from '../../../runtime/objects';
import { builtin } from '../../../runtime/types';
import { readMarker } from '../../hub-pod/content-hashes';
import { whileRefreshing } from '../../hub-pod/refresh';
import { recordedBy } from '../../objects/ownership';
import type { Services } from '../../services';
import { scripts } from '../script';
import type { MountedConfigMaps } from './mounted-config-maps';

/**
 * Milliseconds that a pod takes to get changed files: the assumption before the first measurement, and the
 * bounds.
 */
const USUAL_REFRESH = 500;
const REFRESH_BOUNDS = [100, 2_000] as const;
/** Factors for the next wait, after one that was sufficient and after one that was too short. */
const SHORTER = 0.95;
const LONGER = 1.5;

/**
 * Milliseconds for which a hub that did not read the files is left alone: after the first failure, and at
 * most.
 */
const PAUSES = [10_000, 300_000] as const;

/** The hashes of the contents of ConfigMaps, by their indices. */
type Contents = ReadonlyMap<number, string>;
type Unread = readonly (readonly [index: number, hash: string])[];

/** The hub did not read the files. */
interface Failure {
  /** Hash of the configuration that the hub had accepted. */
  readonly accepted: string | undefined;
  /** The error of the hub, if it could not read its files. */
  readonly words: string | undefined;
  readonly pause: number;
  readonly until: number;
}

/**
 * Observes how far a hub has read its delivered files, and makes the hub read them. Each ConfigMap contains a
 * marker script that shows its content.
 */
export class HubReading {
  private usualRefresh = USUAL_REFRESH;
  private failure: Failure | undefined;
  /** For each ConfigMap, the number of its changes when the hub last read its files. */
  private readonly readAfter = new Map<number, number>();

  constructor(
    private readonly services: Pick<Services, 'cache' | 'cluster' | 'clock'>,
    private readonly at: { readonly namespace: string; readonly name: string },
    private readonly configMaps: Pick<MountedConfigMaps, 'applied' | 'changes'>,
  ) {}

  private get applied(): Contents {
    return this.configMaps.applied;
  }

  /** True while the hub is left alone, since it did not read the files a short time ago. */
  get isLeftAlone(): boolean {
    const { lastFailure } = this;
    return lastFailure !== undefined && this.services.clock.monotonic() < lastFailure.until;
  }

  /** Forgets the failure, since the content that the hub did not read is about to be replaced. */
  forgetFailure(): void {
    this.failure = undefined;
  }

  /** Reports whether the hub has read all files, with a configuration that it has accepted. */
  async isRead(client: HubClient): Promise<boolean> {
    for (const [index, hash] of this.applied) if ((await this.shown(client, index)) !== hash) return false;
    return this.runsAccepted(client);
  }

  /** Reports whether the hub may use former content of a file. */
  async mayUseFormer(client: HubClient): Promise<boolean> {
    for (const [index, hash] of this.applied) {
      const shown = await this.shown(client, index);
      const isHidden = shown === undefined && (await client.entities.read('script', deliveryMarker(index)));
      const isOther = shown !== undefined && (shown !== hash || this.isStale(index));
      if (isHidden || isOther) return true;
    }
    return false;
  }

  /**
   * Makes the pod get the files and the hub read them. This loads scripts, but not automations and scenes.
   *
   * @param mend receives the error of a hub that cannot read these contents; resolves with true if it has
   * written others
   * @throws HubFailed
   */
  async untilSeen(
    client: HubClient,
    mend: (contents: Contents, words: string) => Promise<boolean>,
  ): Promise<void> {
    if (this.applied.size === 0) return;
    const seen = new Map<number, string>();
    let isIncluded = false;
    // A content that is written during the loop counts too, since it includes the former changes.
    const unseen = () =>
      [...this.applied].filter(([index, hash]) => seen.get(index) !== hash || this.isStale(index));
    // All contents are checked each time, since a hub that has restarted may have other files than before.
    const look = async () => {
      for (const [index] of unseen()) {
        const shown = await this.shown(client, index);
        isIncluded ||= shown !== undefined;
        if (shown !== undefined && !this.isStale(index)) seen.set(index, shown);
      }
      return unseen().length === 0;
    };
    if (!(await look())) {
      // A hub whose configuration does not include the files never reads them, even after reloads.
      if (!isIncluded && !(await this.runsAccepted(client))) throw this.notRead(unseen());
      let mended: string | undefined;
      for (;;) {
        const [known, contents] = [this.lastFailure, new Map(this.applied)];
        const problem = await this.refresh(client, look);
        if (!problem) break;
        const { words = '' } = problem;
        // A former error is about former content. If the same error is repeated, it may be too, since the pod
        // may be slow to get the new files.
        if (problem === known || words === mended || !(await mend(contents, words)))
          throw this.notRead(unseen(), problem.words ?? (await this.hiddenMarker(client, unseen())));
        mended = words;
      }
    }
    if (!(await this.runsAccepted(client))) throw this.notRead([...this.applied]);
  }

  /**
   * Resolves once the hub shows none of these contents.
   *
   * @param isOver reports whether this is no longer needed
   * @throws HubFailed
   */
  async untilGone(client: HubClient, indices: readonly number[], isOver: () => boolean): Promise<void> {
    const isGone = async () => {
      const shown = await Promise.all(indices.map((index) => this.shown(client, index)));
      return shown.every((hash) => hash === undefined);
    };
    const problem = await this.refresh(client, async () => isOver() || (await isGone()));
    if (problem) throw this.notRead([...this.applied], problem.words);
  }

  /**
   * Reloads the hub's files until `look` reports success. After a failure the hub is left alone for
   * increasing times, unless its configuration changes.
   *
   * @returns the failure, undefined when the hub has read the files
   */
  private async refresh(
    client: HubClient,
    look: () => Promise<boolean>,
  ): Promise<{ readonly words: string | undefined } | undefined> {
    const { clock } = this.services;
    const before = this.lastFailure;
    if (before && this.isLeftAlone) return before;
    let words: string | undefined;
    let hadWords = false;
    let tooEarly = Infinity;
    const isSeen = await whileRefreshing(this.services, this.at, async (elapsed) => {
      if (elapsed() < this.usualRefresh) await clock.sleep(this.usualRefresh - elapsed());
      const readAt = elapsed();
      const changes = [...this.configMaps.changes];
      words = (await rereadScripts(client))?.message;
      if (words === undefined) for (const [index, count] of changes) this.readAfter.set(index, count);
      hadWords ||= words !== undefined;
      if (words !== undefined || !(await look())) {
        tooEarly = readAt;
        return undefined;
      }
      // A large hub takes seconds to read its files, and the pod may have got them long before that read
      // began.
      const next = Math.min(SHORTER * readAt, LONGER * tooEarly);
      // After a failed read, the measured time says nothing about the pod.
      if (!hadWords) this.usualRefresh = Math.min(Math.max(REFRESH_BOUNDS[0], next), REFRESH_BOUNDS[1]);
      return true;
    });
    if (isSeen) {
      this.failure = undefined;
      return undefined;
    }
    const pause = Math.min(before ? 2 * before.pause : PAUSES[0], PAUSES[1]);
    this.failure = { accepted: this.acceptedHash, words, pause, until: clock.monotonic() + pause };
    return this.failure;
  }

  /**
   * Reports whether the ConfigMap has changed since the hub last read its files. Equal content is no proof:
   * if a ConfigMap was changed back, the pod may still have the content in between.
   */
  private isStale(index: number): boolean {
    return this.configMaps.changes.get(index) !== this.readAfter.get(index);
  }

  /** The last failure. It counts only as long as the hub's configuration is the same. */
  private get lastFailure(): Failure | undefined {
    return this.failure?.accepted === this.acceptedHash ? this.failure : undefined;
  }

  /**
   * An error about a script in the hub's own file with the id of a marker script: the hub then uses that
   * script instead of the marker.
   */
  private async hiddenMarker(client: HubClient, unread: Unread): Promise<string | undefined> {
    for (const [index] of unread) {
      const id = deliveryMarker(index);
      if (!(await client.entities.read('script', id))) continue;
      const [owner] = recordedBy(this.services, scripts, this.at, id);
      const which = owner ? `the script of the HubScript ${owner.metadata.name}` : 'a script of its own';
      return (
        `${which} has the id ${id}, and hides the script of the operator that shows what the hub has read. ` +
        'Delete it, and make it again with another id.'
      );
    }
    return undefined;
  }

  private notRead(unread: Unread, words?: string): HubFailed {
    const names = unread.map(([index]) => objectNames(this.at.name).delivery(index)).join(', ');
    return words === undefined
      ? new FilesNotRead(
          `Waiting for the hub to read the ConfigMaps ${names}: its pod gets them within a minute. If this lasts, see whether the HubConfiguration is Ready.`,
        )
      : new HubFailed(`the hub has not read the ConfigMaps ${names} yet: ${words}`);
  }

  /**
   * Reports whether the hub has read the configuration that it accepted. A configuration that is only being
   * tried may be reverted, and with it the includes of the delivered files.
   */
  private async runsAccepted(client: HubClient): Promise<boolean> {
    const hash = this.acceptedHash;
    return hash !== undefined && (await readMarker(client))?.configuration === hash;
  }

  private get acceptedHash(): string | undefined {
    const { namespace, name } = this.at;
    const { acceptedConfiguration } = objectNames(name);
    const { kind } = builtin.ConfigMap;
    const accepted = this.services.cache.get<ClusterObject>(kind, namespace, acceptedConfiguration);
    return accepted?.metadata.annotations?.[operatorAnnotations.contentHash];
  }

  /** The content of a ConfigMap that the hub has read last, as a hash. */
  private async shown(client: HubClient, index: number): Promise<string | undefined> {
    const variables = await scriptVariables(client, deliveryMarker(index));
    return typeof variables?.['content'] === 'string' ? variables['content'] : undefined;
  }
}
