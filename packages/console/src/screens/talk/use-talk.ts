/** The phases of a conversation: microphone, call, join, end. */

import { type Call, CallError, joinCall, type CallEnd } from "@parley/client";
import type { RestClient } from "@parley/client/rest";
import { useCallback, useEffect, useRef, useState } from "react";
import { useApi, useStale } from "../../data/api.tsx";
// oxlint-disable-next-line import/default -- from the bundler: the URL of that file as a separate script
import workletUrl from "./call-worklet.ts?worker&url";
import { FeedStore } from "./feed-store.ts";
import { openChosen } from "./microphones.ts";
import { bodyOf, NOTE_TOOL, SOCKET_RATES, type TalkPlan } from "./talk-plan.ts";

export interface Conversation {
  readonly call: Call;
  readonly callId: string;
  readonly agentName: string;
  /** The agent speaks first. */
  readonly agentOpens: boolean;
  readonly feed: FeedStore;
  /** By this page's clock. */
  readonly joinedAtMs: number;
  /** Whether the microphone works, or a message why it does not. */
  readonly hears: boolean;
  readonly refusal: string | null;
}

/** The current step. */
export type Step = "microphone" | "call" | "join";

export type Phase =
  /** `error`: from the last attempt, null without an error. */
  | { readonly kind: "setup"; readonly error: unknown }
  | { readonly kind: "starting"; readonly step: Step }
  | { readonly kind: "talking"; readonly conversation: Conversation }
  | {
      readonly kind: "over";
      readonly conversation: Conversation;
      readonly end: CallEnd;
      readonly lengthMs: number;
    };

export interface Talk {
  readonly phase: Phase;
  /** Never rejects: errors are in the phase. */
  readonly start: (plan: TalkPlan) => Promise<void>;
  /** Aborts an attempt, or hangs up. */
  readonly stop: () => void;
  /** Back to the settings. */
  readonly reset: () => void;
}

interface Attempt {
  readonly aborter: AbortController;
  call: Call | null;
}

export function useTalk(): Talk {
  const api = useApi();
  const makeStale = useStale();
  const [phase, setPhase] = useState<Phase>({ kind: "setup", error: null });
  const current = useRef<Attempt | null>(null);

  const reset = useCallback(() => setPhase({ kind: "setup", error: null }), []);
  const stop = useCallback(() => {
    const attempt = current.current;
    attempt?.aborter.abort();
    if (attempt?.call !== null) attempt?.call.leave();
    else {
      current.current = null;
      reset();
    }
  }, [reset]);
  const start = useCallback(
    async (plan: TalkPlan) => {
      if (current.current !== null) return;
      const attempt: Attempt = { aborter: new AbortController(), call: null };
      current.current = attempt;
      const isCurrent = () => current.current === attempt;
      const tell = (step: Step) => {
        if (isCurrent()) setPhase({ kind: "starting", step });
      };
      try {
        const conversation = await begin(api, plan, attempt.aborter.signal, tell);
        if (!isCurrent()) {
          conversation.call.leave();
          return;
        }
        attempt.call = conversation.call;
        setPhase({ kind: "talking", conversation });
        conversation.call.on("over", (end) => {
          current.current = null;
          const lengthMs = performance.now() - conversation.joinedAtMs;
          setPhase({ kind: "over", conversation, end, lengthMs });
          void makeStale("/api/calls", "/api/agents");
        });
      } catch (error) {
        // No error after an abort or after leaving the page.
        if (!isCurrent()) return;
        current.current = null;
        setPhase({ kind: "setup", error });
      }
    },
    [api, makeStale],
  );
  useEffect(
    () => () => {
      const attempt = current.current;
      current.current = null;
      attempt?.aborter.abort();
      attempt?.call?.leave();
    },
    [],
  );
  return { phase, start, stop, reset };
}

/** @throws ParleyError, CallError or the signal's reason; then nothing stays open */
async function begin(
  api: RestClient,
  plan: TalkPlan,
  signal: AbortSignal,
  tell: (step: Step) => void,
): Promise<Conversation> {
  // Before the call is created: its join timeout is half a minute, and users need time for the browser's question.
  tell("microphone");
  const { track, refusal } = await openChosen(plan.microphone);
  try {
    signal.throwIfAborted();
    tell("call");
    const params = { agent_id: plan.agentId };
    const made = await api.fetch("POST", "/api/agents/{agent_id}/calls", {
      params,
      // Its billing status says so.
      query: { madeInConsole: true },
      body: bodyOf(plan),
      signal,
    });
    if (made.joinUrl === null) throw new CallError("bad_join_url", "The call has no join URL.");
    tell("join");
    const feed = new FeedStore();
    const call = await joinCall(made.joinUrl, {
      microphone: track ?? false,
      signal,
      workletUrl,
      clientVersion: "parley-console",
      ...(plan.withNotes ? { tools: { [NOTE_TOOL]: feed.showNote } } : {}),
      ...(plan.medium === "serverWebSocket" ? { sampleRates: SOCKET_RATES } : {}),
    });
    feed.follow(call);
    // We opened the track, so we stop it.
    if (track !== null) call.on("over", () => track.stop());
    return {
      call,
      callId: made.callId,
      agentName: made.agent?.name ?? "The agent",
      agentOpens: made.firstSpeaker === "FIRST_SPEAKER_AGENT",
      feed,
      joinedAtMs: performance.now(),
      hears: track !== null,
      refusal,
    };
  } catch (error) {
    track?.stop();
    throw error;
  }
}
