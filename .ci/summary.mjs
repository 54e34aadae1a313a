/** Prints the last line of the run from the reports of its tests, and exits with 1 when anything failed. */

import { existsSync, readFileSync } from "node:fs";

const [, , failedSteps = "1", whole = "", again = ""] = process.argv;
const read = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null);

let passed = 0;
let failed = 0;
let skipped = 0;
const first = read(whole);
if (first !== null) {
  passed = first.numPassedTests;
  failed = first.numFailedTests;
  skipped = first.numPendingTests + first.numTodoTests;
  const second = read(again);
  if (second !== null) {
    passed += Math.max(0, failed - second.numFailedTests);
    failed = second.numFailedTests;
  }
}
if (failed === 0) failed = Number(failedSteps);
process.stdout.write(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
