/** The tool results that a call waits for and that come as data messages. */

import { DEFAULT_CLIENT_MESSAGES, type ClientDataMessage } from "@parley/schema";
import { levelOf } from "../life/message-rights.ts";
import type { CallState } from "../state.ts";
import { callsOf, toolNamed } from "./round.ts";

export type ToolResultMessage = Extract<
  ClientDataMessage,
  { readonly type: "client_tool_result" | "data_connection_tool_result" }
>;

export interface AwaitedResult {
  readonly invocationId: string;
  readonly type: ToolResultMessage["type"];
}

/** Each of them is answered by its first result, which a client may not be refused. */
export function awaitedResults(
  state: CallState,
  source: "client" | "dataConnection",
): readonly AwaitedResult[] {
  const running = callsOf(state).filter(({ progress }) => progress.kind === "running");
  const open = [...running, ...state.unawaitedTools];
  const results = open.flatMap(({ invocationId, toolName }): AwaitedResult[] => {
    const kind = toolNamed(state, toolName)?.implementation.kind;
    if (kind === "client") return [{ invocationId, type: "client_tool_result" }];
    return kind === "dataConnection" ? [{ invocationId, type: "data_connection_tool_result" }] : [];
  });
  if (levelOf(state.plan, source) === DEFAULT_CLIENT_MESSAGES) return results;
  return results.filter(({ type }) => type === "client_tool_result");
}
