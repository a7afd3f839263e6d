// The result that the tests on a real node contribute to a run when they did not run to their end.

export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  /** Tests that did not run, and the reason. */
  readonly skipped: readonly string[];
  /** Failures that no test has printed. */
  readonly failures: readonly string[];
}

/** The outcome on a machine that cannot run a real node, or of a run without time for it. */
export const notRun = (reason: string): Outcome => ({
  passed: 0,
  failed: 0,
  skipped: [`real node: ${reason}`],
  failures: [],
});

/**
 * The outcome when the machine cannot provide the software or start the cluster.
 * @param isAsked whether only these tests were requested: then the outcome is a failure, otherwise the tests
 * are skipped
 */
export const noCluster = (reason: string, isAsked: boolean): Outcome =>
  isAsked ? { passed: 0, failed: 1, skipped: [], failures: [`real node: ${reason}`] } : notRun(reason);

/** The outcome of a fault in the repository that standard error explains already. */
export const faulty: Outcome = { passed: 0, failed: 1, skipped: [], failures: [] };

/** Minutes without a finished test after which the machine is not just slow: no test takes this long. */
const LONGEST_TEST = 20;

/**
 * The outcome of a run that was killed after `minutes`. If no test has finished at all, or none for long, the
 * product may be broken instead of the machine slow, so the outcome is a failure.
 * @param idle minutes since the last test has finished
 */
export function killed(soFar: ResultsSoFar, minutes: number, idle: number, isAsked: boolean): Outcome {
  const { passed, failed } = soFar;
  if (passed + failed > 0 && idle < LONGEST_TEST && !isAsked)
    return { ...soFar, skipped: [`real node: what was not through after ${minutes} min`], failures: [] };
  const ready = passed + failed > 0 ? 'not all tests were' : 'no test was';
  return {
    passed,
    failed: failed + 1,
    skipped: [],
    failures: [`real node: ${ready} through after ${minutes} min, none in the last ${idle} min`],
  };
}

interface ResultsSoFar {
  readonly passed: number;
  readonly failed: number;
}

interface Line extends ResultsSoFar {
  /** Path of the test file. */
  readonly path: string;
  /** Set on the totals of a whole file, which replace the results of its tests. */
  readonly isFile?: true;
}

/** @param lines the output of results-so-far.mjs */
export function resultsSoFar(lines: string): ResultsSoFar {
  // The text after the last line break is an incomplete line.
  const all = lines
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
  const whole = new Set(all.filter(({ isFile }) => isFile).map(({ path }) => path));
  const counted = all.filter(({ path, isFile }) => isFile || !whole.has(path));
  const sum = (key: 'passed' | 'failed') => counted.reduce((total, line) => total + line[key], 0);
  return { passed: sum('passed'), failed: sum('failed') };
}
