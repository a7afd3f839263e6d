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
  /** Number of its ConfigMap. */
  readonly index: number;
}

/** The content of a ConfigMap. */
export type DeliveryData = Readonly<Record<string, string>>;

/**
 * The definitions of one hub that are delivered as files, and the ConfigMap of each. A definition stays as it was last put until it is
 * taken out, also without its resource.
 */
export class MountedDefinitions {
  /** ConfigMaps whose content has to be written, or of which it is not known whether it was. */
  readonly changed = new Set<number>();
  /** Changed ones that a definition moves to, which are written first: it is in both ConfigMaps rather than in neither. */
  readonly receiving = new Set<number>();
  private readonly items = new Map<string, Item>();
  /** Bytes of the definitions in each ConfigMap. */
  private readonly bytes: number[] = DELIVERIES.map(() => 0);
  /** What definitions replaced that the hub was not seen to use yet, by their keys. */
  private readonly formers = new Map<string, Former>();
  /** Keys of the definitions that no status is known to record yet, by the uids of their resources. */
  private readonly claims = new Map<string, string>();
  /** The formers and the claims in each ConfigMap as they were last written. They are no content of the hub. */
  private readonly besides = new Map<number, DeliveryData>();
  /** Texts of definitions with which the hub could not read its files, and its words. */
  private readonly unreadable = new Map<string, { readonly text: string; readonly words: string }>();

  get isEmpty(): boolean {
    return this.items.size === 0;
  }

  /** Forgets all of them: the hub has another volume. */
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

  /** The id of the definition that is claimed for the resource with this uid; undefined: none. */
  claimOf(kind: ConfigEntityKind, uid: string): string | undefined {
    const [key, prefix] = [this.claims.get(uid), itemKey(kind, '')];
    return key?.startsWith(prefix) ? key.slice(prefix.length) : undefined;
  }

  /** The next write of the ConfigMap names this resource, whose status does not record the definition. */
  claim(kind: ConfigEntityKind, id: string, uid: string): void {
    this.claims.set(uid, itemKey(kind, id));
  }

  /** The next write of the ConfigMap does not name this resource any more. */
  unclaim(uid: string): void {
    this.claims.delete(uid);
  }

  /** Bytes of the definitions in each ConfigMap. */
  sizes(): number[] {
    return [...this.bytes];
  }

  /**
   * The words of the hub about this definition, with which it could not read a file, once: it may be tried again. Undefined: nothing is
   * known against it.
   */
  whyUnreadable(kind: ConfigEntityKind, id: string, payload: EntityPayload): string | undefined {
    const known = this.unreadable.get(itemKey(kind, id));
    this.unreadable.delete(itemKey(kind, id));
    return known?.text === itemText(kind, id, payload) ? known.words : undefined;
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
   * The definition is delivered by the next publication.
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
    this.setItem(item);
    this.changed.add(item.index);
    if (!before || before.index === item.index) return;
    this.changed.add(before.index);
    this.receiving.add(item.index);
  }

  /** The definition is taken out by the next publication. */
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
   * The former definitions of those that the hub cannot read take their place again. False: there are none, or they are not known.
   *
   * @param words of the hub
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

  /** What a ConfigMap has that was written before. */
  read(index: number, data: DeliveryData | undefined): void {
    const { [FORMER_FILE]: formers, [CLAIM_FILE]: claims } = data ?? {};
    this.besides.set(index, besides(formers, claims));
    for (const [key, former] of readFormerText(formers)) this.formers.set(key, former);
    for (const kind of CONFIG_ENTITY_KINDS) {
      for (const [id, payload] of readFileText(kind, data?.[deliveredFile(kind)] ?? '')) {
        // A crash while a definition moved may have left it in two: the second one is written without it.
        if ((kind === 'script' && id === deliveryMarker(index)) || this.items.has(itemKey(kind, id)))
          continue;
        this.setItem(itemOf(kind, id, payload, index));
      }
    }
    for (const [uid, key] of readClaimText(claims)) if (this.items.has(key)) this.claims.set(uid, key);
  }

  /** The next {@link content} of the ConfigMap has the present formers and claims. Claims have room first: without one, a new definition may belong to no resource. */
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

  /** In the order of the ids: equal contents are equal files, also after a restart of the operator. */
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

/** Also the key of what a definition replaced, in its ConfigMap. */
const itemKey = (kind: ConfigEntityKind, id: string): string => `${kind} ${id}`;

function itemOf(kind: ConfigEntityKind, id: string, payload: EntityPayload, index: number): Item {
  const text = itemText(kind, id, payload);
  return { kind, id, payload, text, bytes: Buffer.byteLength(text) + 2, index };
}
