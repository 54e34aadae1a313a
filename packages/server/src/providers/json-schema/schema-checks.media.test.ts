import { expect, it } from "vitest";
import { JobPool } from "../../threads/job-pool.ts";
import { startJobThread } from "../../threads/job-thread.ts";
import { ownShare } from "../../threads/testing/own-share.ts";
import { openSchemaChecks } from "./schema-checks.ts";

it("20 hostile checks of one key leave the main thread to the calls", async () => {
  const log: string[] = [];
  const pool = new JobPool({ start: startJobThread, log: (message) => log.push(message) });
  const { checkValue } = openSchemaChecks(pool.run);
  const attack = { a: `${"a".repeat(60)}!` };
  const check = (pattern: string) =>
    checkValue("account", { properties: { a: { type: "string", pattern } } }, attack);
  const patterns = [
    ...Array.from({ length: 18 }, () => "^(a+)+$"),
    // These take 250 ms each, until they are stopped.
    ...Array.from({ length: 2 }, () => "^(?=(a+)+$)"),
  ];
  const found: (readonly { readonly message: string }[])[] = [];
  const share = await ownShare(async () => found.push(...(await Promise.all(patterns.map(check)))));
  expect(share).toBeLessThan(0.5);
  for (const faults of found.slice(0, 18)) {
    expect(faults).toEqual([{ path: ["a"], message: 'must match pattern "^(a+)+$"' }]);
  }
  for (const faults of found.slice(18)) {
    expect(faults).toEqual([{ path: [], message: "takes too long to check against its schema" }]);
  }
  expect(log).toEqual([]);
  await pool.close();
});
