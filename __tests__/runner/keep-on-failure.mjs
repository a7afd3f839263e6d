/** jest's reporter: says to teardown.ts, which runs in this process afterwards, that somebody will want to look. */
export default class KeepOnFailure {
  onRunComplete(_contexts, { numFailedTests, numRuntimeErrorTestSuites }) {
    if (numFailedTests + numRuntimeErrorTestSuites > 0) process.env.HUB_SANDBOX_KEEP = 'true';
  }
}
