/**
 * The data connection as the engine sees it: open or not. Its failures never end a call.
 * Rules R100 to R103 of SPEC.md.
 */

import { agentState } from "./agent-state.ts";
import { recordEvent, sendToDataConnection } from "../call-events.ts";
import { update, type Draft } from "../draft.ts";
import type { EventOf } from "../events.ts";
import type { CallPlan } from "../../plan/plan.ts";
import type { CallState, DataConnectionState } from "../state.ts";

export function initialDataConnection(plan: CallPlan): DataConnectionState {
  // Plans stored before data connections existed have no such field.
  return (plan.dataConnection ?? null) === null ? "none" : "connecting";
}

/** Whether it is open now; an invocation of a tool over it waits for nothing else. */
export function isDataConnectionOpen(state: CallState): boolean {
  return state.dataConnection === "connected";
}

/** The same order as for the client at the join: the call has started, the first state, then the rest. */
export function onDataConnectionOpened(draft: Draft): void {
  const { dataConnection, plan } = draft.state;
  if (dataConnection !== "connecting") return;
  update(draft, { dataConnection: "connected" });
  sendToDataConnection(draft, "callStarted", { type: "call_started", callId: plan.callId });
  sendToDataConnection(draft, "state", { type: "state", state: agentState(draft.state) });
  recordEvent(draft, {
    severity: "info",
    type: "data_connection.connected",
    text: "the data connection is open",
  });
}

export function onDataConnectionLost(
  draft: Draft,
  { detail, willRetry }: EventOf<"dataConnectionLost">,
): void {
  if (draft.state.dataConnection !== "connected") return;
  update(draft, { dataConnection: willRetry ? "connecting" : "failed" });
  recordEvent(draft, { severity: "warning", type: "data_connection.lost", text: detail });
}

export function onDataConnectionFailed(draft: Draft, { detail }: EventOf<"dataConnectionFailed">): void {
  const { dataConnection } = draft.state;
  if (dataConnection === "none") return;
  update(draft, { dataConnection: "failed" });
  recordEvent(draft, { severity: "warning", type: "data_connection.failed", text: detail });
}
