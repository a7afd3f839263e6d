import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { truncate } from '../operator/base/truncate';
import type { OperatorProcess } from '../sandbox/operator-process';
import { SandboxError } from '../sandbox/sandbox-error';

/** Lines of its log with which an operator that has ended is reported, and the characters of each. */
const LAST_LINES = 10;
const LONGEST_LINE = 400;

/** Milliseconds. */
const END_DURATION = 2_000;

/**
 * The metrics of an operator, as Prometheus reads them.
 *
 * @throws SandboxError with the end of its log: the operator has ended, and no bench may wait for it
 */
export async function scrape({ process, url }: OperatorProcess): Promise<string> {
  try {
    return await (await fetch(`${url}/metrics`)).text();
  } catch (error) {
    // A process that ends closes its port first.
    await Promise.race([process.exited, sleep(END_DURATION)]);
    if (process.running) throw error;
    throw new SandboxError(
      `The operator ended with ${await process.exited}.`,
      'These are the last lines of its log.',
      { lines: await lastLines(process.logFile), cause: error },
    );
  }
}

async function lastLines(file: string): Promise<string[]> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  return lines.slice(-LAST_LINES).map((line) => truncate(line, LONGEST_LINE));
}

/** The metrics; empty while the operator does not serve them yet. @throws SandboxError the operator has ended */
export async function scrapeStarting(operator: OperatorProcess): Promise<string> {
  try {
    return await scrape(operator);
  } catch (error) {
    if (error instanceof SandboxError) throw error;
    return '';
  }
}

/** The sum of all series of a metric whose labels match. */
export function sum(metrics: string, name: string, labels = /^/): number {
  return metrics
    .split('\n')
    .map((line) => /^(\w+)(\{.*\})? (\S+)$/.exec(line))
    .filter((match) => match?.[1] === name && labels.test(match[2] ?? ''))
    .reduce((total, match) => total + Number(match![3]), 0);
}

/** Writes to the cluster since the operator's start, but for those of the lease, which are PUTs. */
export const clusterWrites = (metrics: string): number =>
  sum(metrics, 'rest_client_requests_total', /method="(PATCH|POST|DELETE)"/);
