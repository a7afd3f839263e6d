import type { Clock } from '../base/clock';
import { undefinedIf } from '../base/undefined-if';
import type { ResourceType } from './objects';
import type { ApiClient } from './api-client';
import { isNotFound } from './api-errors';

/**
 * Milliseconds for which an answer is cached. Watching CRDs instead would require permission to read all CRDs
 * of the cluster.
 */
const LIFETIME = 15_000;

interface Answer {
  readonly at: number;
  readonly plurals: Promise<ReadonlySet<string>>;
}

/** Caches which resource types of optional API groups the API server serves. */
export class Discovery {
  private readonly answers = new Map<string, Answer>();

  constructor(
    private readonly cluster: ApiClient,
    private readonly clock: Clock,
  ) {}

  /** Whether the API server serves this resource. */
  async serves({ group, version, plural }: ResourceType): Promise<boolean> {
    const key = `${group}/${version}`;
    const now = this.clock.monotonic();
    let answer = this.answers.get(key);
    if (!answer || now - answer.at >= LIFETIME) {
      answer = { at: now, plurals: this.ask(key) };
      this.answers.set(key, answer);
      // A failed request is not cached, so that the next call repeats it.
      answer.plurals.catch(() => this.answers.delete(key));
    }
    return (await answer.plurals).has(plural);
  }

  private async ask(groupVersion: string): Promise<ReadonlySet<string>> {
    const path = `/apis/${groupVersion}`;
    const request = this.cluster.request<{ resources: { name: string }[] }>({ method: 'GET', path });
    const answer = await undefinedIf(isNotFound, request);
    return new Set(answer?.resources.map(({ name }) => name));
  }
}
