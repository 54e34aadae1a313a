/** Prints the test files that failed, one a line; nothing where there are too many for a disturbance of the machine. */

import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

const MOST = 3;

const [, , report = ""] = process.argv;
if (existsSync(report)) {
  const { testResults } = JSON.parse(readFileSync(report, "utf8"));
  const failed = testResults
    .filter(({ status }) => status === "failed")
    .map(({ name }) => relative(".", name));
  if (failed.length <= MOST) process.stdout.write(failed.map((file) => `${file}\n`).join(""));
}
