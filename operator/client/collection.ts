import type { HubConnection } from './connection';
import { SharedAttempt } from './shared-attempt';

/** How a {@link FollowedCollection} gets its state. */
export interface CollectionSource<State> {
  /** Subscribes to the hub's changes, which are then passed to `change` or `invalidate` of the collection. */
  subscribe(): Promise<unknown>;
  fetch(): Promise<State>;
  /** Reads these keys again, into the state. Absent: an invalid key makes the whole state be fetched. */
  refresh?(state: State, keys: readonly string[]): Promise<void>;
}

/**
 * A copy of a part of the hub's state. It is fetched when it is first asked for and kept current by the hub's events;
 * after a lost connection it is fetched again, since events were missed.
 */
export class FollowedCollection<State> {
  private state: State | undefined;
  private isCurrent = false;
  private staleKeys = new Set<string>();
  /** Changes that arrive during a fetch: its result may be older. */
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

  /** Has the state read again before its next use; with a key, only that part if the source can do so. */
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
    this.isCurrent = true; // an invalidation from here on counts
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
