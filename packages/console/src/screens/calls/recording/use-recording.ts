/** The state of a call's recording, and the recording itself. */

import { ParleyError } from "@parley/client/rest";
import type { Call } from "@parley/schema";
import { useEffect, useState } from "react";
import { useSignedIn } from "../../../data/api.tsx";
import { refusalOf } from "../../../data/refusal.ts";
import {
  lengthOf,
  LOADED_UNASKED_BYTES,
  type LoadedRecording,
  MAX_LOADED_BYTES,
  readRecording,
} from "./recording.ts";

export type RecordingState =
  | { readonly kind: "none"; readonly title: string; readonly text: string }
  | { readonly kind: "loading"; readonly doneBytes: number; readonly totalBytes: number | null }
  /** Long, or too long for the page: single lines can be played. */
  | { readonly kind: "long"; readonly bytes: number; readonly load: (() => void) | null }
  /** In external storage that this page cannot read: single lines can be played, because the service returns them. */
  | { readonly kind: "elsewhere" }
  | { readonly kind: "failed"; readonly error: unknown; readonly retry: () => void }
  | { readonly kind: "ready"; readonly recording: LoadedRecording };

type Recorded = Pick<Call, "callId" | "recordingEnabled" | "joined" | "ended">;

/** States that need no request. */
function plainly({ recordingEnabled, joined, ended }: Recorded): RecordingState | null {
  if (!recordingEnabled) {
    const text = "Recording was turned off for this call. You can turn it on in the settings of the agent.";
    return { kind: "none", title: "Not recorded", text };
  }
  if (ended === null) {
    const text = "The recording is available after the call.";
    return { kind: "none", title: joined === null ? "Nothing recorded yet" : "Recording in progress", text };
  }
  if (joined === null) {
    return {
      kind: "none",
      title: "No recording",
      text: "Nobody joined this call, so nothing was recorded.",
    };
  }
  return null;
}

const MISSING: RecordingState = {
  kind: "none",
  title: "Recording not found",
  text:
    "Recording was on, but this service has no recording of the call. It could not be written, or it is on the disk " +
    "of another node.",
};

export function useRecording(call: Recorded): RecordingState {
  const { send } = useSignedIn();
  const { callId } = call;
  const known = plainly(call);
  const wanted = known === null;
  const [state, setState] = useState<RecordingState>({ kind: "loading", doneBytes: 0, totalBytes: null });
  const [attempt, setAttempt] = useState({ number: 0, long: false });
  useEffect(() => {
    if (!wanted) return undefined;
    const given = new AbortController();
    const show = (next: RecordingState) => {
      if (!given.signal.aborted) setState(next);
    };
    const again = (long: boolean) => () => {
      setState({ kind: "loading", doneBytes: 0, totalBytes: null });
      setAttempt(({ number }) => ({ number: number + 1, long }));
    };
    const load = async () => {
      // The service may redirect to external storage: the API key is not sent there, and the page's policy blocks it.
      const asked = { signal: given.signal, redirect: "manual" } as const;
      const answer = await send("GET", `/api/calls/${callId}/recording`, asked);
      if (answer.type === "opaqueredirect") {
        show({ kind: "elsewhere" });
        return;
      }
      if (!answer.ok) throw await refusalOf(answer);
      const totalBytes = lengthOf(answer);
      if (totalBytes !== null && totalBytes > (attempt.long ? MAX_LOADED_BYTES : LOADED_UNASKED_BYTES)) {
        show({ kind: "long", bytes: totalBytes, load: totalBytes > MAX_LOADED_BYTES ? null : again(true) });
        await answer.body?.cancel();
        return;
      }
      show({ kind: "loading", doneBytes: 0, totalBytes });
      const recording = await readRecording(answer, (doneBytes) =>
        show({ kind: "loading", doneBytes, totalBytes }),
      );
      show({ kind: "ready", recording });
    };
    load().catch((error: unknown) => {
      const missing = error instanceof ParleyError && error.status === 404;
      show(missing ? MISSING : { kind: "failed", error, retry: again(attempt.long) });
    });
    return () => given.abort();
  }, [send, callId, wanted, attempt]);
  return known ?? state;
}
