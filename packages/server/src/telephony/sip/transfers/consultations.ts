/**
 * Conversations with people who are to take over a caller, while their answer is awaited. The answer comes from the tools
 * of the conversation, from the key 1, or from the end of the call.
 */

import type { SipTermination, ToolOutcome } from "@parley/schema";
import type { SipCallListener } from "../../../ports/sip-calls.ts";
import type { SipTransfers, TransferableCall } from "../../../ports/sip/sip-transfers.ts";
import type { ToolInvocation } from "../../../ports/tool-invoker.ts";

/** The key by which the called person takes the call, as with carriers. */
const ACCEPTING_KEY = "1";
const REASON_CHARS_MAX = 500;

export type Answer =
  /** `left` resolves when the agent has left that conversation. */
  | { readonly kind: "accepted"; readonly call: TransferableCall; readonly left: Promise<void> }
  /** `reason` is what the model of the conversation says; null: nothing. */
  | { readonly kind: "refused"; readonly reason: string | null }
  | { readonly kind: "failed"; readonly termination: SipTermination; readonly wasAnswered: boolean };

export interface Consultations {
  /** Awaits the answer of the person who is called by this call. */
  expect(callId: string): { readonly answer: Promise<Answer>; readonly forget: () => void };
  /** The tools of a conversation. */
  answer(invocation: ToolInvocation): ToolOutcome;
  /** The same listener, which notices what happens to the awaited calls. */
  watched<Listener extends Pick<SipCallListener, "connected" | "failed" | "ended">>(
    listener: Listener,
  ): Listener;
}

interface Awaited {
  readonly answered: (answer: Answer) => void;
  wasConnected: boolean;
  isAnswered: boolean;
}

export interface ConsultationDeps {
  readonly transfers: Pick<SipTransfers, "callOf">;
  /** Ends the conversation of a person who has pressed the key. */
  readonly endConversation: (callId: string) => void;
}

export function openConsultations({ transfers, endConversation }: ConsultationDeps): Consultations {
  const awaited = new Map<string, Awaited>();
  const answer = (callId: string, given: Answer): boolean => {
    const open = awaited.get(callId);
    if (open === undefined || open.isAnswered) return false;
    open.isAnswered = true;
    open.answered(given);
    return true;
  };
  const accept = (callId: string): boolean => {
    const call = transfers.callOf(callId);
    if (call === null || awaited.get(callId)?.isAnswered !== false) return false;
    // From now on the end of the conversation does not end the call.
    return answer(callId, { kind: "accepted", call, left: call.keep() });
  };
  return {
    expect(callId) {
      const { promise, resolve } = Promise.withResolvers<Answer>();
      awaited.set(callId, { answered: resolve, wasConnected: false, isAnswered: false });
      return { answer: promise, forget: () => awaited.delete(callId) };
    },
    answer({ callId, implementation, values }) {
      const isAcceptance = implementation.kind === "builtIn" && implementation.builtIn === "acceptTransfer";
      const isKnown = isAcceptance
        ? accept(callId)
        : answer(callId, { kind: "refused", reason: reasonIn(values) });
      return isKnown ? LEAVE : NOBODY_WAITS;
    },
    watched: (listener) => ({
      ...listener,
      async connected(owner, open) {
        const isConnected = await listener.connected(owner, open);
        const entry = awaited.get(owner.callId);
        if (entry !== undefined && isConnected) {
          entry.wasConnected = true;
          transfers.callOf(owner.callId)?.onKey((key) => {
            if (key === ACCEPTING_KEY && accept(owner.callId)) endConversation(owner.callId);
          });
        }
        return isConnected;
      },
      failed(owner, termination, detail) {
        listener.failed(owner, termination, detail);
        answer(owner.callId, { kind: "failed", termination, wasAnswered: false });
      },
      ended(owner, termination, talkedMs) {
        listener.ended(owner, termination, talkedMs);
        const wasAnswered = awaited.get(owner.callId)?.wasConnected ?? false;
        answer(owner.callId, { kind: "failed", termination, wasAnswered });
      },
    }),
  };
}

const LEAVE: ToolOutcome = {
  kind: "completed",
  result: "",
  responseType: "hang-up",
  reaction: null,
  updateCallState: null,
};

const NOBODY_WAITS: ToolOutcome = {
  kind: "failed",
  cause: "error",
  text: "The tool failed: the caller is no longer waiting",
  errorDetails: "no transfer awaits the answer of this call",
};

function reasonIn(values: ToolInvocation["values"]): string | null {
  const value = values.find(({ name }) => name === "reason")?.value;
  return typeof value === "string" && value.trim() !== "" ? value.trim().slice(0, REASON_CHARS_MAX) : null;
}
