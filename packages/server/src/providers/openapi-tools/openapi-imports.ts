/** Imports OpenAPI documents in a thread: some texts take minutes, and an ordinary document 30 ms. */

import type { ToolWrite } from "@parley/schema";
import type { OpenApiTools } from "../../ports/openapi-tools.ts";
import { inSlices } from "../../pacing/in-slices.ts";
import { type Job, JobLostError } from "../../threads/job-pool.ts";
import type { ImportOutput } from "./openapi-job.ts";

const MODULE = new URL("./openapi-job.ts", import.meta.url);
/**
 * Half a second for YAML, by the thread itself, and as much for the tools, which take 0.2 s at most. This is for a
 * machine that is busy.
 */
const JOB_LIMIT_MS = 5_000;

/** Rejects with `BusyError` when too many checks are waiting. */
export function openOpenApiImports(
  run: (job: Job) => Promise<unknown>,
): (accountId: string, bytes: Uint8Array) => Promise<OpenApiTools> {
  return async (accountId, bytes) => {
    let output: ImportOutput;
    try {
      output = (await run({
        accountId,
        module: MODULE,
        input: bytes,
        limitMs: JOB_LIMIT_MS,
      })) as ImportOutput;
    } catch (error) {
      if (!(error instanceof JobLostError)) throw error;
      return { errors: [{ field: "file", message: "takes too long to read, or too much memory" }] };
    }
    if ("errors" in output) return output;
    const tools: ToolWrite[] = [];
    // All of them have up to 4 MiB.
    await inSlices(output.tools, (text) => void tools.push(JSON.parse(text) as ToolWrite));
    return { tools };
  };
}
