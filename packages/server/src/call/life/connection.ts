/** The transport: join, loss, return, and faults of its media. Rules R2, R34, R161 and R162 of SPEC.md. */

import {
  MEDIA_NOTICE_EVERY_MS,
  recordEvent,
  recordEventAtMost,
  send,
  showState,
  warnOfStage,
} from "../call-events.ts";
import { agentState } from "./agent-state.ts";
import { emit, update, type Draft } from "../draft.ts";
import { CLOSE_REGULAR, endCall, endParting } from "./ending.ts";
import { showAnswerer } from "./answerer.ts";
import type { EventOf } from "../events.ts";
import { isTransferring } from "../tools/transfers.ts";

/** `call_started`, the first state, then everything else. */
export function join(draft: Draft, { debug, partials, keepsAudio }: EventOf<"joined">): void {
  const { plan, flags, clock } = draft.state;
  update(draft, {
    phase: { kind: "live" },
    clock: { ...clock, joinedAtMs: clock.atMs },
    flags: debug === true ? { ...flags, debug: true } : flags,
    ...(partials === true ? { partials: { ...draft.state.partials, asked: true } } : {}),
  });
  withClearing(draft, keepsAudio);
  emit(draft, { type: "recordJoined" });
  send(draft, "callStarted", { type: "call_started", callId: plan.callId });
  showState(draft, "listening");
  recordEvent(draft, { severity: "info", type: "call.joined", text: "the call was joined" }, true);
  warnOfStage(draft, plan.stage);
  showAnswerer(draft);
}

/** A call may change between connections that hold audio and others. */
export function withClearing(draft: Draft, keepsAudio = false): void {
  const { plan, flags } = draft.state;
  const playbackClearBuffer = keepsAudio || plan.dataMessages.playbackClearBuffer;
  if (flags.playbackClearBuffer !== playbackClearBuffer)
    update(draft, { flags: { ...flags, playbackClearBuffer } });
}

/** It may come back within the grace period; during last words no listener is left. */
export function onTransportLost(draft: Draft, { graceMs }: EventOf<"transportLost">): void {
  const { phase, connection } = draft.state;
  if (phase.kind === "parting") endParting(draft);
  else if (connection.kind === "connected") {
    const losses = connection.losses + 1;
    const inTransfer = isTransferring(draft.state) ? ({ inTransfer: true } as const) : {};
    const grace = graceMs === undefined ? {} : { graceMs };
    update(draft, { connection: { kind: "lost", losses, ...grace, ...inTransfer } });
  }
}

/** While the user is transferred, the medium itself has taken the transport away. */
export function onTransportHungUp(draft: Draft): void {
  if (draft.state.phase.kind === "live" && isTransferring(draft.state))
    onTransportLost(draft, { type: "transportLost", atMs: draft.state.clock.atMs });
  else endCall(draft, "hangup", CLOSE_REGULAR, null);
}

/** Nobody has come back within the grace. */
export function onReconnectTimer(draft: Draft): void {
  if (draft.state.connection.inTransfer === true)
    endCall(draft, "hangup", CLOSE_REGULAR, "the user did not come back from a transfer");
  else endCall(draft, "connection_error", CLOSE_REGULAR, "the connection did not come back");
}

export function onTransportRestored(draft: Draft, { keepsAudio }: EventOf<"transportRestored">): void {
  const { connection } = draft.state;
  if (connection.kind === "connected") return;
  update(draft, { connection: { kind: "connected", losses: connection.losses } });
  withClearing(draft, keepsAudio);
  showState(draft, agentState(draft.state), true);
  recordEvent(draft, {
    severity: "info",
    type: "media.reconnected",
    text: "the transport is connected again",
  });
}

/** `type` and `detail` come from closed lists; each pair has its own warning. */
export function noteMedia(draft: Draft, type: string, text: string, detail = ""): void {
  recordEventAtMost(draft, MEDIA_NOTICE_EVERY_MS, `${type} ${detail}`, { severity: "warning", type, text });
}
