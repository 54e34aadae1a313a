/** The transport: joined, lost and back, and what is wrong with its media. */

import { MEDIA_NOTICE_EVERY_MS, recordEvent, recordEventAtMost, send, showState } from "./call-events.ts";
import { agentState } from "./agent-state.ts";
import { emit, update, type Draft } from "./draft.ts";
import { endParting } from "./ending.ts";

/** D106: `call_started`, the first state, then everything else. */
export function join(draft: Draft, debugAsked: boolean): void {
  const { plan, flags, clock } = draft.state;
  update(draft, {
    phase: { kind: "live" },
    clock: { ...clock, joinedAtMs: clock.atMs },
    flags: debugAsked ? { ...flags, debug: true } : flags,
  });
  emit(draft, { type: "recordJoined" });
  send(draft, "callStarted", { type: "call_started", callId: plan.callId });
  showState(draft, "listening");
  recordEvent(draft, { severity: "info", type: "call.joined", text: "the call was joined" }, true);
}

/** It may come back for a while; during last words nobody is left to hear them. */
export function onTransportLost(draft: Draft): void {
  const { phase, connection } = draft.state;
  if (phase.kind === "parting") endParting(draft);
  else if (connection.kind === "connected") {
    update(draft, { connection: { kind: "lost", losses: connection.losses + 1 } });
  }
}

export function onTransportRestored(draft: Draft): void {
  const { connection } = draft.state;
  if (connection.kind === "connected") return;
  update(draft, { connection: { ...connection, kind: "connected" } });
  showState(draft, agentState(draft.state), true);
  recordEvent(draft, {
    severity: "info",
    type: "media.reconnected",
    text: "the transport is connected again",
  });
}

/** `type` and `detail` come from closed lists; each pair is warned of by itself. */
export function noteMedia(draft: Draft, type: string, text: string, detail = ""): void {
  recordEventAtMost(draft, MEDIA_NOTICE_EVERY_MS, `${type} ${detail}`, { severity: "warning", type, text });
}
