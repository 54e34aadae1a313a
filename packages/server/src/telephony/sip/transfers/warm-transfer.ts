/**
 * A warm transfer over SIP: a second call of the same agent to the person who is to take over, whose answer decides. Then
 * the two are connected by REFER with Replaces, or by a bridge of this service.
 */

import type { StartCallRequest } from "@parley/schema";
import { newestMessages } from "../../../store/calls/messages.ts";
import { messageOf } from "../../../pacing/error-text.ts";
import { reasonOf } from "../../not-created.ts";
import { CONVERSATION_MESSAGES_MAX, consultationPrompt } from "../../transfers/consultation-prompt.ts";
import type { Answer } from "./consultations.ts";
import { wordsOf } from "./sip-failures.ts";
import { note, type Attempt, type Connected, type SipTransferDeps } from "./sip-attempt.ts";

/** Ringing at the called person. */
const RING_LIMIT = "45s";
/** The conversation with them. */
const TALK_LIMIT = "200s";
/** Both, and the time between them; below the limit of the engine (300 s). */
const ANSWER_LIMIT_MS = 250_000;
/** The far side of the caller's call dials at once or not at all; then this service connects the two. */
const REPLACE_LIMIT_MS = 20_000;
/** The called person's side ends the replaced call by itself; a call that stays is ended after this. */
const REPLACED_LIMIT_MS = 5_000;

export async function warmTransfer(
  deps: SipTransferDeps,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<Connected> {
  const consulted = await consult(deps, attempt);
  if ("failure" in consulted) return consulted;
  const { callId, answer, forget } = consulted;
  try {
    const given = await Promise.race([answer, gone(attempt, signal), late()]);
    if (given.kind === "accepted") return await connect(attempt, given, signal);
    // A conversation that has refused ends by itself, after its last words.
    if (given.kind === "gone" || given.kind === "late") endConversation(deps, callId);
    return failureOf(given);
  } finally {
    forget();
  }
}

interface Consulted {
  readonly callId: string;
  readonly answer: Promise<Answer>;
  readonly forget: () => void;
}

async function consult(
  deps: SipTransferDeps,
  attempt: Attempt,
): Promise<Consulted | Extract<Connected, { readonly failure: string }>> {
  const { createCall, consultations } = deps;
  const { call, order } = attempt;
  const { accountId, callId: callerCallId } = call.owner;
  let expected: Omit<Consulted, "callId"> | null = null;
  const failed = (detail: string) => {
    expected?.forget();
    return { failure: "the person could not be called", detail };
  };
  try {
    const outcome = await createCall({
      accountId,
      agentId: null,
      request: await requestOf(deps, attempt),
      query: {},
      consultation: {
        callId: callerCallId,
        headers: order.inviteHeaders,
        dialling: (callId) => {
          expected = consultations.expect(callId);
        },
      },
    });
    if (outcome.kind !== "created") return failed(reasonOf(outcome));
    const { callId } = outcome;
    const { answer, forget } = expected ?? consultations.expect(callId);
    await note(deps, attempt, "sip.consulting", "the agent calls the person who is to take over", {
      consultationCallId: callId,
    });
    return { callId, answer, forget };
  } catch (error) {
    return failed(messageOf(error));
  }
}

async function requestOf({ db }: SipTransferDeps, { call, order }: Attempt): Promise<StartCallRequest> {
  const { accountId, callId } = call.owner;
  const { to, from, credentials } = order;
  const said = await newestMessages(db, accountId, callId, CONVERSATION_MESSAGES_MAX);
  return {
    systemPrompt: consultationPrompt(order.prompt, said),
    medium: { sip: { outgoing: { to, from, ...credentials } } },
    joinTimeout: RING_LIMIT,
    maxDuration: TALK_LIMIT,
    firstSpeakerSettings: { user: { fallback: { delay: "2s", prompt: OPENING } } },
    metadata: { transferOfCallId: callId },
  };
}

const OPENING = "Greet the person who has answered the phone, and say why you call.";

/** The caller has hung up, or their call was ended. */
function gone({ call }: Attempt, signal: AbortSignal): Promise<{ readonly kind: "gone" }> {
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  return Promise.race([call.over, aborted]).then(() => ({ kind: "gone" }) as const);
}

function late(): Promise<{ readonly kind: "late" }> {
  return new Promise((resolve) => {
    setTimeout(() => resolve({ kind: "late" }), ANSWER_LIMIT_MS).unref();
  });
}

type NoAnswer =
  Exclude<Answer, { readonly kind: "accepted" }> | { readonly kind: "gone" } | { readonly kind: "late" };

function failureOf(given: NoAnswer): Extract<Connected, { readonly failure: string }> {
  switch (given.kind) {
    case "refused": {
      const reason = given.reason === null ? "" : `: ${given.reason}`;
      return { failure: `the person does not take the call${reason}`, detail: "refused" };
    }
    case "failed": {
      const why = given.wasAnswered ? "the person has hung up" : wordsOf(given.termination);
      return { failure: why, detail: given.termination };
    }
    case "gone":
      return { failure: "the call has ended", detail: "" };
    case "late":
    default:
      return { failure: "the person has not decided in time", detail: "" };
  }
}

function endConversation({ liveCalls, transfers }: SipTransferDeps, callId: string): void {
  if (!liveCalls.endUnjoined(callId)) liveCalls.endCall(callId);
  transfers.callOf(callId)?.hangUp();
}

async function connect(
  { call, order }: Attempt,
  accepted: Extract<Answer, { readonly kind: "accepted" }>,
  signal: AbortSignal,
): Promise<Connected> {
  const { call: other } = accepted;
  // The agent ends what it says to the called person first.
  await accepted.left;
  if (other.isOver) return { failure: "the person has hung up", detail: "" };
  let detail = "";
  if (order.by !== "BRIDGE" && !call.isOver && !signal.aborted) {
    const outcome = await call.referTo(other, { headers: order.referHeaders, limitMs: REPLACE_LIMIT_MS });
    if (outcome.kind === "transferred") {
      setTimeout(() => other.hangUp(), REPLACED_LIMIT_MS).unref();
      return { by: "REFER" };
    }
    detail = `REFER: ${String(outcome.status)} ${outcome.reason}`;
  }
  if (order.by !== "REFER" && !signal.aborted && call.bridge(other)) return { by: "BRIDGE" };
  other.hangUp();
  return { failure: "the two could not be connected", detail };
}
