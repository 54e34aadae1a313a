/**
 * Transfers of the user to another person. A carrier disconnects the user while it dials, so there is no transport until
 * the transfer has its result. Over SIP the transport stays. Rules R160 to R163, R168 and R174 of SPEC.md.
 */

import type { CallState } from "../state.ts";
import type { ToolPlan } from "../../plan/tool-plan.ts";
import { callsOf, toolNamed } from "./round.ts";
import type { ToolCall } from "./tool-state.ts";

/** Ringing, the question to the other side, and the answers of the carrier. The timeout of the tool does not count. */
export const TRANSFER_LIMIT_MS = 120_000;
/** The same of a warm transfer, in which the agent talks with the called person. */
export const WARM_TRANSFER_LIMIT_MS = 300_000;
/** A carrier whose transfer has failed connects the user again within seconds. */
export const TRANSFER_RETURN_LIMIT_MS = 15_000;

export function isTransfer(tool: ToolPlan | null): boolean {
  if (tool?.implementation.kind !== "builtIn") return false;
  const { builtIn } = tool.implementation;
  // The last one takes the called person of a warm transfer to the caller, who waits (R168).
  return builtIn === "coldTransfer" || builtIn === "warmTransfer" || builtIn === "acceptTransfer";
}

/** How long an invocation of the tool may take. */
export function timeLimitOf(tool: ToolPlan): number {
  if (!isTransfer(tool)) return tool.timeoutMs;
  const { implementation } = tool;
  const isWarm = implementation.kind === "builtIn" && implementation.builtIn === "warmTransfer";
  return isWarm ? WARM_TRANSFER_LIMIT_MS : TRANSFER_LIMIT_MS;
}

/** Whether the user is being transferred, or has been, so that a transport that ends is no hang-up. */
export function isTransferring(state: CallState): boolean {
  // The service itself holds the transport of a SIP call, so its end is the user's.
  if (state.plan.medium.kind === "sip") return false;
  return callsOf(state).some((call) => isTransfer(toolNamed(state, call.toolName)) && isUnderWay(call));
}

/** A transfer that has succeeded ends the call once its round is complete. */
function isUnderWay({ progress }: ToolCall): boolean {
  if (progress.kind === "answered") return progress.answer.consequence?.kind === "hangUp";
  return progress.kind === "running";
}
