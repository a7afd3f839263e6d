import type { HubConnection } from './connection';
import { type KeptList, Scale } from './kept-lists';
import { SharedAttempt } from './shared-attempt';

/**
 * The interface to the entries of a {@link FollowedCollection}: a Map, or an index that also finds entries by
 * other keys.
 */
export interface Entries<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): unknown;
  delete(key: string): unknown;
  keys(): Iterable<string>;
}

/** Changed entries by key; undefined for an entry that no longer exists. */
export type Changes<V> = Iterable<readonly [key: string, value: V | undefined]>;

/** The source of the state of a {@link FollowedCollection}. */
interface CollectionSource<V, State extends Entries<V>> {
  /** Name of the entries in messages. */
  readonly name: string;
  /** Subscribes to the hub's changes, and passes them to the collection's `change` or `invalidate`. */
  subscribe(): Promise<unknown>;
  /**
   * @param hold to be called with the data that stays in memory from a first answer until a second one
   * arrives
   */
  fetch(hold: (held: unknown) => void): Promise<State>;
  /** Reads only these keys again. Without it, an invalidated key causes a fetch of the whole state. */
  refresh?(keys: readonly string[]): Promise<Changes<V>>;
}

/**
 * A copy of a part of the hub's state. It is fetched at first use and kept current by the hub's events. After
 * a lost connection it is fetched again, because events were missed. A common limit applies to the memory of
 * all such copies.
 */
export class FollowedCollection<V, State extends Entries<V> = Map<string, V>> {
  private state: State | undefined;
  private isCurrent = false;
  private staleKeys = new Set<string>();
  /** Changes that arrive during a fetch or a refresh. They are applied to its result, which may be older. */
  private pendingChanges = new Map<string, V | undefined>();
  /** The memory of each part of the copy, in bytes. */
  private weights = { state: 0, held: 0, staleKeys: 0, pendingChanges: 0 };
  private scale = new Scale();
  private readonly kept: KeptList;
  private readonly subscription: SharedAttempt<unknown>;
  private reading: Promise<void> | undefined;

  constructor(
    connection: Pick<HubConnection, 'lists' | 'onLost' | 'onReconnect'>,
    private readonly source: CollectionSource<V, State>,
  ) {
    this.subscription = new SharedAttempt(() => source.subscribe());
    this.kept = connection.lists.add(source.name, () => this.forget());
    const invalidate = () => this.invalidate();
    connection.onLost(invalidate);
    connection.onReconnect(invalidate);
  }

  /**
   * The last known state, for use in event handlers; it may be out of date. Undefined before the first fetch.
   */
  get lastKnown(): State | undefined {
    return this.state;
  }

  /**
   * The state with all changes that the hub has reported so far.
   *
   * @throws HubError the subscription or the fetch failed; the next call tries again
   */
  async get(): Promise<State> {
    await this.subscription.run();
    while (this.reading || !this.isCurrent || this.staleKeys.size > 0) {
      await (this.reading ??= this.read().finally(() => {
        this.reading = undefined;
        this.pendingChanges = new Map();
        this.weigh('pendingChanges', 0);
        this.weigh('held', 0);
      }));
    }
    return this.state!;
  }

  /** Applies a change that the hub reported: an added or replaced entry, or undefined for a removed one. */
  change(key: string, value: V | undefined): void {
    if (this.reading) {
      const former = this.pendingChanges.has(key) ? this.scale.entry(key, this.pendingChanges.get(key)) : 0;
      this.pendingChanges.set(key, value);
      this.weigh('pendingChanges', this.weights.pendingChanges + this.scale.entry(key, value) - former);
    }
    if (this.state !== undefined) this.apply(this.state, [[key, value]]);
  }

  /**
   * Marks the state, or only a key if the source can refresh keys, so that it is read again before its next
   * use.
   */
  invalidate(key?: string): void {
    if (key === undefined || !this.source.refresh) this.isCurrent = false;
    else if (this.isCurrent && !this.staleKeys.has(key)) {
      this.staleKeys.add(key);
      this.weigh('staleKeys', this.weights.staleKeys + this.scale.entry(key, undefined));
    }
  }

  private read(): Promise<void> {
    const { source } = this;
    return this.isCurrent && source.refresh && this.state !== undefined
      ? this.refreshStale(this.state, source.refresh.bind(source))
      : this.fetch();
  }

  private async fetch(): Promise<void> {
    this.kept.beginRead();
    this.isCurrent = true; // a later invalidation resets it
    this.forgetStaleKeys();
    try {
      const state = await this.source.fetch((held) => {
        this.weigh('held', this.scale.weigh(held));
        this.kept.assertAdmitted();
      });
      this.kept.assertAdmitted();
      for (const [key, value] of this.pendingChanges) put(state, key, value);
      this.keep(state);
    } catch (error) {
      this.isCurrent = false;
      throw error;
    }
  }

  private keep(state: State): void {
    this.state = state;
    this.weights.held = 0;
    let weight = 0;
    for (const key of state.keys()) weight += this.scale.entry(key, state.get(key));
    this.weigh('state', weight);
    this.kept.assertAdmitted();
  }

  private async refreshStale(
    state: State,
    refresh: (keys: readonly string[]) => Promise<Changes<V>>,
  ): Promise<void> {
    const keys = [...this.staleKeys];
    this.forgetStaleKeys();
    try {
      this.apply(state, await refresh(keys));
      this.apply(state, this.pendingChanges);
    } catch (error) {
      for (const key of keys) this.invalidate(key);
      throw error;
    }
  }

  private apply(state: State, changes: Changes<V>): void {
    let weight = this.weights.state;
    const entry = (key: string) => {
      const value = state.get(key);
      return value === undefined ? 0 : this.scale.entry(key, value);
    };
    for (const [key, value] of changes) {
      weight -= entry(key);
      put(state, key, value);
      weight += entry(key);
    }
    if (state === this.state) this.weigh('state', weight);
  }

  private forgetStaleKeys(): void {
    this.staleKeys = new Set();
    this.weigh('staleKeys', 0);
  }

  private weigh(part: keyof typeof this.weights, bytes: number): void {
    this.weights[part] = bytes;
    const { state, held, staleKeys, pendingChanges } = this.weights;
    this.kept.set(state + held + staleKeys + pendingChanges);
  }

  private forget(): void {
    this.state = undefined;
    this.isCurrent = false;
    this.staleKeys = new Set();
    this.pendingChanges = new Map();
    this.weights = { state: 0, held: 0, staleKeys: 0, pendingChanges: 0 };
    this.scale = new Scale();
  }
}

function put<V>(state: Entries<V>, key: string, value: V | undefined): void {
  if (value === undefined) state.delete(key);
  else state.set(key, value);
}
