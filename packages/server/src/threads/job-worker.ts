/** Thread entry: runs jobs of modules that it loads when their first job comes. */

import { parentPort } from "node:worker_threads";
import { messageOf } from "../pacing/error-text.ts";
import type { FromJobThread, JobModule, ToJobThread } from "./job-protocol.ts";

function say(message: FromJobThread): void {
  parentPort?.postMessage(message, []);
}

async function handle({ id, module, input }: ToJobThread): Promise<void> {
  try {
    // Only modules that the pool names come here.
    const { run } = (await import(module)) as JobModule;
    say({ type: "began", id });
    say({ type: "done", id, output: run(input) });
  } catch (error) {
    say({ type: "failed", id, detail: messageOf(error) });
  }
}

parentPort?.on("message", (message: ToJobThread) => void handle(message));
say({ type: "ready" });
