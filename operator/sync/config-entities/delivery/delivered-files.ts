import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  CONFIG_ENTITY_KINDS,
  type ConfigEntityKind,
  type EntityPayload,
} from '../../../client/connection/config-entity';
import { HubFailed } from '../../../client/connection/errors';
import type { Child } from '../../objects/child';
import { recordedId } from '../../objects/ownership';
import { scripts } from '../script';
import { rereadScripts, scriptVariables } from '../../../client/config-entities/script-variables';
import type { HubClient } from '../../../client/hub-client';
import { Stopping } from '../../../base/errors';
import type { Hub } from '../../../kinds';
import { operatorAnnotations } from '../../../kinds/annotations';
import { deliveryMarker, MARKER_SCRIPT } from '../../../kinds/ids';
import { objectNames } from '../../../kinds/object-names';
import type { ClusterObject } from '../../../runtime/objects';
import { builtin } from '../../../runtime/types';
import { DELIVERIES, deliveredFile, deliveryMetadata } from '../../hub-workload/delivery';
import { whileRefreshing } from '../../hub-workload/refresh';
import { keepsVolume } from '../../hub-workload/retain';
import type { Services } from '../../services';
import { assign } from './assignment';
import { type Former, FORMER_FILE, formerText, readFormerText } from './former-definitions';
import { fileText, itemText, readFileText } from './item-text';
import { unreadableLines } from './unreadable-lines';

interface DeliveryConfigMap extends ClusterObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface Item {
  readonly kind: ConfigEntityKind;
  readonly id: string;
  readonly payload: EntityPayload;
  readonly text: string;
  readonly bytes: number;
  /** Number of its ConfigMap. */
  readonly index: number;
}

/** The amount of delivered definitions of a hub, for the status of its Hub. */
export interface DeliverySize {
  readonly configMaps: number;
  /** Bytes of all definitions, and of those in the fullest ConfigMap. */
  readonly bytes: number;
  readonly largestBytes: number;
}

/** Milliseconds without a further change after which changes are published, and the most that they wait in a burst. */
const QUIET_PERIOD = 200;
const LONGEST_WAIT = 8_000;

/** Milliseconds that a pod usually takes to get the files, until the first time was measured; the least and the most. */
const USUAL_REFRESH = 500;
const REFRESH_BOUNDS = [100, 2_000] as const;

/** Milliseconds in which a hub that has not read the files is not asked to: the first time, and at most. */
const PAUSES = [10_000, 300_000] as const;

/** The hub has not read the files. */
interface Failure {
  /** Hash of the configuration that it had accepted. */
  readonly accepted: string | undefined;
  /** The error of a hub that cannot read its files. */
  readonly words: string | undefined;
  readonly pause: number;
  readonly until: number;
}

type DeliveryServices = Pick<Services, 'applier' | 'cache' | 'cluster' | 'clock'>;

/**
 * The definitions of one hub that are delivered as files: the ConfigMaps that its pod mounts. They are the record of all delivered
 * ones, as `automations.yaml` is of those that its API has written: a definition stays as it was last put until it is taken out, also
 * without its resource.
 */
export class DeliveredFiles {
  private readonly items = new Map<string, Item>();
  /** What definitions replaced that the hub was not seen to use yet, by their keys. */
  private readonly formers = new Map<string, Former>();
  /** The formers in each ConfigMap as they were last written. They are no content of the hub. */
  private readonly formerTexts = new Map<number, string>();
  private loading: Promise<void> | undefined;
  /** The content of each ConfigMap in the cluster, by its hash. */
  private readonly applied = new Map<number, string>();
  /** ConfigMaps whose content has to be written, or of which it is not known whether it was. */
  private readonly changed = new Set<number>();
  /** Those of them that a definition moves to. They are written first: it is in both ConfigMaps rather than in neither. */
  private readonly receiving = new Set<number>();
  private next: Promise<void> | undefined;
  private running: Promise<void> | undefined;
  private lastWrite: Promise<unknown> = Promise.resolve();
  private usualRefresh = USUAL_REFRESH;
  private failure: Failure | undefined;
  /** The ConfigMaps are empty and about to go: they have no marker scripts. */
  private isEnding = false;
  /** Texts of definitions with which the hub could not read its files, and its words. */
  private readonly unreadable = new Map<string, { readonly text: string; readonly words: string }>();

  /** @param isExpecting whether more changes will come soon: one publication is enough for a burst */
  constructor(
    private readonly services: DeliveryServices,
    private readonly at: { readonly namespace: string; readonly name: string },
    private readonly isExpecting: () => boolean,
  ) {}

  /** Reads the ConfigMaps, once. */
  load(): Promise<void> {
    this.loading ??= this.readAll().catch((error: unknown) => {
      this.loading = undefined;
      throw error;
    });
    return this.loading;
  }

  get isEmpty(): boolean {
    return this.items.size === 0;
  }

  /** The cluster has ConfigMaps of this hub. */
  get exists(): boolean {
    return this.applied.size > 0;
  }

  /** The cluster may not have the latest changes yet: they are not published, or a write has failed. */
  get isBehind(): boolean {
    return this.changed.size > 0;
  }

  get isBusy(): boolean {
    return this.next !== undefined || this.running !== undefined;
  }

  get size(): DeliverySize {
    const sizes = this.sizes();
    return {
      configMaps: this.applied.size,
      bytes: sizes.reduce((sum, each) => sum + each, 0),
      largestBytes: Math.max(...sizes),
    };
  }

  get(kind: ConfigEntityKind, id: string): EntityPayload | undefined {
    return this.items.get(itemKey(kind, id))?.payload;
  }

  /** The words of the hub about this definition, with which it could not read a file; undefined: nothing is known against it. */
  whyUnreadable(kind: ConfigEntityKind, id: string, payload: EntityPayload): string | undefined {
    const known = this.unreadable.get(itemKey(kind, id));
    return known?.text === itemText(kind, id, payload) ? known.words : undefined;
  }

  /** The hub did not read the files, and is not asked to for a while. */
  get isLeftAlone(): boolean {
    const { lastFailure } = this;
    return lastFailure !== undefined && this.services.clock.monotonic() < lastFailure.until;
  }

  /** Whether there is room for this definition in the place of a former one with its id. */
  hasRoom(kind: ConfigEntityKind, id: string, payload: EntityPayload): boolean {
    return this.placed(kind, id, payload) !== undefined;
  }

  /** What a definition replaced that the hub was not seen to use yet; undefined: nothing, or it is used. */
  formerOf(kind: ConfigEntityKind, id: string): Former | undefined {
    return this.formers.get(itemKey(kind, id));
  }

  /**
   * The hub uses the definition: the former one is needed no more, and the next write of the ConfigMap leaves it out.
   *
   * @param hash of the definition
   * @returns whether that is to be published: a next process would take the former one for a definition that the hub has used since
   */
  confirm(kind: ConfigEntityKind, id: string, hash: string): boolean {
    const key = itemKey(kind, id);
    const [item, former] = [this.items.get(key), this.formers.get(key)];
    this.formers.delete(key);
    if (!item || former?.accepted !== hash) return false;
    this.changed.add(item.index);
    return true;
  }

  /** What a definition replaced stays known with this `status.appliedHash`. Whether that is to be published. */
  keepFormer(kind: ConfigEntityKind, id: string, accepted: string): boolean {
    const key = itemKey(kind, id);
    const [item, former] = [this.items.get(key), this.formers.get(key)];
    if (!item || !former || former.accepted === accepted) return false;
    this.formers.set(key, { ...former, accepted });
    this.changed.add(item.index);
    return true;
  }

  /**
   * The definition is delivered by the next {@link publish}.
   *
   * @param former the replaced definition, written together with this one
   * @throws HubFailed there is no room
   */
  put(kind: ConfigEntityKind, id: string, payload: EntityPayload, former?: Former): void {
    const before = this.items.get(itemKey(kind, id));
    const item = this.placed(kind, id, payload);
    if (!item) throw new HubFailed('the ConfigMaps have no room for it');
    this.unreadable.delete(itemKey(kind, id));
    if (former) this.formers.set(itemKey(kind, id), former);
    else this.formers.delete(itemKey(kind, id));
    if (before?.text === item.text) return;
    this.items.set(itemKey(kind, id), item);
    this.changed.add(item.index);
    if (!before || before.index === item.index) return;
    this.changed.add(before.index);
    this.receiving.add(item.index);
  }

  /** The definition is taken out by the next {@link publish}. */
  take(kind: ConfigEntityKind, id: string): void {
    const before = this.items.get(itemKey(kind, id));
    if (!before) return;
    this.items.delete(itemKey(kind, id));
    this.formers.delete(itemKey(kind, id));
    this.unreadable.delete(itemKey(kind, id));
    this.changed.add(before.index);
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
      if (!(error instanceof HubFailed)) throw error;
      for (const [index, hash] of this.applied) {
        const shown = await this.shown(client, index);
        const isHidden = shown === undefined && (await client.entities.read('script', deliveryMarker(index)));
        if (isHidden || (shown !== undefined && shown !== hash)) throw error;
      }
    }
  }

  /** Resolves when nothing is being published. */
  async waitUntilIdle(): Promise<void> {
    while (this.isBusy) await (this.next ?? this.running)?.catch(() => undefined);
  }

  /** Writes ConfigMaps again that someone has changed or deleted, also while the hub is waited for, and those whose write has failed. */
  async restore(hub: Hub): Promise<void> {
    await this.load();
    for (const index of this.indices) await this.apply(hub, index, () => this.indices.includes(index));
  }

  /** Deletes the ConfigMaps when nothing is delivered any more, and what they have left in the hub. Meanwhile nothing is published. */
  async removeAll(hub: Hub, client: HubClient): Promise<void> {
    await this.load();
    if (!this.isEmpty || this.isBusy || this.indices.length === 0 || this.isLeftAlone) return;
    await this.runAlone(this.removeEmpty(hub, client));
  }

  /**
   * The hub has to read files without the marker scripts before the ConfigMaps go: these are all that a next process of the operator
   * knows of the markers, whose entities would stay in the hub's registry otherwise.
   */
  private async removeEmpty(hub: Hub, client: HubClient): Promise<void> {
    const { indices } = this;
    this.isEnding = true;
    try {
      for (const index of indices) await this.apply(hub, index, () => this.isEmpty);
      const isGone = async () => {
        const shown = await Promise.all(indices.map((index) => this.shown(client, index)));
        return shown.every((hash) => hash === undefined);
      };
      const problem = await this.refresh(client, async () => !this.isEmpty || (await isGone()));
      if (problem) throw this.notRead([...this.applied], problem.words);
      for (const index of indices) {
        if (!this.isEmpty) return; // they are needed again
        await client.entities.removeRegistration('script', deliveryMarker(index));
      }
      for (const index of indices) await this.inTurn(() => this.removeOne(hub, index));
    } finally {
      this.isEnding = false;
      for (const index of this.applied.keys()) this.changed.add(index); // with its marker
    }
  }

  private async removeOne(hub: Hub, index: number): Promise<void> {
    if (!this.isEmpty) return;
    this.changed.delete(index); // before the request: what is put meanwhile has to be written
    await this.services.applier.remove(builtin.ConfigMap, hub, objectNames(this.at.name).delivery(index));
    this.applied.delete(index);
    this.formerTexts.delete(index);
  }

  private async runAlone(work: Promise<void>): Promise<void> {
    this.running = work;
    try {
      await work;
    } finally {
      if (this.running === work) this.running = undefined;
    }
  }

  private async readAll(): Promise<void> {
    const known = DELIVERIES.filter((index) => deliveryMetadata(this.services, this.at, index) !== undefined);
    if (known.length === 0) return;
    const { applier, cache } = this.services;
    const hub = cache.get<Hub>('Hub', this.at.namespace, this.at.name);
    if (!hub) throw new Stopping('the Hub was deleted meanwhile');
    const read = new Map<number, DeliveryConfigMap['data']>();
    for (const index of known) {
      const metadata = deliveryMetadata(this.services, this.at, index);
      if (!metadata || !applier.isOurs(metadata, hub)) continue;
      const found = await this.find(index);
      if (!found) continue;
      read.set(index, found.data);
      const formers = found.data?.[FORMER_FILE];
      if (formers !== undefined) this.formerTexts.set(index, formers);
      for (const [key, former] of readFormerText(formers)) this.formers.set(key, former);
      this.applied.set(index, hashOf(found));
      for (const kind of CONFIG_ENTITY_KINDS) {
        for (const [id, payload] of readFileText(kind, found.data?.[deliveredFile(kind)] ?? '')) {
          // A crash while a definition moved may have left it in two: the second one is written without it.
          if ((kind === 'script' && id === deliveryMarker(index)) || this.items.has(itemKey(kind, id)))
            continue;
          this.items.set(itemKey(kind, id), this.itemOf(kind, id, payload, index));
        }
      }
    }
    for (const [index, data] of read)
      if (!isDeepStrictEqual(this.content(index).data, data)) this.changed.add(index);
  }

  private find(index: number): Promise<DeliveryConfigMap | undefined> {
    const { namespace, name } = this.at;
    return this.services.applier.find(builtin.ConfigMap, namespace, objectNames(name).delivery(index));
  }

  private placed(kind: ConfigEntityKind, id: string, payload: EntityPayload): Item | undefined {
    const current = this.items.get(itemKey(kind, id));
    const sizes = this.sizes();
    const item = this.itemOf(kind, id, payload, 0);
    if (current) sizes[current.index]! -= current.bytes;
    const index = assign(item.bytes, current?.index, sizes);
    return index === undefined ? undefined : { ...item, index };
  }

  private itemOf(kind: ConfigEntityKind, id: string, payload: EntityPayload, index: number): Item {
    const text = itemText(kind, id, payload);
    return { kind, id, payload, text, bytes: Buffer.byteLength(text) + 2, index };
  }

  private sizes(): number[] {
    const sizes = DELIVERIES.map(() => 0);
    for (const { index, bytes } of this.items.values()) sizes[index]! += bytes;
    return sizes;
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
    const { cache } = this.services;
    const hub = cache.get<Hub>('Hub', this.at.namespace, this.at.name);
    if (!hub) throw new Stopping('the Hub was deleted meanwhile');
    client.rest.assertOpen();
    await this.applyChanged(hub);
    await this.untilSeen(hub, client);
  }

  private async applyChanged(hub: Hub): Promise<void> {
    await this.lastWrite; // of a restoration: one that fails leaves its changes to this one
    for (const index of [...this.changed]) await this.apply(hub, index, () => this.changed.has(index));
  }

  private renewFormers(index: number): void {
    const keys = [...this.formers.keys()].filter((key) => this.items.get(key)?.index === index);
    const text = formerText(
      keys.map((key) => [key, this.formers.get(key)!]),
      this.sizes()[index]!,
    );
    if (text === undefined) this.formerTexts.delete(index);
    else this.formerTexts.set(index, text);
  }

  /** Numbers of the ConfigMaps that the cluster has or may have. */
  private get indices(): readonly number[] {
    return [...new Set([...this.changed, ...this.applied.keys()])];
  }

  /** Writes a ConfigMap in its turn, if that is still needed then. One whose write fails is still to be written. */
  private apply(hub: Hub, index: number, isNeeded: () => boolean): Promise<void> {
    return this.inTurn(async () => {
      if (!isNeeded()) return;
      for (const each of this.receiving) await this.writeOne(hub, each);
      await this.writeOne(hub, index);
    });
  }

  private async writeOne(hub: Hub, index: number): Promise<void> {
    if (this.changed.has(index)) this.renewFormers(index);
    const isReceiving = this.receiving.delete(index);
    this.changed.delete(index);
    try {
      await this.write(hub, index);
    } catch (error) {
      this.changed.add(index);
      if (isReceiving) this.receiving.add(index);
      throw error;
    }
  }

  /** An older content never replaces a newer one. */
  private inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.lastWrite.then(work);
    this.lastWrite = done.catch(() => undefined);
    return done;
  }

  private async write(hub: Hub, index: number): Promise<void> {
    const { data, hash } = this.content(index);
    const { namespace, name } = this.at;
    await this.services.applier.apply(
      builtin.ConfigMap,
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: objectNames(name).delivery(index),
          namespace,
          annotations: { [operatorAnnotations.contentHash]: hash },
        },
        data,
      },
      // Kept with the volume. A deletion in the foreground asks no finalizer.
      { owner: hub, ownerReference: !keepsVolume(this.services, hub) },
    );
    this.applied.set(index, hash);
  }

  /** In the order of the ids: equal contents are equal files, also after a restart of the operator. */
  private content(index: number): { readonly data: Record<string, string>; readonly hash: string } {
    const mine = [...this.items.values()]
      .filter((item) => item.index === index)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    const linesOf = (kind: ConfigEntityKind) =>
      mine.filter((item) => item.kind === kind).map(({ text }) => text);
    const sum = createHash('sha256');
    for (const kind of CONFIG_ENTITY_KINDS) sum.update(fileText(kind, linesOf(kind)));
    const hash = `sha256:${sum.digest('hex')}`;
    const isEnding = this.isEnding && this.isEmpty;
    const marker = itemText('script', deliveryMarker(index), { sequence: [], variables: { content: hash } });
    const data = Object.fromEntries(
      CONFIG_ENTITY_KINDS.map((kind) => [
        deliveredFile(kind),
        fileText(kind, [...(kind === 'script' && !isEnding ? [marker] : []), ...linesOf(kind)]),
      ]),
    );
    const formers = this.formerTexts.get(index);
    return { data: { ...data, ...(formers !== undefined && { [FORMER_FILE]: formers }) }, hash };
  }

  /** The hub has read all files, with a configuration that it has accepted. */
  async isRead(client: HubClient): Promise<boolean> {
    for (const [index, hash] of this.applied) if ((await this.shown(client, index)) !== hash) return false;
    return this.runsAccepted(client);
  }

  /** Has the pod get the files and the hub read them. Scripts are loaded with that; automations and scenes are not. */
  private async untilSeen(hub: Hub, client: HubClient): Promise<void> {
    if (this.applied.size === 0) return;
    const seen = new Map<number, string>();
    // Also a content that is written meanwhile: it has the former changes as well.
    const unseen = () => [...this.applied].filter(([index, hash]) => seen.get(index) !== hash);
    // Asked each time: a hub that has started again may have other files than before.
    const look = async () => {
      for (const [index] of unseen()) {
        const shown = await this.shown(client, index);
        if (shown !== undefined) seen.set(index, shown);
      }
      return unseen().length === 0;
    };
    if (!(await look())) {
      // A hub without the includes reads nothing, however often it is reloaded.
      if (seen.size === 0 && !(await this.runsAccepted(client))) throw this.notRead(unseen());
      for (;;) {
        const [known, contents] = [this.lastFailure, new Map(this.applied)];
        const problem = await this.refresh(client, look);
        if (!problem) break;
        // Words of before are about a former content.
        if (problem === known || !(await this.takeBackUnreadable(contents, problem.words)))
          throw this.notRead(unseen(), problem.words ?? (await this.hiddenMarker(client, unseen())));
        await this.applyChanged(hub);
      }
    }
    if (!(await this.runsAccepted(client))) throw this.notRead([...this.applied]);
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
    const isSeen = await whileRefreshing(this.services, this.at, async (elapsed) => {
      if (elapsed() < this.usualRefresh) await clock.sleep(this.usualRefresh - elapsed());
      const readAt = elapsed();
      words = (await rereadScripts(client))?.message;
      if (words !== undefined || !(await look())) return undefined;
      this.usualRefresh = Math.min(Math.max(REFRESH_BOUNDS[0], 0.8 * readAt), REFRESH_BOUNDS[1]);
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

  /** A failure with another configuration counts no more. */
  private get lastFailure(): Failure | undefined {
    return this.failure?.accepted === this.acceptedHash ? this.failure : undefined;
  }

  /**
   * The hub names definitions where it cannot read a file. Their former ones take their place again: one definition would keep all others
   * out, and the hub from starting. False: none is named, or its former one is not known.
   *
   * @param contents hashes of the contents that the words are about: with another one, the line has another definition
   */
  private async takeBackUnreadable(contents: ReadonlyMap<number, string>, words = ''): Promise<boolean> {
    const files = new Map<number, DeliveryConfigMap['data']>();
    for (const [index, hash] of contents) {
      const found = await this.find(index);
      if (found && hashOf(found) === hash) files.set(index, found.data);
    }
    const lines = unreadableLines(words, (kind, index) => files.get(index)?.[deliveredFile(kind)]);
    const named = [...this.items].filter(([, { kind, index, text }]) =>
      lines.some((line) => line.kind === kind && line.index === index && line.text === text),
    );
    let isTaken = false;
    for (const [key, { kind, id, text }] of named) {
      const former = this.formers.get(key);
      if (!former) continue;
      if (former.definition) this.put(kind, id, former.definition);
      else this.take(kind, id);
      this.unreadable.set(key, { text, words });
      isTaken = true;
    }
    if (isTaken) this.failure = undefined; // of the former content
    return isTaken;
  }

  /** Words for a script in the hub's own file that has the id of a marker script: the hub uses that one. */
  private async hiddenMarker(
    client: HubClient,
    unread: readonly (readonly [index: number, hash: string])[],
  ): Promise<string | undefined> {
    for (const [index] of unread) {
      const id = deliveryMarker(index);
      if (!(await client.entities.read('script', id))) continue;
      const { namespace, name } = this.at;
      const owner = [...this.services.cache.ofHub<Child>('HubScript', namespace, name)].find(
        (each) => recordedId(scripts, each) === id,
      );
      const which = owner ? `the script of the HubScript ${owner.metadata.name}` : 'a script of its own';
      return (
        `${which} has the id ${id}, and hides the script of the operator that shows what the hub has read. ` +
        'Delete it, and make it again with another id.'
      );
    }
    return undefined;
  }

  private notRead(
    unread: readonly (readonly [index: number, hash: string])[],
    words = 'its pod has not got them, or the configuration that it has accepted does not include them (see the HubConfiguration)',
  ): HubFailed {
    const names = unread.map(([index]) => objectNames(this.at.name).delivery(index));
    return new HubFailed(`the hub has not read the ConfigMaps ${names.join(', ')} yet: ${words}`);
  }

  /**
   * Whether the hub has read the configuration that it has accepted. One that is only tried may be taken back, and with it the includes
   * of the delivered files.
   */
  private async runsAccepted(client: HubClient): Promise<boolean> {
    const hash = this.acceptedHash;
    const shown = (await scriptVariables(client, MARKER_SCRIPT))?.['configuration'];
    return hash !== undefined && shown === hash;
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

const hashOf = ({ metadata }: DeliveryConfigMap): string =>
  metadata.annotations?.[operatorAnnotations.contentHash] ?? '';

/** Also the key of what a definition replaced, in its ConfigMap. */
const itemKey = (kind: ConfigEntityKind, id: string): string => `${kind} ${id}`;
