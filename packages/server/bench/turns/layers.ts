/**
 * How well turns are taken: speech with pauses, fillers, listening words, coughs and interruptions through the real
 * detector of voice activity and the engine, once with plain silence alone and once with everything. Recogniser, model
 * and voice are fakes on a virtual clock, so that only turn-taking is measured, and every run is the same.
 * `npm run bench:turn-layers` writes the table of `docs/turn-taking.md`.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import nodeProcess from "node:process";
import type { TurnTakingSettings } from "../../src/plan/turn-taking.ts";
import { Scenario } from "../../src/call/testing/scenario.ts";
import { DEFAULT_TURN_TAKING } from "../../src/config/turn-taking.ts";
import { initResampler, Resampler } from "../../src/media/resample.ts";
import { readSpeechFixture } from "../../src/ports/testing/speech-fixtures.ts";
import type { TtsEngine } from "../../src/ports/tts.ts";
import type { VadEngine } from "../../src/ports/vad.ts";
import { openEspeakTts } from "../../src/providers/tts-espeak/tts-espeak.ts";
import { judgeText } from "../../src/providers/turn-text/judge-text.ts";
import { openRealVad } from "../../test/golden/sound-track.ts";

const RATE_HZ = 16_000;
const WINDOW = 512;
const WINDOW_MS = 32;
/** Current recognisers answer within 0.1 to 0.3 s. */
const TRANSCRIPT_MS = 150;
/** The user begins here, or, over the agent, this long after its first sound. */
const LEAD_MS = 960;
const INTO_REPLY_MS = 1_500;
/** Time after the last sound: longer than the longest wait. */
const REST_MS = 6_000;
/** An answer later than this after the last word is a missed end. */
const MISSED_MS = 3_000;
/** Background noise: the quiet between two sentences of a recording. */
const ROOM = readSpeechFixture("austen_long_pauses.wav").subarray(3_300 * 16, 5_400 * 16);

const STORY =
  "There is a small hotel by the sea, ten meters from the water. Its guests come every summer, and they stay for a week " +
  "or two. They love the quiet rooms, the long breakfasts, and the walks along the beach in the evening.";

const BARE: Partial<TurnTakingSettings> = {
  judgementWaitMs: 0,
  unfinishedExtraMs: 0,
  clearlyUnfinishedExtraMs: 0,
  notUnderstoodExtraMs: 0,
  adaptiveEndpointMaxMs: 0,
  interruptionGraceMs: 0,
  backchannelMaxMs: 0,
  echoTailMs: 0,
};

type Kind = "pause" | "whole" | "answer" | "listening" | "noise" | "interruption";

/** A number is a pause in ms; a text is spoken by the machine's voice, or is a clip with its transcript. */
type Part = number | string | { readonly clip: string; readonly text: string } | { readonly coughMs: number };

interface Case {
  readonly kind: Kind;
  readonly parts: readonly Part[];
  /** What the agent says before, or during the speech for the kinds that speak over a reply. */
  readonly agent: string | null;
}

const clip = (name: string, text: string) => ({ clip: `${name}.wav`, text });
const RECORDED = [
  clip("austen_0880", "he was not an ill disposed young man"),
  clip("austen_0930", "he might even have been made amiable himself"),
  clip("goforward", "go forward ten meters"),
  clip("cards_001", "ten of clubs"),
  clip("cards_005", "eight of spades four of clubs seven of hearts"),
];
const BROKEN: readonly (readonly [string, string])[] = [
  ["I would like to book a table for", "four people tomorrow evening"],
  ["can you tell me when the", "next train to Boston leaves"],
  ["my phone number is five five five", "one two three four"],
  ["I wanted to ask about my", "last invoice because it looks wrong"],
  ["if you have a free room", "I would take it for two nights"],
  ["I am looking for um", "a quiet hotel by the sea"],
];

const CASES: readonly Case[] = [
  ...BROKEN.flatMap(([first, second]) =>
    [600, 1_000, 1_800].map((pauseMs): Case => ({
      kind: "pause",
      parts: [first, pauseMs, second],
      agent: null,
    })),
  ),
  { kind: "pause", parts: [clip("jfk", "")], agent: null },
  ...RECORDED.map((part): Case => ({ kind: "whole", parts: [part], agent: null })),
  ...[
    "what time do you open tomorrow",
    "I want to cancel my reservation",
    "please send me the invoice again",
  ].map((text): Case => ({ kind: "whole", parts: [text], agent: null })),
  ...(
    [
      ["yes please", "Shall I book it?"],
      ["Boston", "Which city do you live in?"],
      ["tomorrow evening", "When would you like to come?"],
      ["four", "For how many people?"],
    ] as const
  ).map(([text, agent]): Case => ({ kind: "answer", parts: [text], agent })),
  ...["mhm", "yeah", "okay", "right", "uh huh", "yeah okay"].map((text): Case => ({
    kind: "listening",
    parts: [text],
    agent: STORY,
  })),
  ...[120, 200, 280, 360].map((coughMs): Case => ({ kind: "noise", parts: [{ coughMs }], agent: STORY })),
  ...RECORDED.slice(0, 4).map((part): Case => ({ kind: "interruption", parts: [part], agent: STORY })),
  ...["wait a moment please", "no that is wrong", "stop"].map((text): Case => ({
    kind: "interruption",
    parts: [text],
    agent: STORY,
  })),
];

interface Track {
  readonly scores: readonly number[];
  readonly spoken: readonly { readonly fromMs: number; readonly toMs: number; readonly text: string }[];
  readonly endMs: number;
}

interface Outcome {
  readonly cutOff: boolean;
  readonly missed: boolean;
  readonly interrupted: boolean;
  readonly waitMs: number | null;
  readonly pausedMs: number | null;
}

async function say(tts: TtsEngine, text: string): Promise<Int16Array> {
  const parts: number[] = [];
  let resampler: Resampler | null = null;
  const push = (samples: Int16Array) => {
    for (const sample of samples) parts.push(sample);
  };
  const request = { text, voice: null, language: "en" };
  for await (const part of tts.synthesize(request, new AbortController().signal)) {
    if (part.type === "word") continue;
    resampler ??= new Resampler(part.sampleRateHz, RATE_HZ);
    push(resampler.push(part.samples));
  }
  if (resampler !== null) push(resampler.flush());
  const loud = parts.map((sample, at) => (Math.abs(sample) > 300 ? at : -1)).filter((at) => at >= 0);
  return Int16Array.from(parts.slice(loud[0] ?? 0, (loud.at(-1) ?? 0) + 1));
}

/** A burst of noise with the envelope of a cough: a hard onset that decays. */
function cough(ms: number): Int16Array {
  let seed = 7;
  const length = (ms * RATE_HZ) / 1_000;
  return Int16Array.from({ length }, (_, at) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return (seed / 2 ** 30 - 1) * 9_000 * (1 - at / length) ** 2;
  });
}

const JFK: Track["spoken"] = [
  { fromMs: 350, toMs: 2_250, text: "and so my fellow americans" },
  { fromMs: 3_300, toMs: 4_400, text: "ask not" },
  { fromMs: 5_400, toMs: 7_700, text: "what your country can do for you" },
  { fromMs: 8_200, toMs: 10_900, text: "ask what you can do for your country" },
];

async function trackOf(each: Case, startMs: number, tts: TtsEngine, vad: VadEngine): Promise<Track> {
  const sounds: { at: number; samples: Int16Array }[] = [];
  const spoken: { fromMs: number; toMs: number; text: string }[] = [];
  let at = startMs * 16;
  for (const part of each.parts) {
    if (typeof part === "number") {
      at += part * 16;
      continue;
    }
    const samples =
      typeof part === "string"
        ? await say(tts, part)
        : "clip" in part
          ? readSpeechFixture(part.clip)
          : cough(part.coughMs);
    sounds.push({ at, samples });
    const text = typeof part === "string" ? part : "clip" in part ? part.text : "";
    const [fromMs, toMs] = [at / 16, (at + samples.length) / 16];
    if (typeof part !== "string" && "clip" in part && part.clip === "jfk.wav") {
      for (const of of JFK)
        spoken.push({ fromMs: fromMs + of.fromMs, toMs: fromMs + of.toMs, text: of.text });
    } else spoken.push({ fromMs, toMs, text });
    at += samples.length;
  }
  const windows = Math.ceil((at / 16 + REST_MS + 20_000) / WINDOW_MS);
  const input = Int16Array.from({ length: windows * WINDOW }, (_, index) => ROOM[index % ROOM.length] ?? 0);
  for (const sound of sounds) input.set(sound.samples, Math.round(sound.at));
  const scores = await scoresOf(vad, input, windows);
  // The last word ends where the detector last hears voice; recordings end with silence.
  const last = scores.findLastIndex((score) => score > 0.3);
  return { scores, spoken, endMs: (last + 1) * WINDOW_MS };
}

/** Windows in flight at once: within the detector's queue for one stream. */
const AHEAD = 50;

async function scoresOf(vad: VadEngine, input: Int16Array, windows: number): Promise<number[]> {
  const scores: number[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let pushed = 0;
  const push = () => {
    for (; pushed < windows && pushed < scores.length + AHEAD; pushed += 1) {
      stream.push(input.subarray(pushed * WINDOW, (pushed + 1) * WINDOW));
    }
  };
  const stream = vad.open({
    scored: (_, score) => {
      scores.push(score);
      if (scores.length === windows) resolve();
      else push();
    },
    failed: reject,
  });
  push();
  await promise;
  stream.close();
  return scores;
}

const OVER_AGENT: readonly Kind[] = ["listening", "noise", "interruption"];

function measure({ kind, agent }: Case, track: Track, turnTaking: Partial<TurnTakingSettings>): Outcome {
  const firstSpeaker =
    agent === null
      ? ({ kind: "user", fallback: null } as const)
      : ({ kind: "agent", delayMs: 0, text: agent, prompt: null, uninterruptible: false } as const);
  const call = new Scenario({ firstSpeaker, turnTaking: { ...DEFAULT_TURN_TAKING, ...turnTaking } });
  call.stt.delayMs = TRANSCRIPT_MS;
  call.judge = ({ text, agentText, languageHint }) => judgeText({ text, agentText, language: languageHint });
  call.user.score = (toMs) => track.scores[toMs / WINDOW_MS - 1] ?? 0;
  for (const { fromMs, toMs, text } of track.spoken) call.user.speak(fromMs, toMs - fromMs, text);
  call.join().run(track.endMs + REST_MS);
  const opening = agent === null ? 0 : 1;
  const spokenMs = call.timesOf("speak").slice(opening);
  const answerMs = spokenMs.find((atMs) => atMs >= track.endMs) ?? null;
  const cuts = call.timesOf("clearPlayout").length;
  const waitMs = answerMs === null ? null : answerMs - track.endMs;
  return {
    cutOff: spokenMs.some((atMs) => atMs < track.endMs),
    missed: waitMs === null || waitMs > MISSED_MS,
    interrupted: OVER_AGENT.includes(kind) && cuts > 0,
    waitMs,
    pausedMs: call.timesOf("pausePlayout")[0] ?? null,
  };
}

function median(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  return middle === undefined ? "–" : `${String(Math.round(middle))} ms`;
}

function row(
  kinds: readonly Kind[],
  of: (outcomes: readonly Outcome[]) => string,
  results: readonly Outcome[][],
): string {
  const chosen = results.map((outcomes) =>
    of(outcomes.filter((_, at) => kinds.includes(CASES[at]?.kind ?? "pause"))),
  );
  const count = CASES.filter(({ kind }) => kinds.includes(kind)).length;
  return `${String(count)} | ${chosen.join(" | ")} |`;
}

const share = (is: (outcome: Outcome) => boolean) => (outcomes: readonly Outcome[]) => {
  const found = outcomes.filter(is).length;
  return `${String(found)} (${String(Math.round((100 * found) / Math.max(1, outcomes.length)))} %)`;
};
const wait = (outcomes: readonly Outcome[]) =>
  median(outcomes.flatMap(({ waitMs }) => (waitMs === null ? [] : [waitMs])));

await initResampler(nodeProcess);
const [vad, tts] = await Promise.all([openRealVad(), openEspeakTts({ log: () => {} })]);
const results: Outcome[][] = [[], []];
for (const each of CASES) {
  const startMs = OVER_AGENT.includes(each.kind) ? INTO_REPLY_MS : LEAD_MS + (each.agent?.length ?? 0) * 60;
  const track = await trackOf(each, startMs, tts, vad);
  for (const [at, settings] of [BARE, {}].entries()) {
    const outcome = measure(each, track, settings);
    results[at]?.push(outcome);
    if (process.argv.includes("--all"))
      console.log(at === 0 ? "bare" : "full", each.kind, JSON.stringify(each.parts), outcome);
  }
}
await Promise.all([vad.close(), tts.close()]);

const lines = [
  "|                                                              | cases | silence alone | everything |",
  "| ------------------------------------------------------------ | ----- | ------------- | ---------- |",
  `| speech with pauses: the agent spoke before its end | ${row(
    ["pause"],
    share(({ cutOff }) => cutOff),
    results,
  )}`,
  `| whole sentences and answers: the agent spoke before their end | ${row(
    ["whole", "answer"],
    share(({ cutOff }) => cutOff),
    results,
  )}`,
  `| an end that was missed (no answer within 3 s) | ${row(
    ["pause", "whole", "answer"],
    share(({ missed }) => missed),
    results,
  )}`,
  `| wait after a whole sentence, median | ${row(["whole"], wait, results)}`,
  `| wait after a short answer, median | ${row(["answer"], wait, results)}`,
  `| wait after speech with pauses, median | ${row(["pause"], wait, results)}`,
  `| listening words that interrupted the agent | ${row(
    ["listening"],
    share(({ interrupted }) => interrupted),
    results,
  )}`,
  `| coughs that interrupted the agent | ${row(
    ["noise"],
    share(({ interrupted }) => interrupted),
    results,
  )}`,
  `| interruptions that were not noticed | ${row(
    ["interruption"],
    share(({ interrupted }) => !interrupted),
    results,
  )}`,
];
const machine = `${cpus()[0]?.model ?? "unknown"}, ${String(cpus().length)} cores, Node ${process.version}`;
const table = `${lines.join("\n")}\n\n${String(CASES.length)} cases, ${new Date().toISOString().slice(0, 10)}, ${machine}.`;
console.log(table);
const page = new URL("../../../../docs/turn-taking.md", import.meta.url);
const text = readFileSync(page, "utf8");
const [begin, end] = ["<!-- bench:turn-layers -->", "<!-- /bench:turn-layers -->"];
const [from, to] = [text.indexOf(begin), text.indexOf(end)];
if (from === -1 || to === -1) throw new Error("docs/turn-taking.md has lost its markers");
writeFileSync(page, `${text.slice(0, from + begin.length)}\n\n${table}\n\n${text.slice(to)}`);
