import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Gives each test of the file its own empty folder of runs.
 * @returns a function that returns its path while a test runs
 */
export function ownRuns(): () => string {
  let runs: string;
  const before = process.env['HUB_OPERATOR_RUNS'];
  beforeEach(async () => {
    runs = await mkdtemp(join(tmpdir(), 'runs-'));
    process.env['HUB_OPERATOR_RUNS'] = runs;
  });
  afterEach(async () => {
    if (before === undefined) delete process.env['HUB_OPERATOR_RUNS'];
    else process.env['HUB_OPERATOR_RUNS'] = before;
    await rm(runs, { recursive: true });
  });
  return () => runs;
}
