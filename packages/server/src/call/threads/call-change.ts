/** What only the thread with audio may do. Rule R126 of SPEC.md. */

import type { Draft } from "../draft.ts";
import { failCall } from "../tools/round.ts";
import { failed } from "../tools/run.ts";
import type { ToolCall } from "../tools/tool-state.ts";
import { warnOfThread } from "./thread-draft.ts";

export function refuseCallChange(
  draft: Draft,
  call: ToolCall,
  threadId: string,
  what: "end the call" | "begin a stage" | "play tones" | "transfer the call",
): void {
  const type = "thread_comms.unsupported_call_change";
  warnOfThread(draft, type, threadId, `the thread ${threadId} cannot ${what}`);
  failCall(draft, call, failed(`a side thread cannot ${what}`));
}
