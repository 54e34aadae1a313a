import { describe, expect, test } from "vitest";
import { EARLY_REQUESTS_FIRST, EARLY_REQUEST_EVERY_MS } from "./early-request.ts";
import type { PlanChanges } from "../testing/plan.ts";
import { joinedCall, type Scenario } from "../testing/scenario.ts";

const WINDOW_MS = 32;
const EARLY: PlanChanges = { turnTaking: { transcriptDelayMs: WINDOW_MS } };
/** Speech of the scenarios begins and, where it is one piece, ends here. */
const START_MS = 960;
const END_MS = START_MS + 960;

function requestedAtMs(call: Scenario): number[] {
  return call.timesOf("requestTranscript").map((atMs) => atMs - END_MS);
}

/** Speech with gaps of one window, which are no pauses for the detector of activity. */
function stutter(call: Scenario, gaps: number, pieceMs: number): Scenario {
  for (let n = 0; n < gaps; n++) call.says("and", pieceMs).run(WINDOW_MS);
  return call.says("then", pieceMs);
}

describe("the transcript is asked for early", () => {
  test("in the first silent window, once, and the endpoint delay stays as it is", () => {
    const call = joinedCall(EARLY).run(START_MS).says("Good morning", 960).run(6_000);
    expect(requestedAtMs(call)).toEqual([WINDOW_MS]);
    expect(call.timesOf("speak").map((atMs) => atMs - END_MS)).toEqual([384]);
    expect(call.timesOf("generateReply").map((atMs) => atMs - END_MS)).toEqual([96]);
    expect(call.transcript[1]).toMatch(/^agent: You said Good morning/);
  });

  test("so that engines of 380 ms answer at once when the turn ends", () => {
    const speakAfter = (transcriptDelayMs: number): number => {
      const call = joinedCall({ turnTaking: { transcriptDelayMs } });
      call.stt.delayMs = 150;
      call.llm.usual = () => ({ text: "Good morning to you.", firstMs: 150 });
      call.run(START_MS).says("Good morning", 960).run(6_000);
      return (call.effectsOf("recordTurnLatency")[0]?.latency.firstPlayedMs ?? NaN) - 384;
    };
    // Only what the fakes need beyond the endpoint delay is left; without the early request it is 160 ms more.
    expect(speakAfter(192) - speakAfter(WINDOW_MS)).toBeGreaterThanOrEqual(5 * WINDOW_MS - 20);
  });

  test("not when the setting is that of the speculation, or longer", () => {
    for (const transcriptDelayMs of [192, 300]) {
      const call = joinedCall({ turnTaking: { transcriptDelayMs } });
      call.run(START_MS).says("Good morning", 960).run(6_000);
      expect(requestedAtMs(call)).toEqual([192]);
    }
  });

  test("not of speech shorter than a turn", () => {
    const call = joinedCall({ ...EARLY, stage: { vad: { minimumTurnDurationMs: 1_500 } } });
    call.run(START_MS).says("Good morning", 960).run(6_000);
    expect(requestedAtMs(call)).toEqual([]);
  });

  test("not of speech over the agent's voice", () => {
    const call = joinedCall({
      ...EARLY,
      firstSpeaker: agentSpeaks("One moment please, I am looking for it."),
    });
    call.run(500).says("No stop that", 640).run(6_000);
    const [first = NaN] = call.timesOf("requestTranscript");
    expect(first - (call.timesOf("openUtterance")[0] ?? NaN)).toBeGreaterThan(640);
  });
});

function agentSpeaks(text: string): PlanChanges["firstSpeaker"] & object {
  return { kind: "agent", delayMs: 0, text, prompt: null, uninterruptible: false };
}

describe("a gap within speech", () => {
  test("makes the transcript stale: the next request covers the whole utterance", () => {
    const call = stutter(joinedCall(EARLY).run(START_MS), 1, 480).run(6_000);
    expect(call.effectsOf("requestTranscript").map(({ revision }) => revision)).toEqual([1, 2]);
    expect(call.transcript[0]).toBe("user: and then");
    expect(call.effectsOf("openUtterance")).toHaveLength(1);
  });

  test("begins no reply, however fast the recogniser, and costs no speculation", () => {
    const call = joinedCall(EARLY).run(START_MS);
    call.stt.delayMs = 0;
    stutter(call, 2, 480).run(6_000);
    expect(call.llm.requests).toHaveLength(1);
    expect(call.effectsOf("abortReply")).toEqual([]);
  });

  test("is no pause for the client and teaches no pause", () => {
    const call = stutter(joinedCall(EARLY).run(START_MS), 2, 480).run(6_000);
    expect(call.messagesOf("user_stopped_speaking").length).toBeLessThanOrEqual(1);
    expect(call.state.endpointing.pauseMs).toBe(0);
  });

  test("asks early so often as the length of the speech allows, then after the speculation delay", () => {
    const call = joinedCall(EARLY).run(START_MS);
    const gaps = 11;
    const pieceMs = 320;
    stutter(call, gaps, pieceMs);
    const before = call.effectsOf("requestTranscript").length;
    const allowed = EARLY_REQUESTS_FIRST + Math.floor((gaps * pieceMs) / EARLY_REQUEST_EVERY_MS);
    expect(before).toBe(allowed);
    const endMs = call.atMs;
    call.run(6_000);
    const later = call.timesOf("requestTranscript").slice(before);
    expect(later).toHaveLength(1);
    expect((later[0] ?? 0) - endMs).toBeGreaterThan(192 - WINDOW_MS);
    expect(call.effectsOf("speak")).toHaveLength(1);
  });
});

test("a failed early request is tried again and the turn is answered", () => {
  const call = joinedCall(EARLY).run(START_MS);
  call.stt.script = ["fail"];
  call.says("Good morning", 960).run(8_000);
  expect(call.effectsOf("requestTranscript")).toHaveLength(2);
  expect(call.transcript[1]).toMatch(/^agent: You said Good morning/);
});
