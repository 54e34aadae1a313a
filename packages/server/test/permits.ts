/** Limits how many concurrent tests of a file run at a time: each starts programs, which takes a core for seconds. */

import type { TestContext } from "vitest";
import { openSemaphore } from "../src/pacing/semaphore.ts";

/** On two cores, beside other files. */
const AT_A_TIME = 2;

/** For suites that wait for permits: the wait counts as time of the test. */
export const WITH_PERMITS = { timeout: 300_000 };

/** @returns a function that waits for a permit, which the test holds until its end */
export function openPermits(): (context: TestContext) => Promise<void> {
  const semaphore = openSemaphore(AT_A_TIME);
  return ({ onTestFinished }) =>
    new Promise((permitted, rejected) => {
      semaphore(
        () =>
          new Promise<void>((finished) => {
            onTestFinished(() => finished());
            permitted();
          }),
      ).catch(rejected);
    });
}
