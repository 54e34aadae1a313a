import { expect, it } from "vitest";
import { JobPool, JobLostError } from "../../threads/job-pool.ts";
import { startJobThread } from "../../threads/job-thread.ts";
import { ownShare } from "../../threads/testing/own-share.ts";
import { openOpenApiImports } from "./openapi-imports.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

it("reads documents in a thread, also those that take as long as one likes", async () => {
  const pool = new JobPool({ start: startJobThread, log: () => undefined });
  const read = openOpenApiImports(pool.run);
  const usual = read(
    "other",
    bytesOf(
      "openapi: 3.1.0\nservers: [{url: 'https://api.example'}]\npaths: {/a: {get: {operationId: read}}}",
    ),
  );
  // Half a second, until it is stopped.
  const share = await ownShare(async () => {
    expect(await read("account", bytesOf("? ".repeat(20_000)))).toEqual({
      errors: [{ field: "file", message: "takes too long to read as YAML: send the document as JSON" }],
    });
  });
  expect(await usual).toMatchObject({
    tools: [{ name: "read", definition: { http: { httpMethod: "GET" } } }],
  });
  expect(share).toBeLessThan(0.5);
  await pool.close();
});

it("says so when the thread was ended with the document", async () => {
  const read = openOpenApiImports(() => Promise.reject(new JobLostError("out of memory")));
  expect(await read("account", bytesOf("{}"))).toEqual({
    errors: [{ field: "file", message: "takes too long to read, or too much memory" }],
  });
});
