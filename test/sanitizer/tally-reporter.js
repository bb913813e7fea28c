/** Ends a run of the seeded bugs with `N of M seeded bugs flagged, K false alarms`. */
export default class TallyReporter {
  onRunComplete(_contexts, results) {
    const tests = results.testResults.flatMap((file) => file.testResults);
    const count = (title, status) =>
      tests.filter((t) => t.title.startsWith(title) && (!status || t.status === status)).length;
    const flagged = 'is flagged at its line';
    const line = `${count(flagged, 'passed')} of ${count(flagged)} seeded bugs flagged, ${count('is silent', 'failed')} false alarms\n`;
    // jest's own summary follows; the last word is this line's.
    process.once('exit', () => process.stdout.write(line));
  }
}
