import { appendFileSync } from 'node:fs';

/**
 * A reporter of jest: for a run that is killed, a line of JSON for each test that is through, and one with the sums for each file
 * that is. node-outcome.ts reads them.
 */
export default class ResultsSoFar {
  onTestCaseResult({ path }, { status }) {
    write({ path, passed: status === 'passed' ? 1 : 0, failed: status === 'failed' ? 1 : 0 });
  }

  onTestFileResult({ path }, { numPassingTests: passed, numFailingTests, testExecError }) {
    const failed = numFailingTests + (testExecError && numFailingTests === 0 ? 1 : 0);
    write({ path, passed, failed, isFile: true });
  }
}

function write(line) {
  const file = process.env.TEST_RESULTS_SO_FAR;
  if (file) appendFileSync(file, `${JSON.stringify(line)}\n`);
}
