import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { truncate } from '../operator/base/truncate';
import type { OperatorProcess } from '../sandbox/operator-process';
import { SandboxError } from '../sandbox/sandbox-error';

/** Number of lines of an ended operator's log that an error quotes, and the characters of each. */
const LAST_LINES = 10;
const LONGEST_LINE = 400;

/** In milliseconds. */
const END_DURATION = 2_000;

/**
 * Returns the metrics of an operator in the text format of Prometheus.
 * @throws SandboxError with the end of the log when the operator has ended, so that no bench waits for it
 */
export async function scrape({ process, url }: OperatorProcess): Promise<string> {
  try {
    return await (await fetch(`${url}/metrics`)).text();
  } catch (error) {
    // A process that is ending closes its port first.
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

/**
 * Returns the metrics, or an empty text while the operator does not serve them yet.
 * @throws SandboxError the operator has ended
 */
export async function scrapeStarting(operator: OperatorProcess): Promise<string> {
  try {
    return await scrape(operator);
  } catch (error) {
    if (error instanceof SandboxError) throw error;
    return '';
  }
}

/** Returns the sum of all series of a metric whose labels match. */
export function sum(metrics: string, name: string, labels = /^/): number {
  return metrics
    .split('\n')
    .map((line) => /^(\w+)(\{.*\})? (\S+)$/.exec(line))
    .filter((match) => match?.[1] === name && labels.test(match[2] ?? ''))
    .reduce((total, match) => total + Number(match![3]), 0);
}

/** Number of writes to the cluster since the operator's start, without those of the lease, which are PUTs. */
export const clusterWrites = (metrics: string): number =>
  sum(metrics, 'rest_client_requests_total', /method="(PATCH|POST|DELETE)"/);
