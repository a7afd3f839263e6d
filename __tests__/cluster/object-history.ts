import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../operator/base/clock';
import { messageOf } from '../../operator/base/errors';
import type { ApiClient } from '../../operator/runtime/api-client';
import { watchEvents } from '../../operator/runtime/watch-stream';
import { until } from '.';
import { adminCluster } from './admin-cluster';
import { collectionPath } from './api';
import { conditionOf, type Home, type Stored, type StoredCondition } from './home';

const open: ObjectHistory[] = [];

afterAll(() => {
  for (const history of open.splice(0)) history.close();
});

/**
 * Records all states of one object from now on, as a watch delivers them. With it a test sees states that
 * hold only for a moment, even after they are over. The watch ends with the test file.
 */
export class ObjectHistory {
  /** States in their order. The last state of a deleted object occurs twice. */
  readonly states: Stored[] = [];
  private readonly cluster: ApiClient = adminCluster();
  private stream: Readable | undefined;
  private closed = false;
  private error: unknown;

  private constructor(
    private readonly path: string,
    private readonly fieldSelector: string,
  ) {}

  /** Starts to record the states of an object, which need not exist yet. */
  static async of({ namespace }: Home, kind: string, name: string): Promise<ObjectHistory> {
    const history = new ObjectHistory(await collectionPath(kind, namespace), `metadata.name=${name}`);
    open.push(history);
    await history.start();
    return history;
  }

  /**
   * Waits for a state for which `probe` returns a value other than undefined and false, and resolves with
   * that value.
   */
  async find<T extends object>(
    description: string,
    probe: (state: Stored) => T | undefined | false,
  ): Promise<T> {
    return until<T>(description, () => {
      for (const state of this.states) {
        const found = probe(state);
        if (found) return found;
      }
      throw new Error(`not in ${this.states.length} states${this.error ? `; ${messageOf(this.error)}` : ''}`);
    });
  }

  /** Waits until a condition has matched `expected` in some state, and resolves with it. */
  condition(expected: Partial<StoredCondition>, type = 'Ready'): Promise<StoredCondition> {
    const fields = Object.entries(expected);
    return this.find(`${type} has been ${JSON.stringify(expected)}`, (state) => {
      const seen = conditionOf(state, type);
      return seen && fields.every(([key, value]) => seen[key as keyof StoredCondition] === value) && seen;
    });
  }

  close(): void {
    this.closed = true;
    this.stream?.destroy();
  }

  private async start(): Promise<void> {
    const { path, fieldSelector } = this;
    const list = { method: 'GET', path, query: { fieldSelector } } as const;
    // The API server refuses lists for a moment after a CRD was installed.
    const { metadata } = await until('the objects are listed', () =>
      this.cluster.request<{ metadata: { resourceVersion: string } }>(list),
    );
    void this.follow(metadata.resourceVersion);
  }

  /** When a watch breaks off, the next one continues at its last version. */
  private async follow(resourceVersion: string): Promise<void> {
    const { path, fieldSelector } = this;
    let since = resourceVersion;
    while (!this.closed) {
      try {
        const query = { watch: true, resourceVersion: since, fieldSelector };
        this.stream = await this.cluster.stream({ method: 'GET', path, query });
        for await (const { object } of watchEvents<Stored>(this.stream, systemClock, () => undefined)) {
          this.states.push(object);
          since = object.metadata.resourceVersion;
        }
      } catch (error) {
        this.error = error;
      }
      await sleep(100);
    }
  }
}
