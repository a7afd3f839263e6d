import { killed, noCluster, notRun, resultsSoFar } from '../../runner/node-outcome';

const lines = (...all: object[]) => all.map((line) => `${JSON.stringify(line)}\n`).join('');
const passed = { passed: 1, failed: 0 };
const failed = { passed: 0, failed: 1 };

describe('node-outcome', () => {
  test('a machine that cannot run a node is skipped, with its reason, and is not a failure', () => {
    const outcome = notRun('it needs Linux');
    expect(outcome).toEqual({ passed: 0, failed: 0, skipped: ['real node: it needs Linux'], failures: [] });
  });

  test('without a cluster, for a reason of the machine, tests are skipped in a run with others', () => {
    expect(noCluster('the disk is full', false)).toEqual(notRun('the disk is full'));
  });

  test('without a cluster, tests that were requested have failed, with the reason', () => {
    expect(noCluster('the disk is full', true)).toEqual({
      passed: 0,
      failed: 1,
      skipped: [],
      failures: ['real node: the disk is full'],
    });
  });

  test.each([true, false])(
    'a killed run in which no test has finished has failed (requested: %s)',
    (isAsked) => {
      expect(killed({ passed: 0, failed: 0 }, 60, 60, isAsked)).toEqual({
        passed: 0,
        failed: 1,
        skipped: [],
        failures: ['real node: no test was through after 60 min, none in the last 60 min'],
      });
    },
  );

  test('in a killed run with others the finished tests count, and the rest is skipped', () => {
    const skipped = ['real node: what was not through after 60 min'];
    expect(killed({ passed: 3, failed: 0 }, 60, 19, false)).toEqual({
      passed: 3,
      failed: 0,
      skipped,
      failures: [],
    });
    expect(killed({ passed: 3, failed: 1 }, 60, 19, false)).toEqual({
      passed: 3,
      failed: 1,
      skipped,
      failures: [],
    });
  });

  test('a killed run in which no test has finished for long has failed', () => {
    expect(killed({ passed: 3, failed: 0 }, 60, 20, false)).toEqual({
      passed: 3,
      failed: 1,
      skipped: [],
      failures: ['real node: not all tests were through after 60 min, none in the last 20 min'],
    });
  });

  test('a killed run that was requested has failed, even if tests have finished', () => {
    expect(killed({ passed: 3, failed: 1 }, 60, 19, true)).toEqual({
      passed: 3,
      failed: 2,
      skipped: [],
      failures: ['real node: not all tests were through after 60 min, none in the last 19 min'],
    });
  });

  test('the tests of a file that was killed count', () => {
    const text = lines(
      { path: 'a', ...passed },
      { path: 'a', ...failed },
      { path: 'a', passed: 0, failed: 0 },
    );
    expect(resultsSoFar(text)).toEqual({ passed: 1, failed: 1 });
  });

  test('a finished file counts by its total, and not also by its tests', () => {
    const text = lines(
      { path: 'a', ...passed },
      { path: 'a', passed: 1, failed: 1, isFile: true },
      { path: 'b', ...passed },
    );
    expect(resultsSoFar(text)).toEqual({ passed: 2, failed: 1 });
  });

  test('an incomplete line does not count, and without lines there are no tests', () => {
    expect(resultsSoFar(`${lines({ path: 'a', ...passed })}{"path":"a","pa`)).toEqual(passed);
    expect(resultsSoFar('')).toEqual({ passed: 0, failed: 0 });
  });
});
