import { createHash } from 'node:crypto';
import {
  CONFIG_ENTITY_KINDS,
  type ConfigEntityKind,
  type EntityPayload,
} from '../../../client/connection/config-entity';
import { HubFailed } from '../../../client/connection/errors';
import { deliveryMarker } from '../../../kinds/ids';
import { DELIVERIES, deliveredFile } from '../../hub-pod/delivery';
import { assign } from './assignment';
import {
  CLAIM_FILE,
  type Former,
  FORMER_FILE,
  formerText,
  readClaimText,
  readFormerText,
} from './former-definitions';
import { fileText, itemText, readFileText } from './item-text';
import type { UnreadableLine } from './unreadable-lines';

interface Item {
  readonly kind: ConfigEntityKind;
  readonly id: string;
  readonly payload: EntityPayload;
  readonly text: string;
  readonly bytes: number;
  /** Index of the definition's ConfigMap. */
  readonly index: number;
}

/** The data of a ConfigMap. */
export type DeliveryData = Readonly<Record<string, string>>;

/**
 * The definitions of one hub that are delivered as files, with the ConfigMap of each. A definition stays
 * until it is taken out, even if its resource is gone.
 */
export class MountedDefinitions {
  /** ConfigMaps that have to be written, or whose last write may have failed. */
  readonly changed = new Set<number>();
  /**
   * Changed ConfigMaps to which a definition moves. They are written first, so that the definition is
   * temporarily in both ConfigMaps, never in neither.
   */
  readonly receiving = new Set<number>();
  private readonly items = new Map<string, Item>();
  /** Bytes of the definitions in each ConfigMap. */
  private readonly bytes: number[] = DELIVERIES.map(() => 0);
  /** The replaced definitions, by the keys of new definitions that the hub has not been seen to use yet. */
  private readonly formers = new Map<string, Former>();
  /** Keys of the definitions that no status is known to record yet, by the uids of their resources. */
  private readonly claims = new Map<string, string>();
  /** The former definitions and claims in each ConfigMap, as last written. They are not read by the hub. */
  private readonly besides = new Map<number, DeliveryData>();
  /** Texts of definitions with which the hub could not read its files, and the hub's error. */
  private readonly unreadable = new Map<string, { readonly text: string; readonly words: string }>();

  get isEmpty(): boolean {
    return this.items.size === 0;
  }

  /** Forgets all definitions, since the hub has another volume. */
  clear(): void {
    const { changed, receiving, items, formers, claims, besides: kept, unreadable } = this;
    for (const each of [changed, receiving, items, formers, claims, kept, unreadable]) each.clear();
    this.bytes.fill(0);
  }

  get(kind: ConfigEntityKind, id: string): EntityPayload | undefined {
    return this.items.get(itemKey(kind, id))?.payload;
  }

  isClaimed(kind: ConfigEntityKind, id: string): boolean {
    const claimed = itemKey(kind, id);
    for (const key of this.claims.values()) if (key === claimed) return true;
    return false;
  }

  /**
   * The id of the definition that the resource with this uid claims.
   *
   * @returns undefined when it claims none
   */
  claimOf(kind: ConfigEntityKind, uid: string): string | undefined {
    const [key, prefix] = [this.claims.get(uid), itemKey(kind, '')];
    return key?.startsWith(prefix) ? key.slice(prefix.length) : undefined;
  }

  /**
   * Adds a claim to the next write of the ConfigMap, for a resource whose status does not record the
   * definition.
   */
  claim(kind: ConfigEntityKind, id: string, uid: string): void {
    this.claims.set(uid, itemKey(kind, id));
  }

  /** Removes the claim of a resource from the next write of the ConfigMap. */
  unclaim(uid: string): void {
    this.claims.delete(uid);
  }

  /** Bytes of the definitions in each ConfigMap. */
  sizes(): number[] {
    return [...this.bytes];
  }

  /**
   * The error of the hub if it could not read a file because of this definition. It is returned only once, so
   * that the definition can be tried again.
   *
   * @returns undefined when no such error is known
   */
  whyUnreadable(kind: ConfigEntityKind, id: string, payload: EntityPayload): string | undefined {
    const known = this.unreadable.get(itemKey(kind, id));
    this.unreadable.delete(itemKey(kind, id));
    return known?.text === itemText(kind, id, payload) ? known.words : undefined;
  }

  /** Reports whether there is room for this definition, in place of a former one with its id. */
  hasRoom(kind: ConfigEntityKind, id: string, payload: EntityPayload): boolean {
    return this.placed(kind, id, payload) !== undefined;
  }

  /**
   * The definition that another one replaced.
   *
   * @returns undefined when nothing was replaced, or the hub has been seen to use the new definition
   */
  formerOf(kind: ConfigEntityKind, id: string): Former | undefined {
    return this.formers.get(itemKey(kind, id));
  }

  /**
   * Records that the hub uses the definition. The replaced one is no longer needed, and the next write of the
   * ConfigMap omits it.
   *
   * @param hash hash of the definition
   * @returns whether this has to be published, since a later process would otherwise restore the replaced
   * definition although the hub has used the new one
   */
  confirm(kind: ConfigEntityKind, id: string, hash: string): boolean {
    const key = itemKey(kind, id);
    const [item, former] = [this.items.get(key), this.formers.get(key)];
    this.formers.delete(key);
    if (!item || former?.accepted !== hash) return false;
    this.changed.add(item.index);
    return true;
  }

  /**
   * Keeps the replaced definition after `status.appliedHash` has changed to this value.
   *
   * @returns whether this has to be published
   */
  keepFormer(kind: ConfigEntityKind, id: string, accepted: string): boolean {
    const key = itemKey(kind, id);
    const [item, former] = [this.items.get(key), this.formers.get(key)];
    if (!item || !former || former.accepted === accepted) return false;
    this.formers.set(key, { ...former, accepted });
    this.changed.add(item.index);
    return true;
  }

  /**
   * Adds a definition, which the next publication delivers.
   *
   * @param former the replaced definition, written together with the new one
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
    this.setItem(item);
    this.changed.add(item.index);
    if (!before || before.index === item.index) return;
    this.changed.add(before.index);
    this.receiving.add(item.index);
  }

  /** Takes out a definition with the next publication. */
  take(kind: ConfigEntityKind, id: string): void {
    const key = itemKey(kind, id);
    const before = this.items.get(key);
    if (!before) return;
    this.items.delete(key);
    this.bytes[before.index]! -= before.bytes;
    this.formers.delete(key);
    this.unreadable.delete(key);
    for (const [uid, claimed] of this.claims) if (claimed === key) this.claims.delete(uid);
    this.changed.add(before.index);
  }

  /**
   * Restores the former definitions in place of those that the hub cannot read.
   *
   * @param words error of the hub
   * @returns false when there are none, or their former definitions are not known
   */
  takeBack(lines: readonly UnreadableLine[], words: string): boolean {
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
    return isTaken;
  }

  /** Reads the data of a ConfigMap that was written before. */
  read(index: number, data: DeliveryData | undefined): void {
    const { [FORMER_FILE]: formers, [CLAIM_FILE]: claims } = data ?? {};
    this.besides.set(index, besides(formers, claims));
    for (const [key, former] of readFormerText(formers)) this.formers.set(key, former);
    for (const kind of CONFIG_ENTITY_KINDS) {
      for (const [id, payload] of readFileText(kind, data?.[deliveredFile(kind)] ?? '')) {
        // After a crash during a move, a definition may be in two ConfigMaps. The second one is written
        // without it.
        if ((kind === 'script' && id === deliveryMarker(index)) || this.items.has(itemKey(kind, id)))
          continue;
        this.setItem(itemOf(kind, id, payload, index));
      }
    }
    for (const [uid, key] of readClaimText(claims)) if (this.items.has(key)) this.claims.set(uid, key);
  }

  /**
   * Updates the former definitions and claims that the next {@link content} of the ConfigMap contains. Claims
   * have precedence if there is not enough room, since without its claim a new definition may belong to no
   * resource.
   */
  renewBesides(index: number): void {
    const isHere = (key: string) => this.items.get(key)?.index === index;
    const size = this.bytes[index]!;
    const claims = formerText(
      [...this.claims].filter(([, key]) => isHere(key)),
      size,
    );
    const formers = formerText(
      [...this.formers].filter(([key]) => isHere(key)),
      size + Buffer.byteLength(claims ?? ''),
    );
    this.besides.set(index, besides(formers, claims));
  }

  /**
   * The data of a ConfigMap. Definitions are sorted by id, so that equal contents have equal files, also
   * after a restart of the operator.
   */
  content(index: number, isMarked = true): { readonly data: DeliveryData; readonly hash: string } {
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
        fileText(kind, [...(kind === 'script' && isMarked ? [marker] : []), ...linesOf(kind)]),
      ]),
    );
    return { data: { ...data, ...this.besides.get(index) }, hash };
  }

  private setItem(item: Item): void {
    const key = itemKey(item.kind, item.id);
    const before = this.items.get(key);
    if (before) this.bytes[before.index]! -= before.bytes;
    this.bytes[item.index]! += item.bytes;
    this.items.set(key, item);
  }

  private placed(kind: ConfigEntityKind, id: string, payload: EntityPayload): Item | undefined {
    const current = this.items.get(itemKey(kind, id));
    const sizes = this.sizes();
    const item = itemOf(kind, id, payload, 0);
    if (current) sizes[current.index]! -= current.bytes;
    const index = assign(item.bytes, current?.index, sizes);
    return index === undefined ? undefined : { ...item, index };
  }
}

const besides = (formers: string | undefined, claims: string | undefined): DeliveryData => ({
  ...(formers !== undefined && { [FORMER_FILE]: formers }),
  ...(claims !== undefined && { [CLAIM_FILE]: claims }),
});

/** The key of a definition, also for the definition that it replaced. */
const itemKey = (kind: ConfigEntityKind, id: string): string => `${kind} ${id}`;

function itemOf(kind: ConfigEntityKind, id: string, payload: EntityPayload, index: number): Item {
  const text = itemText(kind, id, payload);
  return { kind, id, payload, text, bytes: Buffer.byteLength(text) + 2, index };
}
