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

/** Milliseconds that a pod usually takes to get the files, until the first time was measured; the least and the most. */
const USUAL_REFRESH = 500;
const REFRESH_BOUNDS = [100, 2_000] as const;
/** The next wait, as a multiple of one that was enough, and of one that was too short. */
const SHORTER = 0.95;
const LONGER = 1.5;

/** Milliseconds in which a hub that has not read the files is not asked to: the first time, and at most. */
const PAUSES = [10_000, 300_000] as const;

/** The contents of ConfigMaps, by their hashes. */
type Contents = ReadonlyMap<number, string>;
type Unread = readonly (readonly [index: number, hash: string])[];

/** The hub has not read the files. */
interface Failure {
  /** Hash of the configuration that it had accepted. */
  readonly accepted: string | undefined;
  /** The error of a hub that cannot read its files. */
  readonly words: string | undefined;
  readonly pause: number;
  readonly until: number;
}

/** What a hub has read of its delivered files, and has it read them. Each ConfigMap has a script that shows its content. */
export class HubReading {
  private usualRefresh = USUAL_REFRESH;
  private failure: Failure | undefined;
  /** The number of changes of each ConfigMap after which the hub last read its files. */
  private readonly readAfter = new Map<number, number>();

  constructor(
    private readonly services: Pick<Services, 'cache' | 'cluster' | 'clock'>,
    private readonly at: { readonly namespace: string; readonly name: string },
    private readonly configMaps: Pick<MountedConfigMaps, 'applied' | 'changes'>,
  ) {}

  private get applied(): Contents {
    return this.configMaps.applied;
  }

  /** The hub did not read the files, and is not asked to for a while. */
  get isLeftAlone(): boolean {
    const { lastFailure } = this;
    return lastFailure !== undefined && this.services.clock.monotonic() < lastFailure.until;
  }

  /** The content that the hub did not read is about to be replaced. */
  forgetFailure(): void {
    this.failure = undefined;
  }

  /** The hub has read all files, with a configuration that it has accepted. */
  async isRead(client: HubClient): Promise<boolean> {
    for (const [index, hash] of this.applied) if ((await this.shown(client, index)) !== hash) return false;
    return this.runsAccepted(client);
  }

  /** The hub uses a former content of a file, or may. */
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
   * Has the pod get the files and the hub read them. Scripts are loaded with that; automations and scenes are not.
   *
   * @param mend gets the words of a hub that cannot read these contents; true: others are written
   * @throws HubFailed
   */
  async untilSeen(
    client: HubClient,
    mend: (contents: Contents, words: string) => Promise<boolean>,
  ): Promise<void> {
    if (this.applied.size === 0) return;
    const seen = new Map<number, string>();
    let isIncluded = false;
    // Also a content that is written meanwhile: it has the former changes as well.
    const unseen = () =>
      [...this.applied].filter(([index, hash]) => seen.get(index) !== hash || this.isStale(index));
    // Asked each time: a hub that has started again may have other files than before.
    const look = async () => {
      for (const [index] of unseen()) {
        const shown = await this.shown(client, index);
        isIncluded ||= shown !== undefined;
        if (shown !== undefined && !this.isStale(index)) seen.set(index, shown);
      }
      return unseen().length === 0;
    };
    if (!(await look())) {
      // A hub without the includes reads nothing, however often it is reloaded.
      if (!isIncluded && !(await this.runsAccepted(client))) throw this.notRead(unseen());
      let mended: string | undefined;
      for (;;) {
        const [known, contents] = [this.lastFailure, new Map(this.applied)];
        const problem = await this.refresh(client, look);
        if (!problem) break;
        const { words = '' } = problem;
        // Words of before are about a former content, and the same words may be: a pod that is slow to get the files still has it.
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
   * @param isOver it need not any more
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

  /** Undefined: the hub has read the files. One that did not is left alone for longer and longer, unless its configuration changes. */
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
      // A large hub reads its files for seconds: the pod may have got them long before they were read again.
      const next = Math.min(SHORTER * readAt, LONGER * tooEarly);
      // A hub that could not read its files says nothing of its pod.
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
   * The ConfigMap was changed since the hub has read its files. One that has got a former content again proves nothing: the pod may have
   * the content in between.
   */
  private isStale(index: number): boolean {
    return this.configMaps.changes.get(index) !== this.readAfter.get(index);
  }

  /** A failure with another configuration counts no more. */
  private get lastFailure(): Failure | undefined {
    return this.failure?.accepted === this.acceptedHash ? this.failure : undefined;
  }

  /** Words for a script in the hub's own file that has the id of a marker script: the hub uses that one. */
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
   * Whether the hub has read the configuration that it has accepted. One that is only tried may be taken back, and with it the includes
   * of the delivered files.
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

  /** The content of a ConfigMap that the hub has read last. */
  private async shown(client: HubClient, index: number): Promise<string | undefined> {
    const variables = await scriptVariables(client, deliveryMarker(index));
    return typeof variables?.['content'] === 'string' ? variables['content'] : undefined;
  }
}
