import { describe, expect, test } from "vitest";
import { CONTINUATION_INSTRUCTION } from "../reply/reply.ts";
import { testTool } from "../testing/fake-tools.ts";
import { joinedCall, Scenario } from "../testing/scenario.ts";
import type { Generation } from "../testing/fake-engines.ts";
import type { Synthesis } from "../testing/fake-voice.ts";

const greeted = (text: string) =>
  ({ firstSpeaker: { kind: "agent", delayMs: 0, text, prompt: null, uninterruptible: false } }) as const;
const end = (call: Scenario) => call.effectsOf("endCall");

function callWithQuestion(prepare: (call: Scenario) => void): Scenario {
  const call = joinedCall().run(320);
  prepare(call);
  return call.says("Good morning", 640);
}

describe("the recogniser", () => {
  test.each(["fail", "hang"] as const)("%s once: asked again, and the turn is answered", (how) => {
    const call = callWithQuestion(({ stt }) => {
      stt.script = [how];
    }).run(12_000);
    expect(call.transcript.at(-1)).toMatch(/^agent: You said Good morning/);
    expect(call.eventsOf("stt.failed")).toMatchObject([{ severity: "warning" }]);
    expect(call.effectsOf("requestTranscript").map(({ revision }) => revision)).toEqual([1, 2]);
  });

  test("an answer that comes while the retry waits is taken", () => {
    const call = callWithQuestion(({ stt }) => {
      stt.delayMs = 3_300;
    }).run(12_000);
    expect(call.effectsOf("requestTranscript")).toHaveLength(1);
    expect(call.transcript.at(-1)).toMatch(/^agent: You said Good morning/);
  });

  test("never working: an apology, then system_error", () => {
    const call = callWithQuestion(({ stt }) => {
      stt.script = Array.from({ length: 99 }, () => "fail");
    }).run(30_000);
    expect(call.transcript).toEqual([
      expect.stringMatching(/^agent: I am sorry, I have a technical problem/),
    ]);
    expect(end(call)).toMatchObject([{ reason: "system_error", closeCode: 1011 }]);
    const [failedMs = 0] = call.timesOf("recordCallEvent").slice(1);
    expect((call.timesOf("endCall")[0] ?? 0) - failedMs).toBeLessThanOrEqual(15_000 + 5_000);
  });
});

describe("an engine that refuses its key, address or model is not asked again", () => {
  const APOLOGY = /^agent: I am sorry, I have a technical problem/;

  test("the recogniser: an apology at once, then system_error", () => {
    const call = callWithQuestion(({ stt }) => {
      stt.script = ["refuse"];
    }).run(8_000);
    expect(call.effectsOf("requestTranscript")).toHaveLength(1);
    expect(call.transcript).toEqual([expect.stringMatching(APOLOGY)]);
    expect(end(call)).toMatchObject([{ reason: "system_error", closeCode: 1011 }]);
    expect(call.eventsOf("stt.failed")).toHaveLength(1);
  });

  test("the model: an apology at once, then system_error", () => {
    const call = callWithQuestion(({ llm }) => {
      llm.script = [{ text: "", end: "refuse" }];
    }).run(8_000);
    expect(call.llm.requests).toHaveLength(1);
    expect(call.transcript.at(-1)).toMatch(APOLOGY);
    expect(end(call)).toMatchObject([{ reason: "system_error" }]);
    expect(call.eventsOf("llm.failed")).toHaveLength(1);
  });

  test("the voice: the end at once, and a greeting that nobody heard is in no transcript", () => {
    const call = new Scenario(greeted("Welcome to the hotel. We are glad that you are here."));
    call.voice.script = ["refuse"];
    call.join().run(3_000);
    expect(call.transcript).toEqual([]);
    expect(call.messages).toEqual([]);
    expect(end(call)).toMatchObject([{ reason: "system_error", closeCode: 1011 }]);
  });
});

describe("the model", () => {
  const broken: readonly Generation[] = [
    { text: "", end: "fail" },
    { text: "", end: "hang" },
    { text: "I would", end: "hang" },
    { text: "I would", end: "fail" },
  ];
  test.each(broken)("%j before the first sound: the reply is made again", (generation) => {
    const call = callWithQuestion(({ llm }) => {
      llm.script = [generation];
    }).run(14_000);
    expect(call.transcript[1]).toMatch(/^agent: You said Good morning/);
    expect(call.transcript).toHaveLength(2);
    expect(call.eventsOf("llm.failed")).toHaveLength(1);
  });

  test.each(["fail", "hang"] as const)(
    "%s after the first sentences: they are kept, and another reply continues",
    (how) => {
      const call = callWithQuestion(({ llm }) => {
        llm.script = [
          {
            text: "It is a lovely hotel by the sea. All rooms have a balcony. Breakf",
            end: how,
            pieceMs: 90,
          },
          { text: "Breakfast is from seven." },
        ];
      }).run(20_000);
      expect(call.transcript.slice(1)).toEqual([
        "agent: It is a lovely hotel by the sea. All rooms have a balcony.",
        "agent: Breakfast is from seven.",
      ]);
      expect(call.llm.requests[1]?.instruction).toBe(CONTINUATION_INSTRUCTION);
      expect(call.messages.map(({ metadata }) => metadata)).toEqual([{}, {}, {}]);
    },
  );

  test("one that always breaks off is not continued without end", () => {
    const call = callWithQuestion(({ llm }) => {
      llm.usual = () => ({ text: "I think that this is so. And", end: "fail", pieceMs: 200 });
    }).run(60_000);
    expect(call.hasEnded).toBe(false);
    expect(call.llm.requests).toHaveLength(3);
    expect(call.states.at(-1)).toBe("listening");
  });

  test("a retry waits for its delay, and an early answer that failed does not shorten it", () => {
    const call = callWithQuestion(({ llm }) => {
      llm.usual = () => ({ text: "", end: "fail", firstMs: 20 });
    }).run(4_000);
    const times = call.timesOf("generateReply");
    expect(times.length).toBeGreaterThan(3);
    expect(times.slice(1).map((atMs, n) => atMs - (times[n] ?? 0) >= 520)).not.toContain(false);
  });

  test("a continuation with nothing to say ends in silence, once", () => {
    const call = callWithQuestion(({ llm }) => {
      llm.script = [{ text: "It is a lovely hotel. And", end: "fail", pieceMs: 200 }, { text: " … " }];
    }).run(20_000);
    expect(call.llm.requests).toHaveLength(2);
    expect(call.transcript.slice(1)).toEqual(["agent: It is a lovely hotel."]);
    expect(call.states.at(-1)).toBe("listening");
  });

  test.each(["", " \n", "…", "🎉!"])("%j: the agent says something sensible instead", (text) => {
    const call = callWithQuestion(({ llm }) => {
      llm.script = [{ text }];
    }).run(9_000);
    expect(call.transcript[1]).toBe(
      "agent: Sorry, I lost my train of thought. Could you say that again, please?",
    );
    expect(call.eventsOf("llm.failed")).toMatchObject([{ severity: "warning" }]);
  });

  test.each(["fail", "hang"] as const)("always %s: an apology within the limit, then system_error", (how) => {
    const call = callWithQuestion(({ llm }) => {
      llm.usual = () => ({ text: "", end: how });
    }).run(40_000);
    expect(call.transcript.at(-1)).toMatch(/technical problem/);
    expect(end(call)).toMatchObject([{ reason: "system_error", closeCode: 1011 }]);
  });

  test("a reply beyond the limit is cut there", () => {
    const call = callWithQuestion(({ llm }) => {
      llm.script = [{ text: "word ".repeat(2_000), pieceMs: 0 }];
    }).run(400_000);
    expect(call.messages.at(-1)?.text.length).toBeLessThanOrEqual(4_000);
    expect(call.messages.at(-1)?.text.length).toBeGreaterThan(3_900);
    expect(call.eventsOf("llm.failed")).toMatchObject([{ text: "a reply was cut at 4000 characters" }]);
  });
});

describe("one failure, and then nobody needs the engine for longer than the limit", () => {
  const room = "I would like a room";
  const LONG_TALK = `${"and ".repeat(40)}view`;
  const expectAnswered = (call: Scenario) => {
    expect([...call.eventsOf("llm.failed"), ...call.eventsOf("stt.failed")]).toHaveLength(1);
    expect(call.transcript.at(-1)).toMatch(/^agent: You said/);
    expect(call.state.engines.llm.failingSinceMs ?? call.state.engines.stt.failingSinceMs).toBeNull();
  };

  test("the model breaks off after nine sentences: they are said, and it continues", () => {
    const call = joinedCall().run(320);
    const sentence = "This is one long sentence about rooms and everything else.";
    call.llm.script = [
      { text: `${`${sentence} `.repeat(9)}And`, end: "fail" },
      { text: "You said all of it." },
    ];
    call.says("Tell me about it all", 1_200).run(50_000);
    expect(call.transcript[1]).toBe(`agent: ${Array.from({ length: 9 }, () => sentence).join(" ")}`);
    expect(call.hasEnded).toBe(false);
    expectAnswered(call);
  });

  test("an early answer fails, and the user continues", () => {
    const call = joinedCall().run(320);
    call.llm.script = [{ text: "", end: "fail" }];
    call.says(room, 1_200).run(350).says(LONG_TALK, 16_000).run(40_000);
    expect(call.hasEnded).toBe(false);
    expectAnswered(call);
  });

  test("a reply fails, and tools run before the next", () => {
    const call = joinedCall({ stage: { tools: [testTool("slow", { timeoutMs: 30_000 })] } }).run(320);
    call.llm.script = [{ text: "", end: "fail" }];
    call.tools.script = [{ how: "answer", afterMs: 20_000 }];
    call.says(room, 1_200).run(700);
    call.sends({
      type: "forced_agent_message",
      content: "",
      uninterruptible: false,
      urgency: "soon",
      toolCalls: [{ name: "slow", arguments: {} }],
      knownToolResults: [],
      threadId: "UI",
    });
    call.run(30_000);
    expect(call.tools.invoked).toHaveLength(1);
    expect(call.hasEnded).toBe(false);
    expectAnswered(call);
  });

  test("a transcript fails, and the user continues", () => {
    const call = joinedCall().run(320);
    call.stt.script = ["fail"];
    call.says(room, 1_200).run(300).says(LONG_TALK, 16_500).run(40_000);
    expect(call.hasEnded).toBe(false);
    expectAnswered(call);
  });

  test("times in which it is needed add up: a user who keeps talking does not extend the limit of a failed model", () => {
    const call = joinedCall().run(320);
    call.llm.usual = () => ({ text: "", end: "fail" });
    for (let n = 0; n < 20 && !call.hasEnded; n += 1) call.says(room, 1_500).run(3_000);
    expect(end(call)).toMatchObject([{ reason: "system_error", closeCode: 1011 }]);
  });
});

test.each([900, 950, 1_000])(
  "a recogniser that hangs shows also to a user who says it again every %d ms",
  (gapMs) => {
    const call = joinedCall({ turnTaking: { transcriptTimeoutMs: 500, engineFailureLimitMs: 1_500 } });
    call.stt.script = Array.from({ length: 99 }, () => "hang");
    call.run(320);
    for (let n = 0; n < 9 && !call.hasEnded; n += 1) call.says("hello you", 500).run(gapMs);
    call.run(5_000);
    expect(end(call)).toMatchObject([{ reason: "system_error" }]);
    expect(call.eventsOf("stt.failed").length).toBeGreaterThan(1);
  },
);

describe("the voice", () => {
  const SAID = "Welcome to the hotel. We are glad that you are here.";
  const run = (script: Synthesis[]) => {
    const call = new Scenario(greeted(SAID));
    call.voice.script = script;
    return call.join().run(20_000);
  };

  test.each(["fail", "hang", "empty"] as const)("%s once: asked again, in the same place", (how) => {
    const call = run([how]);
    expect(call.transcript).toEqual([`agent: ${SAID}`]);
    expect(call.eventsOf("tts.failed")).toMatchObject([{ severity: "error" }]);
    const [first] = call.voice.spoken;
    expect(call.voice.spoken.filter(({ segmentId }) => segmentId === first?.segmentId)).toMatchObject([
      { silent: false },
      { silent: false },
    ]);
  });

  test("fail twice: silence in its place, and the text still goes out", () => {
    const call = run(["fail", "ok", "fail"]);
    expect(call.transcript).toEqual([`agent: ${SAID}`]);
    expect(call.voice.spoken.map(({ silent }) => silent)).toEqual([false, false, false, true]);
    expect(call.hasEnded).toBe(false);
  });

  test("fail after some audio: what came is played, the rest continues", () => {
    const call = run(["fail-midway"]);
    expect(call.transcript).toEqual([`agent: ${SAID}`]);
    expect(call.voice.spoken).toHaveLength(2);
  });

  test("audio that stops arriving cuts the opening, and its rest is said again", () => {
    const call = run(["stall"]);
    expect(call.transcript[0]).toBe("agent: Welcome");
    expect(call.transcript[1]).toBe("agent: to the hotel. We are glad that you are here.");
    expect(call.llm.requests).toHaveLength(0);
    expect(call.states.at(-1)).toBe("listening");
  });

  test("audio that stops arriving cuts an answer, and the model continues", () => {
    const call = joinedCall().run(320);
    call.llm.script = [{ text: SAID }, { text: "To the hotel, I mean." }];
    call.voice.script = ["stall"];
    call.says("Good morning", 640).run(14_000);
    expect(call.transcript.slice(1)).toEqual(["agent: Welcome", "agent: To the hotel, I mean."]);
    expect(call.llm.requests[1]?.instruction).toBe(CONTINUATION_INSTRUCTION);
    expect(call.messages[1]?.metadata).toEqual({ interrupted: "true" });
    expect(call.eventsOf("turn.interrupted")).toMatchObject([
      { text: "the agent was interrupted by a failure", extras: { cause: "failure", confirmedBy: null } },
    ]);
  });

  test("never working for as long as a call may wait: system_error without an apology", () => {
    const call = joinedCall().run(320);
    call.voice.usual = "fail";
    for (let n = 0; n < 6 && !call.hasEnded; n += 1) call.says("Good morning", 640).run(7_000);
    expect(end(call)).toMatchObject([{ reason: "system_error", closeCode: 1011 }]);
    expect(call.transcript.filter((line) => line.includes("technical problem"))).toEqual([]);
  });

  test("a failure that arrives while the reply is being cut starts nothing", () => {
    const call = new Scenario(greeted(SAID));
    call.voice.script = ["ok", "hang"];
    call.voice.answers = false;
    call.join().run(900).says("No no no", 1_100);
    const segment = call.state.reply?.segments[1];
    expect(segment?.status).toBe("requested");
    const count = call.voice.spoken.length;
    const ids = { replyId: call.state.reply?.replyId ?? 0, segmentId: segment?.segmentId ?? 0 };
    call.post({ type: "segmentSynthesized", ...ids, durationMs: 0 });
    call.post({ type: "segmentFailed", ...ids, error: "late", receivedMs: 0 });
    expect(call.voice.spoken).toHaveLength(count);
  });

  test("a voice that failed long ago is not held against it", () => {
    const call = joinedCall().run(320);
    call.voice.script = ["fail", "fail"];
    call.says("Good morning", 640).run(60_000);
    call.voice.script = ["fail"];
    call.says("Good morning", 640).run(9_000);
    expect(call.hasEnded).toBe(false);
  });
});

test("no voice activity detection: an apology, then system_error", () => {
  const call = joinedCall().run(500);
  call.post({ type: "voiceDetectionFailed", error: "worker died" });
  const causeMs = call.atMs;
  call.run(6_000);
  expect(call.transcript).toEqual([expect.stringMatching(/technical problem/)]);
  expect(end(call)).toMatchObject([{ reason: "system_error" }]);
  expect((call.timesOf("endCall")[0] ?? 0) - causeMs).toBeLessThanOrEqual(5_000);
});
