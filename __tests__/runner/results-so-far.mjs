import { appendFileSync } from 'node:fs';

/** A reporter of jest: for a run that is killed, the results of each file that was through, a line of JSON each. */
export default class ResultsSoFar {
  onTestFileResult(_test, { numPassingTests: passed, numFailingTests, testExecError }) {
    const file = process.env.TEST_RESULTS_SO_FAR;
    if (!file) return;
    const failed = numFailingTests + (testExecError && numFailingTests === 0 ? 1 : 0);
    appendFileSync(file, `${JSON.stringify({ passed, failed })}\n`);
  }
}
