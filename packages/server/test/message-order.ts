/** Checks the order of messages that clients rely on. */

import type { CallClient } from "../src/runner/testing/call-client.ts";

interface OpenUtterance {
  readonly ordinal: number;
  readonly text: string;
}

/**
 * What is wrong with the messages of a call from its join on: `call_started` and a state come first, no state is
 * repeated, `speaking` follows `thinking` or a pause, ordinals ascend from 0 without gaps, and each utterance of the
 * agent grows from its first text by its deltas to its final text before the next begins. Empty: no error.
 */
export function orderFaults({ messages }: CallClient): readonly string[] {
  const faults: string[] = [];
  if (messages[0]?.message.type !== "call_started") faults.push("call_started is not first");
  if (messages[1]?.message.type !== "state") faults.push("no state after call_started");
  let open = null as OpenUtterance | null;
  let next = 0;
  let state = "none";
  for (const { message } of messages) {
    if (message.type === "state") {
      const from = state;
      state = message.state;
      if (from === state) faults.push(`state ${state} is repeated`);
      if (state === "speaking" && from === "idle") faults.push("speaking out of idle");
    }
    if (message.type !== "transcript") continue;
    const { ordinal, text, delta, final, role } = message;
    const at = `ordinal ${String(ordinal)}: `;
    if (open !== null && open.ordinal !== ordinal && role === "agent")
      faults.push(`${at}two utterances at once`);
    if (ordinal !== open?.ordinal) {
      if (ordinal !== next) faults.push(`${at}${String(next)} was to come`);
      next = ordinal + 1;
      if (text === undefined || text === "") faults.push(`${at}begins without text`);
    } else if (final && text !== open.text)
      faults.push(`${at}the final text is not the sum of what was shown`);
    if (role === "user") {
      if (!final) faults.push(`${at}a user's utterance that is not final`);
      continue;
    }
    const before: string = ordinal === open?.ordinal ? open.text : "";
    open = final ? null : { ordinal, text: text ?? before + (delta ?? "") };
  }
  if (open !== null) faults.push("the last utterance has no final message");
  return faults;
}
