/** One audio player for the page of a call, controlled by the waveform, the transcript and the keyboard. */

import type { Message } from "@parley/schema";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { useSignedIn } from "../../../data/api.tsx";
import { refusalOf } from "../../../data/refusal.ts";
import { useToast } from "../../../ui/toast.tsx";
import type { RecordingState } from "./use-recording.ts";

export interface Playback {
  readonly state: RecordingState;
  readonly audio: HTMLAudioElement;
  /** The URL of the whole recording; null: not loaded. */
  readonly url: string | null;
  /** Plays from a time; null: not possible. */
  readonly playAt: ((ms: number) => void) | null;
  /** Plays one line; null: there is no recording, or the whole recording is loaded. */
  readonly playLine: ((message: Message) => void) | null;
}

const PlaybackContext = createContext<Playback | null>(null);

export function usePlayback(): Playback {
  const playback = useContext(PlaybackContext);
  if (playback === null) throw new Error("This part needs a recording around it.");
  return playback;
}

export interface PlaybackProviderProps {
  readonly callId: string;
  readonly state: RecordingState;
  readonly children: ReactNode;
}

export function PlaybackProvider({ callId, state, children }: PlaybackProviderProps) {
  const [audio] = useState(() => new Audio());
  const blob = state.kind === "ready" ? state.recording.blob : null;
  const url = useSource(audio, blob);
  const start = useStart(audio);
  const playPart = usePart(callId, audio, start);
  const playAt = useCallback(
    (ms: number) => {
      audio.currentTime = ms / 1000;
      start();
    },
    [audio, start],
  );
  useKeys(audio, url !== null);
  const playback = useMemo<Playback>(
    () => ({
      state,
      audio,
      url,
      playAt: url === null ? null : playAt,
      playLine: state.kind === "long" || state.kind === "elsewhere" ? playPart : null,
    }),
    [state, audio, url, playAt, playPart],
  );
  return <PlaybackContext value={playback}>{children}</PlaybackContext>;
}

function useSource(audio: HTMLAudioElement, blob: Blob | null): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (blob === null) return undefined;
    const made = URL.createObjectURL(blob);
    audio.src = made;
    setUrl(made);
    return () => {
      setUrl(null);
      silence(audio);
      URL.revokeObjectURL(made);
    };
  }, [audio, blob]);
  // Playback continues while the page is open.
  useEffect(() => () => silence(audio), [audio]);
  return url;
}

function silence(audio: HTMLAudioElement): void {
  audio.pause();
  audio.removeAttribute("src");
}

function useStart(audio: HTMLAudioElement): () => void {
  const toast = useToast();
  return useCallback(() => {
    audio.play().catch((error: unknown) => {
      // Another line was requested before this one started.
      if (error instanceof DOMException && error.name === "AbortError") return;
      toast(error instanceof Error ? error.message : String(error), "failed");
    });
  }, [audio, toast]);
}

/** Loads one line of a recording that is too long for the page. */
function usePart(callId: string, audio: HTMLAudioElement, start: () => void) {
  const { send } = useSignedIn();
  const toast = useToast();
  const wanted = useRef(0);
  const source = useRef("");
  useEffect(() => () => URL.revokeObjectURL(source.current), []);
  return useCallback(
    ({ callStageId, callStageMessageIndex }: Message) => {
      wanted.current += 1;
      const number = wanted.current;
      const load = async () => {
        const index = String(callStageMessageIndex);
        const answer = await send(
          "GET",
          `/api/calls/${callId}/stages/${callStageId}/messages/${index}/audio`,
        );
        if (!answer.ok) throw await refusalOf(answer);
        const blob = await answer.blob();
        if (number !== wanted.current) return;
        URL.revokeObjectURL(source.current);
        source.current = URL.createObjectURL(blob);
        audio.src = source.current;
        start();
      };
      load().catch((error: unknown) => {
        toast(error instanceof Error ? error.message : String(error), "failed");
      });
    },
    [callId, audio, send, start, toast],
  );
}

/** A step of the arrow keys. */
const STEP_SECONDS = 5;
/** Elements that handle these keys themselves. */
const OWN_KEYS = "input, textarea, select, button, a, summary, [role=tab], [role=dialog], [role=menu]";

/** Space plays and pauses, the arrow keys skip, unless a focused control handles these keys. */
function useKeys(audio: HTMLAudioElement, enabled: boolean): void {
  const start = useStart(audio);
  useEffect(() => {
    if (!enabled) return undefined;
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      const { target } = event;
      if (target instanceof Element && target.closest(OWN_KEYS) !== null) return;
      const step = { ArrowLeft: -STEP_SECONDS, ArrowRight: STEP_SECONDS }[event.key];
      if (event.key === " ") {
        if (audio.paused) start();
        else audio.pause();
      } else if (step !== undefined) {
        skip(audio, step);
      } else {
        return;
      }
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [audio, enabled, start]);
}

export function skip(audio: HTMLAudioElement, seconds: number): void {
  const end = Number.isFinite(audio.duration) ? audio.duration : Number.POSITIVE_INFINITY;
  audio.currentTime = Math.min(Math.max(0, audio.currentTime + seconds), end);
}

const MOVES = ["timeupdate", "seeking", "seeked", "play", "pause", "ended", "emptied", "ratechange"] as const;

/** A value derived from the player; renders only when it changes. */
export function useSound<Shown>(audio: HTMLAudioElement, read: (audio: HTMLAudioElement) => Shown): Shown {
  const [shown, setShown] = useState(() => read(audio));
  const latest = useRef(read);
  latest.current = read;
  useEffect(() => {
    const look = () => setShown(latest.current(audio));
    for (const move of MOVES) audio.addEventListener(move, look);
    look();
    return () => {
      for (const move of MOVES) audio.removeEventListener(move, look);
    };
  }, [audio]);
  return shown;
}
