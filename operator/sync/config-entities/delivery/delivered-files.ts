import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  CONFIG_ENTITY_KINDS,
  type ConfigEntityKind,
  type EntityPayload,
} from '../../../client/connection/config-entity';
import { HubFailed } from '../../../client/connection/errors';
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
import type { Services } from '../../services';
import { assign } from './assignment';
import { type Former, FORMER_FILE, formerText, readFormerText } from './former-definitions';
import { fileText, itemText, readFileText } from './item-text';

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

type DeliveryServices = Pick<Services, 'applier' | 'cache' | 'cluster' | 'clock'>;

/**
 * The definitions of one hub that are delivered as files: the ConfigMaps that its pod mounts. They are the record of all delivered
 * ones, as `automations.yaml` is of those that its API has written: a definition stays as it was last put until it is taken out, also
 * without its resource.
 */
export class DeliveredFiles {
  private items = new Map<string, Item>();
  /** What definitions replaced that the hub was not seen to use yet, by their keys. */
  private formers = new Map<string, Former>();
  /** The formers in each ConfigMap as they were last written. They are no content of the hub. */
  private readonly formerTexts = new Map<number, string>();
  private loading: Promise<void> | undefined;
  /** The content of each ConfigMap in the cluster, by its hash. */
  private readonly applied = new Map<number, string>();
  /** ConfigMaps whose content has to be written. */
  private readonly changed = new Set<number>();
  /** The content of each that the hub was seen to have read, by its hash. */
  private readonly seen = new Map<number, string>();
  private next: Promise<void> | undefined;
  private running: Promise<void> | undefined;
  private usualRefresh = USUAL_REFRESH;

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

  /** Whether there is room for this definition in the place of a former one with its id. */
  hasRoom(kind: ConfigEntityKind, id: string, payload: EntityPayload): boolean {
    return this.placed(kind, id, payload) !== undefined;
  }

  /** What a definition replaced that the hub was not seen to use yet; undefined: nothing, or it is used. */
  formerOf(kind: ConfigEntityKind, id: string): Former | undefined {
    return this.formers.get(itemKey(kind, id));
  }

  /** The hub uses the definition: the former one is needed no more, and the next write of the ConfigMap leaves it out. */
  confirm(kind: ConfigEntityKind, id: string): void {
    this.formers.delete(itemKey(kind, id));
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
    if (former) this.formers.set(itemKey(kind, id), former);
    else this.formers.delete(itemKey(kind, id));
    if (before?.text === item.text) return;
    this.items.set(itemKey(kind, id), item);
    this.changed.add(item.index);
    if (before) this.changed.add(before.index);
  }

  /** The definition is taken out by the next {@link publish}. */
  take(kind: ConfigEntityKind, id: string): void {
    const before = this.items.get(itemKey(kind, id));
    if (!before) return;
    this.items.delete(itemKey(kind, id));
    this.formers.delete(itemKey(kind, id));
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

  /** Resolves when nothing is being published. */
  async waitUntilIdle(): Promise<void> {
    while (this.isBusy) await (this.next ?? this.running)?.catch(() => undefined);
  }

  /** Writes ConfigMaps again that someone has changed or deleted. */
  async restore(hub: Hub): Promise<void> {
    await this.load();
    if (this.isBusy) return;
    for (const index of [...this.applied.keys()]) await this.apply(hub, index);
  }

  /** Deletes the ConfigMaps when nothing is delivered any more, and what they have left in the hub. Meanwhile nothing is published. */
  async removeAll(hub: Hub, client: HubClient): Promise<void> {
    await this.load();
    if (!this.isEmpty || this.isBusy || this.applied.size === 0) return;
    await this.runAlone(this.removeEmpty(hub, client));
  }

  private async removeEmpty(hub: Hub, client: HubClient): Promise<void> {
    const indices = [...this.applied.keys()];
    const { applier, clock } = this.services;
    for (const index of indices) {
      await applier.remove(builtin.ConfigMap, hub, objectNames(this.at.name).delivery(index));
      this.applied.delete(index);
      this.seen.delete(index);
      this.formerTexts.delete(index);
    }
    await whileRefreshing(this.services, this.at, async () => {
      if (!this.isEmpty) return true; // they are made again
      await clock.sleep(this.usualRefresh);
      const error = await rereadScripts(client);
      const shown = await Promise.all(indices.map((index) => this.shown(client, index)));
      return error || shown.some((hash) => hash !== undefined) ? undefined : true;
    });
    if (!this.isEmpty) return;
    for (const index of indices) await client.entities.removeRegistration('script', deliveryMarker(index));
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
      const name = objectNames(this.at.name).delivery(index);
      const found = await applier.find<DeliveryConfigMap>(builtin.ConfigMap, this.at.namespace, name);
      if (!found) continue;
      read.set(index, found.data);
      const formers = found.data?.[FORMER_FILE];
      if (formers !== undefined) this.formerTexts.set(index, formers);
      for (const [key, former] of readFormerText(formers)) this.formers.set(key, former);
      this.applied.set(index, found.metadata.annotations?.[operatorAnnotations.contentHash] ?? '');
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
    const indices = [...this.changed];
    try {
      for (const index of indices) {
        this.changed.delete(index);
        this.renewFormers(index);
        await this.apply(hub, index);
      }
    } catch (error) {
      // The content of the cluster counts: it is read again.
      this.forget();
      throw error;
    }
    await this.untilSeen(client);
  }

  private forget(): void {
    this.items = new Map();
    this.formers = new Map();
    this.formerTexts.clear();
    this.applied.clear();
    this.changed.clear();
    this.loading = undefined;
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

  private async apply(hub: Hub, index: number): Promise<void> {
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
      { owner: hub },
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
    const marker = itemText('script', deliveryMarker(index), { sequence: [], variables: { content: hash } });
    const data = Object.fromEntries(
      CONFIG_ENTITY_KINDS.map((kind) => [
        deliveredFile(kind),
        fileText(kind, [...(kind === 'script' ? [marker] : []), ...linesOf(kind)]),
      ]),
    );
    const formers = this.formerTexts.get(index);
    return { data: { ...data, ...(formers !== undefined && { [FORMER_FILE]: formers }) }, hash };
  }

  /** Has the pod get the files and the hub read them. Scripts are loaded with that; automations and scenes are not. */
  private async untilSeen(client: HubClient): Promise<void> {
    const expected = new Map(this.applied);
    const unseen = () => [...expected].filter(([index, hash]) => this.seen.get(index) !== hash);
    if (unseen().length === 0) return;
    // By this process, or by the one before it.
    const look = async () => {
      if (!(await this.runsAccepted(client))) return false;
      for (const [index] of unseen()) {
        const shown = await this.shown(client, index);
        if (shown !== undefined) this.seen.set(index, shown);
      }
      return unseen().length === 0;
    };
    if (await look()) return;
    const { clock } = this.services;
    let problem: string | undefined;
    const isSeen = await whileRefreshing(this.services, this.at, async (elapsed) => {
      if (elapsed() < this.usualRefresh) await clock.sleep(this.usualRefresh - elapsed());
      const readAt = elapsed();
      problem = (await rereadScripts(client))?.message;
      if (problem !== undefined || !(await look())) return undefined;
      this.usualRefresh = Math.min(Math.max(REFRESH_BOUNDS[0], 0.8 * readAt), REFRESH_BOUNDS[1]);
      return true;
    });
    if (isSeen) return;
    const names = unseen().map(([index]) => objectNames(this.at.name).delivery(index));
    const why =
      problem ??
      'its pod has not got them, or the configuration that it has accepted does not include them (see the HubConfiguration)';
    throw new HubFailed(`the hub has not read the ConfigMaps ${names.join(', ')} yet: ${why}`);
  }

  /**
   * Whether the hub has read the configuration that it has accepted. One that is only tried may be taken back, and with it the includes
   * of the delivered files.
   */
  private async runsAccepted(client: HubClient): Promise<boolean> {
    const { namespace, name } = this.at;
    const { acceptedConfiguration } = objectNames(name);
    const { kind } = builtin.ConfigMap;
    const accepted = this.services.cache.get<ClusterObject>(kind, namespace, acceptedConfiguration);
    const hash = accepted?.metadata.annotations?.[operatorAnnotations.contentHash];
    const shown = (await scriptVariables(client, MARKER_SCRIPT))?.['configuration'];
    return hash !== undefined && shown === hash;
  }

  /** The content of a ConfigMap that the hub has read last. */
  private async shown(client: HubClient, index: number): Promise<string | undefined> {
    const variables = await scriptVariables(client, deliveryMarker(index));
    return typeof variables?.['content'] === 'string' ? variables['content'] : undefined;
  }
}

/** Also the key of what a definition replaced, in its ConfigMap. */
const itemKey = (kind: ConfigEntityKind, id: string): string => `${kind} ${id}`;
