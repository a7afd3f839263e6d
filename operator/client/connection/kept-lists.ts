import { getHeapStatistics } from 'node:v8';
import type { Clock } from '../../base/clock';
import { Timer } from '../../base/timer';
import { HubTooLarge } from './errors';

/**
 * The share of the heap that the lists of all hubs may take. The rest is for resources and for parsing a
 * message of the largest size.
 */
const PART_OF_HEAP = 1 / 4;
// Milliseconds until a dropped list is read again. The pause doubles each time.
const FIRST_PAUSE = 60_000;
const LAST_PAUSE = 10 * 60_000;

// Approximate memory that V8 needs, in bytes: the largest values measured for many contents. Objects with
// equal keys share one description of them (hidden class).
const ENTRY = 64;
const OBJECT = 56;
const FIELD = 24;
const KEY_OF_ONE = 120;
const LIST = 48;
const ITEM = 8;
const TEXT = 24;
const NUMBER = 16;
/** Sets of keys per list that are assumed to be shared. */
const MOST_SHAPES = 8;

/** Estimates how much memory values take, in bytes. */
export class Scale {
  private readonly shapes = new Set<string>();

  /** The memory of a map entry: the key and the value. */
  entry(key: string, value: unknown): number {
    return ENTRY + this.weigh(key) + this.weigh(value);
  }

  weigh(value: unknown): number {
    if (typeof value === 'string') return TEXT + value.length * (TWO_BYTES.test(value) ? 2 : 1);
    if (typeof value === 'number') return NUMBER;
    if (typeof value !== 'object' || value === null) return 0;
    return Array.isArray(value) ? this.weighList(value) : this.weighObject(value);
  }

  private weighList(list: readonly unknown[]): number {
    let weight = LIST;
    for (const item of list) weight += ITEM + this.weigh(item);
    return weight;
  }

  private weighObject(object: object): number {
    const isShared = this.isKnownShape(object);
    let weight = OBJECT;
    for (const [key, value] of Object.entries(object))
      weight += (isShared ? FIELD : KEY_OF_ONE + key.length) + this.weigh(value);
    return weight;
  }

  private isKnownShape(object: object): boolean {
    const shape = Object.keys(object).join('\0');
    if (this.shapes.has(shape)) return true;
    if (this.shapes.size < MOST_SHAPES && shape.length < LONGEST_SHAPE) this.shapes.add(shape);
    return false;
  }
}

/** A character beyond Latin-1: a single one makes V8 store two bytes for each character of a string. */
const TWO_BYTES = /[\u0100-\uffff]/;
/** Characters of the joined keys of an object; objects with longer ones are assumed not to share them. */
const LONGEST_SHAPE = 1_000;

/** The account of one list that the operator keeps of a hub. */
export class KeptList {
  private bytes = 0;
  private pause = 0;
  private readAt = 0;
  private refusedUntil = -Infinity;
  private readonly readmission: Timer;

  /** @param forget drops the content of the list */
  constructor(
    private readonly hub: HubLists,
    private readonly name: string,
    private readonly forget: () => void,
  ) {
    this.readmission = new Timer(hub.clock);
  }

  get weight(): number {
    return this.bytes;
  }

  /** @throws HubTooLarge the list was dropped a short time ago */
  assertAdmitted(): void {
    const left = this.refusedUntil - this.hub.clock.monotonic();
    if (left > 0) throw new HubTooLarge(this.name, this.hub.most);
  }

  /**
   * To be called before the whole list is read.
   *
   * @throws HubTooLarge the list was dropped a short time ago
   */
  beginRead(): void {
    this.assertAdmitted();
    this.readAt = this.hub.clock.monotonic();
  }

  /** Sets the memory of the list in bytes. If the total is too large, this list or another one is dropped. */
  set(bytes: number): void {
    const more = bytes - this.bytes;
    this.bytes = bytes;
    this.hub.grow(more);
  }

  drop(): void {
    const now = this.hub.clock.monotonic();
    const wasKept = now - this.readAt > LAST_PAUSE;
    this.pause = wasKept ? FIRST_PAUSE : Math.min(Math.max(2 * this.pause, FIRST_PAUSE), LAST_PAUSE);
    this.refusedUntil = now + this.pause;
    this.empty();
    this.hub.listener.onDropped({ list: this.name, seconds: this.pause / 1_000 });
    this.readmission.set(this.pause, () => this.hub.listener.onReadmitted());
  }

  /** To be called when the client of the hub is closed. */
  close(): void {
    this.readmission.clear();
    this.empty();
  }

  private empty(): void {
    this.forget();
    this.set(0);
  }
}

interface ListListener {
  /** @param fields fields for the log */
  onDropped(fields: object): void;
  /**
   * Called when a dropped list may be read again. Changes that the hub reported in the time between were not
   * seen.
   */
  onReadmitted(): void;
}

/** The account of the lists of one hub. */
export class HubLists {
  weight = 0;
  private readonly lists = new Set<KeptList>();
  private isClosed = false;

  constructor(
    private readonly all: KeptLists,
    readonly clock: Clock,
    readonly listener: ListListener,
  ) {}

  get most(): number {
    return this.all.most;
  }

  add(name: string, forget: () => void): KeptList {
    const list = new KeptList(this, name, forget);
    this.lists.add(list);
    this.all.add(this);
    return list;
  }

  grow(bytes: number): void {
    if (this.isClosed) return; // from an answer that was in flight
    this.weight += bytes;
    this.all.grow(bytes);
  }

  dropLargest(): void {
    largestOf(this.lists)?.drop();
  }

  /** To be called when the client of the hub is closed. */
  close(): void {
    for (const list of this.lists) list.close();
    this.isClosed = true;
    this.all.remove(this);
  }
}

/**
 * Limits the memory of the lists that the operator keeps of hubs. If the total is too large, the largest list
 * of the hub with the most memory is dropped and not read again for some time. Hubs with less are not
 * affected.
 */
export class KeptLists {
  weight = 0;
  private readonly hubs = new Set<HubLists>();

  /** @param most bytes of the lists of all hubs */
  constructor(readonly most = Math.floor(getHeapStatistics().heap_size_limit * PART_OF_HEAP)) {}

  ofHub(clock: Clock, listener: ListListener): HubLists {
    return new HubLists(this, clock, listener);
  }

  add(hub: HubLists): void {
    this.hubs.add(hub);
  }

  grow(bytes: number): void {
    this.weight += bytes;
    while (this.weight > this.most) largestOf(this.hubs)!.dropLargest();
  }

  remove(hub: HubLists): void {
    this.hubs.delete(hub);
  }
}

/** The account of this process. */
export const keptLists = new KeptLists();

function largestOf<T extends { readonly weight: number }>(all: Iterable<T>): T | undefined {
  let largest: T | undefined;
  for (const each of all) if (each.weight > (largest?.weight ?? 0)) largest = each;
  return largest;
}
