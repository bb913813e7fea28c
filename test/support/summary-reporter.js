/** Ends a test run with one plain line, `N passed, N failed`, that scripts can read. */
export default class SummaryReporter {
  onRunComplete(_contexts, results) {
    const skipped = results.numPendingTests + results.numTodoTests;
    // A test file that does not even load has no failed tests of its own.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const line = `${results.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`;
    // jest's own summary follows; the last word is this line's.
    process.once('exit', () => process.stdout.write(line));
  }
}
