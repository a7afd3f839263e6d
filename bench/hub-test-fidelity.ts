import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { NEWEST_HUB } from '../sandbox/hub-software';
import type { Figures } from './runtime';

/** The oldest version of Home Assistant whose packages the sandbox can install. */
const OLDEST_HUB = '2025.11.0';

/** The result of bench/hub-test-fidelity-process.ts. */
export interface Fidelity {
  readonly scenarios: number;
  readonly calls: number;
  /** Names of the scenarios that made other calls, or made them in another order. */
  readonly differing: readonly string[];
  /** The largest difference in the time of a call, in seconds, and the name of its scenario. */
  readonly seconds: number;
  readonly latest: string;
}

/**
 * Compares homes on the virtual clock with those on the clock of the machine, with the oldest and the newest
 * version of the hub.
 */
export async function benchHubTestFidelity(): Promise<Figures> {
  const figures: Record<string, number | string> = {};
  for (const version of [OLDEST_HUB, NEWEST_HUB]) {
    const { scenarios, calls, differing, seconds, latest } = await compare(version);
    figures[`${version}: scenarios`] = scenarios;
    figures[`${version}: calls`] = calls;
    figures[`${version}: scenarios with the same calls in the same order`] = scenarios - differing.length;
    figures[`${version}: scenarios that differ`] = differing.join(', ') || 'none';
    figures[`${version}: largest difference of a time, s`] = seconds;
    figures[`${version}: scenario of that`] = latest;
  }
  return figures;
}

/** Runs in a separate process, because the version of the hub is a setting of the whole process. */
async function compare(version: string): Promise<Fidelity> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', join(__dirname, 'hub-test-fidelity-process.ts')],
    { env: { ...process.env, HUB: version === NEWEST_HUB ? '' : version } },
  );
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as Fidelity;
}
