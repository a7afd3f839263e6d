import type { HubConnection } from './connection';
import { SharedAttempt } from './shared-attempt';

/** The source of the state of a {@link FollowedCollection}. */
export interface CollectionSource<State> {
  /** Subscribes to the hub's changes and passes them to `change` or `invalidate` of the collection. */
  subscribe(): Promise<unknown>;
  fetch(): Promise<State>;
  /** Reads these keys again into the state. Absent: an invalid key causes a fetch of the whole state. */
  refresh?(state: State, keys: readonly string[]): Promise<void>;
}

/**
 * A copy of a part of the hub's state. It is fetched at first use and kept current by the hub's events. After a lost
 * connection it is fetched again, because events were missed.
 */
export class FollowedCollection<State> {
  private state: State | undefined;
  private isCurrent = false;
  private staleKeys = new Set<string>();
  /** Changes that arrive during a fetch, applied to its result, which may be older. */
  private pendingChanges: ((state: State) => void)[] = [];
  private readonly subscription: SharedAttempt<unknown>;
  private reading: Promise<void> | undefined;

  constructor(
    connection: Pick<HubConnection, 'onLost' | 'onReconnect'>,
    private readonly source: CollectionSource<State>,
  ) {
    this.subscription = new SharedAttempt(() => source.subscribe());
    const invalidate = () => this.invalidate();
    connection.onLost(invalidate);
    connection.onReconnect(invalidate);
  }

  /** The state as last known, for events; it may be out of date. Undefined before the first fetch. */
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
      await (this.reading ??= this.read().finally(() => (this.reading = undefined)));
    }
    return this.state!;
  }

  /** Applies a change that the hub reported. */
  change(apply: (state: State) => void): void {
    if (this.reading) this.pendingChanges.push(apply);
    if (this.state !== undefined) apply(this.state);
  }

  /** Marks the state, or only a key if the source can refresh keys, to be read again before its next use. */
  invalidate(key?: string): void {
    if (key !== undefined && this.source.refresh) this.staleKeys.add(key);
    else this.isCurrent = false;
  }

  private read(): Promise<void> {
    const { source } = this;
    return this.isCurrent && source.refresh && this.state !== undefined
      ? this.refreshStale(this.state, source.refresh.bind(source))
      : this.fetch();
  }

  private async fetch(): Promise<void> {
    this.isCurrent = true; // a later invalidation resets it
    this.staleKeys = new Set();
    this.pendingChanges = [];
    try {
      const state = await this.source.fetch();
      for (const apply of this.pendingChanges) apply(state);
      this.state = state;
    } catch (error) {
      this.isCurrent = false;
      throw error;
    }
  }

  private async refreshStale(
    state: State,
    refresh: (state: State, keys: readonly string[]) => Promise<void>,
  ): Promise<void> {
    const keys = this.staleKeys;
    this.staleKeys = new Set();
    try {
      await refresh(state, [...keys]);
    } catch (error) {
      for (const key of keys) this.staleKeys.add(key);
      throw error;
    }
  }
}
