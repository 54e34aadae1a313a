/** Hooks for React pages. They need only `react`. */

import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { Levels } from "./audio/sound.ts";
import type { Call, CallEnd, CallEvents, CallStatus } from "./call/call.ts";
import { asCallError, type CallError } from "./call/call-error.ts";
import { joinCall, type JoinOptions } from "./call/join-call.ts";
import type { AgentState } from "./call/messages.ts";
import type { Transcript } from "./call/transcripts.ts";

export interface CallHook {
  /** Null before it is joined. After its end it stays until the next call, for its transcripts. */
  readonly call: Call | null;
  /** `idle`: no call yet, or joining failed. */
  readonly status: "idle" | "joining" | CallStatus;
  /** Why joining failed, or why the call was lost. */
  readonly error: CallError | null;
  readonly end: CallEnd | null;
  /**
   * Joins a call, and leaves the current one or its attempt. The URL may be a promise, for example of a request that
   * creates the call. Never rejects: see `error`.
   */
  readonly join: (joinUrl: string | Promise<string>, options?: JoinOptions) => Promise<Call | null>;
  /** Leaves the call, or aborts the attempt. */
  readonly leave: () => void;
}

/** One call at a time; it is left when the component unmounts. */
export function useCall(): CallHook {
  const [call, setCall] = useState<Call | null>(null);
  const [joining, setJoining] = useState(false);
  const [failure, setFailure] = useState<CallError | null>(null);
  const current = useRef<{ readonly attempt: AbortController; call: Call | null } | null>(null);

  const leave = useCallback(() => {
    current.current?.attempt.abort();
    current.current?.call?.leave();
    current.current = null;
    setJoining(false);
  }, []);

  const join = useCallback(
    async (joinUrl: string | Promise<string>, options: JoinOptions = {}): Promise<Call | null> => {
      leave();
      const own = { attempt: new AbortController(), call: null as Call | null };
      current.current = own;
      setJoining(true);
      setFailure(null);
      try {
        const { signal } = own.attempt;
        const either = options.signal === undefined ? signal : AbortSignal.any([signal, options.signal]);
        const joined = await joinCall(await joinUrl, { ...options, signal: either });
        if (current.current !== own) {
          joined.leave();
          return null;
        }
        own.call = joined;
        setCall(joined);
        return joined;
      } catch (error) {
        // An aborted attempt has no error.
        if (current.current === own)
          setFailure(asCallError(error, "network", "The call could not be joined."));
        return null;
      } finally {
        if (current.current === own) setJoining(false);
      }
    },
    [leave],
  );

  useEffect(() => leave, [leave]);

  const status = useCallValue(call, "status", (one) => one.status, "idle");
  const end = useCallValue(call, "over", (one) => one.end, null);
  return useMemo(
    () => ({
      call,
      status: joining ? "joining" : failure === null ? status : "idle",
      error: failure ?? end?.error ?? null,
      end,
      join,
      leave,
    }),
    [call, joining, failure, status, end, join, leave],
  );
}

/** All utterances, newest last. */
export function useTranscripts(call: Call | null): readonly Transcript[] {
  return useCallValue(call, "transcripts", (one) => one.transcripts, NONE);
}

/** What the agent is doing. */
export function useAgentState(call: Call | null): AgentState {
  return useCallValue(call, "state", (one) => one.state, "idle");
}

/** Whether the browser blocks audio until a click; then call `startAudio` from one. */
export function useAudioBlocked(call: Call | null): boolean {
  return useCallValue(call, "audioBlocked", (one) => one.audioIsBlocked, false);
}

/** What is muted. */
export function useMuted(call: Call | null): CallEvents["muted"] {
  const microphone = useCallValue(call, "muted", (one) => one.microphoneMuted, false);
  const output = useCallValue(call, "muted", (one) => one.outputMuted, false);
  return useMemo(() => ({ microphone, output }), [microphone, output]);
}

const NONE: readonly Transcript[] = [];
const SILENCE: Levels = { input: 0, output: 0 };
/** Fifteen times a second: smooth meters, with time left for the page. */
const LEVELS_EVERY_MS = 66;
/** Smaller changes cannot be seen. */
const LEVEL_STEPS = 200;

/** How loud both sides are, for meters. */
export function useLevels(call: Call | null, everyMs: number = LEVELS_EVERY_MS): Levels {
  const [levels, setLevels] = useState(SILENCE);
  useEffect(() => {
    if (call === null) return undefined;
    const timer = setInterval(() => {
      const { input, output } = call.status === "over" ? SILENCE : call.levels();
      const next = { input: stepped(input), output: stepped(output) };
      setLevels((before) => (before.input === next.input && before.output === next.output ? before : next));
    }, everyMs);
    return () => {
      clearInterval(timer);
      setLevels(SILENCE);
    };
  }, [call, everyMs]);
  return levels;
}

function stepped(level: number): number {
  return Math.round(level * LEVEL_STEPS) / LEVEL_STEPS;
}

/** A value of the call that changes with its events. It must be stable between changes. */
function useCallValue<Value>(
  call: Call | null,
  name: keyof CallEvents,
  read: (call: Call) => Value,
  without: Value,
): Value {
  const subscribe = useCallback(
    (changed: () => void) => call?.on(name, changed) ?? (() => undefined),
    [call, name],
  );
  return useSyncExternalStore(
    subscribe,
    () => (call === null ? without : read(call)),
    () => without,
  );
}
