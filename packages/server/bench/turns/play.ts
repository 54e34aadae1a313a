/** Plays a track through the engine on the virtual clock, with scripted words, and reports what the agent did. */

import type { TurnTakingSettings } from "../../src/plan/turn-taking.ts";
import { Scenario } from "../../src/call/testing/scenario.ts";
import { DEFAULT_TURN_TAKING } from "../../src/config/turn-taking.ts";
import { judgeText } from "../../src/providers/turn-text/judge-text.ts";
import { hashOf, type SpokenWord } from "./clips.ts";
import { WINDOW_MS, type Track } from "./tracks.ts";

/** How the recogniser writes: capitals and marks, or bare words in lower case. */
export type Style = "punctuated" | "bare";

export interface Playing {
  readonly style: Style;
  /** Time that the recogniser needs for an answer. */
  readonly sttMs: number;
  /** Provisional words this often while the caller speaks; null: none. */
  readonly partialsMs: number | null;
  /** What the agent says before the caller, or while the caller speaks. */
  readonly agent: string | null;
  /** The caller speaks so long after the agent's first sound; null: after the agent. */
  readonly intoAgentMs: number | null;
  readonly turnTaking?: Partial<TurnTakingSettings>;
}

export interface Outcome {
  /** When the agent's answers began, and its first silence, in ms from the beginning of the caller's track. */
  readonly spokeMs: readonly number[];
  readonly pausedMs: number | null;
  readonly cut: boolean;
  /** Whether what the agent was saying was heard to its end. */
  readonly heardOut: boolean;
}

/** Answer times of the model and the voice. */
const MODEL_MS = 150;
const VOICE_MS = 80;
/** A word counts as heard this long before the end that the alignment gives it. */
const WORD_SLACK_MS = 60;
/** After the last sound: longer than the longest wait, and than the rest of the agent's story. */
const REST_MS = 6_000;
const STORY_REST_MS = 14_000;
/** Time that the agent's words take in the scenario. */
const AGENT_MS_PER_CHAR = 60;
/** The echo estimator's answer while it is unknown whether the line has an echo, and how long that is on a quiet one. */
const ECHO_UNKNOWN = 0.3;
const UNKNOWN_MS = 720;

export function play(track: Track, how: Playing): Outcome {
  const { agent, intoAgentMs } = how;
  const call = new Scenario({
    firstSpeaker:
      agent === null
        ? { kind: "user", fallback: null }
        : { kind: "agent", delayMs: 0, text: agent, prompt: null, uninterruptible: false },
    turnTaking: { ...DEFAULT_TURN_TAKING, ...how.turnTaking },
  });
  const beforeMs = intoAgentMs ?? (agent === null ? 0 : agent.length * AGENT_MS_PER_CHAR + 300);
  const shift = Math.round(Math.max(0, beforeMs + (agent === null ? 0 : VOICE_MS)) / WINDOW_MS);
  // The track's own lead is on the line while the agent speaks.
  const lead = intoAgentMs === null ? 0 : Math.floor(track.startMs / WINDOW_MS);
  const startMs = (shift - lead) * WINDOW_MS;
  script(call, track, how, startMs);
  call.join().run(startMs + track.endMs + (intoAgentMs === null ? REST_MS : STORY_REST_MS));
  const spoke = call.timesOf("speak").slice(agent === null ? 0 : 1);
  const paused = call.timesOf("pausePlayout")[0];
  const said = call.messages.find(({ role }) => role === "agent")?.text ?? "";
  return {
    spokeMs: spoke.map((atMs) => atMs - startMs),
    pausedMs: paused === undefined ? null : paused - startMs,
    cut: call.timesOf("clearPlayout").length > 0,
    heardOut: agent !== null && said === agent,
  };
}

function script(call: Scenario, track: Track, how: Playing, startMs: number): void {
  call.stt.delayMs = how.sttMs;
  call.stt.partialsMs = how.partialsMs;
  call.voice.delayMs = VOICE_MS;
  call.llm.usual = () => ({ text: "That is understood. What else can I do for you?", firstMs: MODEL_MS });
  call.judge = ({ text, agentText, languageHint }) => judgeText({ text, agentText, language: languageHint });
  call.user.score = (toMs) => track.scores[Math.round((toMs - startMs) / WINDOW_MS) - 1] ?? 0.001;
  call.user.heard = (fromMs, toMs) => heard(track.words, fromMs - startMs, toMs - startMs, how.style);
  if (how.intoAgentMs !== null) {
    let soundingMs = 0;
    call.echo = () => {
      if (call.voice.isSounding) soundingMs += WINDOW_MS;
      return soundingMs < UNKNOWN_MS ? ECHO_UNKNOWN : 0;
    };
  }
}

/** The words that were said to their end in a stretch of time, as a recogniser writes them. */
export function heard(words: readonly SpokenWord[], fromMs: number, toMs: number, style: Style): string {
  const said = words.filter(
    (word) => word.toMs > fromMs + WORD_SLACK_MS && word.toMs - WORD_SLACK_MS <= toMs,
  );
  const text = said.map((word) => word.text).join(" ");
  if (style === "bare") return bare(text);
  const isWhole = said.at(-1) === words.at(-1);
  if (isWhole || said.length === 0) return text;
  // Recognisers put a full stop behind fragments as well; half of the time, here.
  return hashOf(text) % 2 === 0 ? `${text.replace(/[.,!?]+$/, "")}.` : text;
}

export function bare(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}'\s-]+/gu, "")
    .trim();
}
