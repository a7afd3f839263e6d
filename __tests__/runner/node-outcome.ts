// The contribution of the tests on a real node to the result of a run, where they were not run to their end.

export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  /** What did not run, and why. */
  readonly skipped: readonly string[];
  /** Failures that no test has printed. */
  readonly failures: readonly string[];
}

/** A machine that cannot run a real node, or a run without time for it. */
export const notRun = (reason: string): Outcome => ({
  passed: 0,
  failed: 0,
  skipped: [`real node: ${reason}`],
  failures: [],
});

/**
 * The software cannot be provided, or the cluster cannot be started, for a reason of the machine.
 *
 * @param isAsked whether these tests alone were asked for: then it is a failure, and else they are skipped
 */
export const noCluster = (reason: string, isAsked: boolean): Outcome =>
  isAsked ? { passed: 0, failed: 1, skipped: [], failures: [`real node: ${reason}`] } : notRun(reason);

/** A fault of the repository, already explained on standard error. */
export const faulty: Outcome = { passed: 0, failed: 1, skipped: [], failures: [] };

/** Minutes. The tests of a slow machine are through one after another; for so long, none takes. */
const LONGEST_TEST = 20;

/**
 * The run was killed after so many minutes. Where no test was through at all, or for long, nothing shows that the machine is slow and
 * not the product broken: that is a failure.
 *
 * @param idle minutes since the last test was through
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
  /** Whether it is the sum of the whole file, which counts instead of its tests. */
  readonly isFile?: true;
}

/** @param lines what results-so-far.mjs has written */
export function resultsSoFar(lines: string): ResultsSoFar {
  // Text behind the last end of a line was cut off.
  const all = lines
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
  const whole = new Set(all.filter(({ isFile }) => isFile).map(({ path }) => path));
  const counted = all.filter(({ path, isFile }) => isFile || !whole.has(path));
  const sum = (key: 'passed' | 'failed') => counted.reduce((total, line) => total + line[key], 0);
  return { passed: sum('passed'), failed: sum('failed') };
}
