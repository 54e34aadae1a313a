/** The data connection as the engine sees it: there or not (D125). Its failures never end a call. */

import { agentState } from "./agent-state.ts";
import { recordEvent, sendToDataConnection } from "./call-events.ts";
import { update, type Draft } from "./draft.ts";
import type { CallEngineEventBody } from "./events.ts";
import type { CallPlan } from "./plan.ts";
import type { CallState, DataConnectionState } from "./state.ts";

type EventOf<T extends CallEngineEventBody["type"]> = Extract<CallEngineEventBody, { readonly type: T }>;

export function initialDataConnection(plan: CallPlan): DataConnectionState {
  // Plans that were stored before there were data connections have no such field.
  return (plan.dataConnection ?? null) === null ? "none" : "connecting";
}

/** Whether it can be spoken to now; an invocation of a tool over it waits for nothing else. */
export function isDataConnectionOpen(state: CallState): boolean {
  return state.dataConnection === "connected";
}

/** As the client is told at the join (D106): the call has started, the first state, then the rest. */
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
