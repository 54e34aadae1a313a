/** The conversation with the person to whom a caller is transferred: a dialled call of its own, by the same agent. */

import { formatDurationMs, type ConfiguredCarrier } from "@parley/schema";
import type { CreateCallInput, NotCreated } from "../../lifecycle/api.ts";
import { newestMessages } from "../../store/calls/messages.ts";
import type { DialResult, DialledCall } from "../../store/telephony/carrier-dials.ts";
import { readDialledCalls } from "../../store/telephony/carrier-dials.ts";
import type { Attempt, TransferDeps } from "./attempts.ts";
import { reasonOf } from "../not-created.ts";
import { CONVERSATION_MESSAGES_MAX, consultationPrompt } from "./consultation-prompt.ts";

/** How long the other phone rings. Twilio adds 5 s. */
export const RING_MS = 30_000;
/** The longest conversation after a transfer: the longest that all carriers take. */
export const LONGEST_TALK_MS = 14_400_000;
/** From the answer to the decision. The caller is on hold for as long. */
const CONSULTATION_MS = 240_000;
/** The carrier detects machines, and its own limit holds for the time after the transfer as well. */
const CARRIER_PARAMS: Readonly<Record<ConfiguredCarrier, Readonly<Record<string, unknown>>>> = {
  telephony1: { MachineDetection: "Enable", TimeLimit: LONGEST_TALK_MS / 1000 },
  telephony2: { MachineDetection: "Enable", TimeLimit: LONGEST_TALK_MS / 1000 },
  telephony3: { machine_detection: "true", time_limit: LONGEST_TALK_MS / 1000 },
};

/** Dials the called person. */
export async function beginConsultation(
  deps: TransferDeps,
  attempt: Attempt,
): Promise<{ readonly callId: string } | { readonly problem: string }> {
  const { accountId, callId, order } = attempt;
  const said = await newestMessages(deps.db, accountId, callId, CONVERSATION_MESSAGES_MAX);
  const systemPrompt = consultationPrompt(order.consultation?.prompt ?? "", said);
  const outcome = await deps.createCall(inputOf(deps, attempt, systemPrompt));
  return outcome.kind === "created" ? outcome : { problem: problemOf(outcome) };
}

function inputOf({ callLimits }: TransferDeps, attempt: Attempt, systemPrompt: string): CreateCallInput {
  const { accountId, callId, carried, order } = attempt;
  const { address: to, callerId: from } = order.target;
  const outgoing = { to, from: from ?? "", additionalParams: CARRIER_PARAMS[carried.carrier] };
  return {
    accountId,
    agentId: null,
    request: {
      systemPrompt,
      medium: { [carried.carrier]: { outgoing } },
      joinTimeout: formatDurationMs(Math.min(RING_MS, callLimits.joinTimeoutMs)),
      maxDuration: formatDurationMs(Math.min(CONSULTATION_MS, callLimits.maxDurationMs)),
      firstSpeakerSettings: { agent: {} },
      metadata: { transferOfCallId: callId },
    },
    query: {},
    // A carrier dials with the request alone, and its call is known by its id.
    consultation: { callId, headers: [], dialling: () => undefined },
  };
}

function problemOf(outcome: NotCreated): string {
  if (!("limit" in outcome)) return reasonOf(outcome);
  const day = outcome.limit === "dialled calls" || outcome.limit === "dialled minutes";
  return `the account's limit of ${outcome.limit}${day ? " within 24 hours" : ""} is reached`;
}

export const MACHINE = "a machine has answered";

/** Why a call to the target has ended without a conversation, in the words that the model gets. */
const FAILURES: Readonly<Record<DialResult, string>> = {
  completed: "the called person has hung up",
  busy: "the line was busy",
  no_answer: "nobody answered",
  failed: "the carrier could not connect the call",
  canceled: "the attempt was canceled",
  machine: MACHINE,
  refused: "the carrier could not connect the call",
};

/** Why the conversation cannot lead to a transfer any more; null: it goes on. */
export async function consultationFailure(
  { db }: Pick<TransferDeps, "db">,
  consultCallId: string,
): Promise<string | null> {
  const [dial] = await readDialledCalls(db, [consultCallId]);
  return dial === undefined ? FAILURES.failed : failureOf(dial);
}

/** Exported for tests. */
export function failureOf(dial: Omit<DialledCall, "callId">): string | null {
  const { result, answeredBy, isJoined, isOver } = dial;
  if (answeredBy !== null && /machine|fax/i.test(answeredBy)) return MACHINE;
  if (result !== null) return FAILURES[result];
  if (!isOver) return null;
  // The carrier has not said yet who has ended it; it may also have reached its limit.
  return isJoined ? "the conversation with the called person is over" : FAILURES.no_answer;
}

/** Ends the conversation, with a sentence where somebody listens. */
export function endConsultation(
  { liveCalls }: Pick<TransferDeps, "liveCalls">,
  consultCallId: string,
  sentence: string,
): void {
  if (liveCalls.endUnjoined(consultCallId)) return;
  const message = { type: "hang_up", message: sentence } as const;
  if (sentence === "" || liveCalls.sendToCall(consultCallId, message) !== "accepted")
    liveCalls.endCall(consultCallId);
}
