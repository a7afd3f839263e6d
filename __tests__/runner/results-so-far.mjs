import { appendFileSync } from 'node:fs';

/**
 * A reporter for jest for runs that are killed. It writes a line of JSON for each finished test, and one with
 * the totals for each finished file. node-outcome.ts reads them.
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
