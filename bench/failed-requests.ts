import { setTimeout as sleep } from 'node:timers/promises';
import type { OperatorProcess } from '../sandbox/operator-process';
import { scrape, sum } from './operator-metrics';

/** Meaning of a status code that may occur at any time during the soak. */
const ALWAYS: Readonly<Record<string, string>> = {
  '<error>': 'the connection was reset',
  '404': 'the automation was deleted meanwhile',
  '409': 'the object was changed or deleted meanwhile',
  '410': 'the watch was interrupted for too long',
};
/** Meaning of a status code that may occur only while the API server is killed or starts. */
const WHILE_RESTARTING: Readonly<Record<string, string>> = {
  '401': 'the API server starts: it has no keys yet',
  '403': 'the API server starts: it has not read the roles yet',
  '429': 'the API server starts: its storage is not initialised',
  '500': 'the API server starts or ends',
  '503': 'the API server starts or ends',
  '504': 'the API server ends',
};
// Durations in milliseconds.
const SAMPLE_INTERVAL = 1_000;
/**
 * A restart explains failures up to this much later: a server that answers may not have read everything yet,
 * and a request from before the restart may still be open.
 */
const AFTERMATH = 10_000;

/** Failed requests of an operator by status code, each with its cause at the time of the failure. */
export class FailedRequests {
  private readonly causes = new Map<string, number>();
  private readonly others = new Map<string, number>();
  private readonly last = new Map<string, number>();
  private restartingUntil = 0;

  constructor(private readonly operator: OperatorProcess) {}

  /** Runs a restart of the API server. Failures during the restart and soon after it are explained by it. */
  async during(restart: () => Promise<void>): Promise<void> {
    this.restartingUntil = Infinity;
    await restart();
    this.restartingUntil = Date.now() + AFTERMATH;
  }

  async watch(end: number): Promise<void> {
    await this.sample(() => undefined);
    while (Date.now() < end) {
      await sleep(SAMPLE_INTERVAL);
      await this.sample((code, count) => this.record(code, count));
    }
  }

  /** The explained failures as text: `<count> × <code>: <cause>`, … */
  explained(): string {
    return format(this.causes);
  }

  /** The failures without a cause as text; empty when every failure is explained. */
  unexplained(): string {
    return format(this.others);
  }

  private record(code: string, count: number): void {
    const restarting = Date.now() < this.restartingUntil ? WHILE_RESTARTING[code] : undefined;
    const cause = ALWAYS[code] ?? restarting;
    const counts = cause === undefined ? this.others : this.causes;
    const key = cause === undefined ? code : `${code}: ${cause}`;
    counts.set(key, (counts.get(key) ?? 0) + count);
  }

  private async sample(onFailures: (code: string, count: number) => void): Promise<void> {
    const metrics = await scrape(this.operator);
    const codes = [...metrics.matchAll(/^rest_client_requests_total\{.*code="([^"]+)"/gm)].map(
      ([, code]) => code!,
    );
    for (const code of new Set(codes)) {
      if (code.startsWith('2')) continue;
      const total = sum(metrics, 'rest_client_requests_total', new RegExp(`code="${code}"`));
      const before = this.last.get(code) ?? 0;
      this.last.set(code, total);
      if (total > before) onFailures(code, total - before);
    }
  }
}

function format(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([what, count]) => `${count} × ${what}`).join('; ');
}
