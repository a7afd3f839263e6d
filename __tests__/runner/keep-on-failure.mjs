/**
 * A reporter for jest. After a failure it tells teardown.ts, which runs later in this process, to keep data
 * and logs.
 */
export default class KeepOnFailure {
  onRunComplete(_contexts, { numFailedTests, numRuntimeErrorTestSuites }) {
    if (numFailedTests + numRuntimeErrorTestSuites > 0) process.env.HUB_SANDBOX_KEEP = 'true';
  }
}
