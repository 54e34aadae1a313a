/** Latency as the service reports it: from the end of the user's speech to the agent's first audio. */

export const STEPS = ["pause", "words", "model", "voice"] as const;
export type StepName = (typeof STEPS)[number];

export const STEP_TEXTS: Readonly<Record<StepName, string>> = {
  pause: "Waiting for the end of the turn",
  words: "Recognising the words",
  model: "Generating the reply",
  voice: "Starting to speak",
};

export interface Latency {
  readonly turnId: number;
  readonly totalMs: number;
  /** The wait for each step after the previous one. Steps overlap, and a step that was ready earlier takes no time. */
  readonly steps: Readonly<Record<StepName, number>>;
}

/** From the event `turn.completed`; null without the time of the first audio. */
export function readLatency(extras: Readonly<Record<string, unknown>> | null): Latency | null {
  const at = (name: string): number | null => {
    const value = extras?.[name];
    return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
  };
  const turnId = at("turnId");
  const totalMs = at("firstPlayedMs");
  if (turnId === null || totalMs === null) return null;
  const ends: Readonly<Record<StepName, number | null>> = {
    pause: at("endOfTurnMs"),
    words: at("transcriptFinalMs"),
    model: at("firstSentenceMs") ?? at("firstTokenMs"),
    voice: totalMs,
  };
  let reachedMs = 0;
  const lengthOf = (step: StepName): number => {
    const fromMs = reachedMs;
    reachedMs = Math.min(totalMs, Math.max(reachedMs, ends[step] ?? reachedMs));
    return reachedMs - fromMs;
  };
  const [pause, words, model, voice] = [
    lengthOf("pause"),
    lengthOf("words"),
    lengthOf("model"),
    lengthOf("voice"),
  ];
  return { turnId, totalMs, steps: { pause, words, model, voice } };
}

export function secondsText(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}

/** The median; null without values. */
export function medianOf(latencies: readonly Latency[]): number | null {
  const sorted = latencies.map(({ totalMs }) => totalMs).toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) return null;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}
