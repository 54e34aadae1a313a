import { isAtRest } from "../testing/at-rest.ts";
import { describe, expect, test } from "vitest";
import { joinedCall, Scenario } from "../testing/scenario.ts";
import type { PlanChanges } from "../testing/plan.ts";

const STORY =
  "Once upon a time there was a small hotel by the sea. Its guests came every summer. They loved the quiet rooms.";

/** A call in which the agent has been telling its story for `heardMs`. */
function storytelling(
  heardMs: number,
  changes: PlanChanges = {},
  prepare: (call: Scenario) => void = () => {},
) {
  const call = new Scenario({ firstSpeaker: opening(STORY), ...changes });
  prepare(call);
  call.join().runUntil(({ reply }) => reply?.begun === true);
  return call.run(heardMs);
}

const opening = (text: string) =>
  ({ kind: "agent", delayMs: 0, text, prompt: null, uninterruptible: false }) as const;

describe("an interruption", () => {
  test("pauses at once, is confirmed by words, and cuts the reply at the heard position", () => {
    const call = storytelling(1_504).says("Wait a moment please", 1_200).run(8_000);
    const pausedMs = call.timesOf("pausePlayout")[0] ?? 0;
    const clearedMs = call.timesOf("clearPlayout")[0] ?? 0;
    const spokeMs = call.timesOf("openUtterance")[0] ?? 0;
    // 96 ms of speech are the first to reach 90 ms; two windows of it opened the utterance.
    expect(pausedMs - spokeMs).toBe(32);
    // Without partial words, a second of speech confirms.
    expect(clearedMs - spokeMs).toBe(1_024 - 64);
    const [message] = call.messages;
    expect(message).toMatchObject({ role: "agent", metadata: { interrupted: "true" } });
    expect(STORY.startsWith(message?.text ?? "-")).toBe(true);
    expect(message?.text.length).toBeLessThan(60);
    expect(call.transcript[0]).toBe(`agent: ${message?.text ?? ""}`);
    expect(call.transcript[1]).toBe("user: Wait a moment please");
    expect(call.transcript[2]).toMatch(/^agent: You said Wait/);
    expect(call.llm.requests[0]?.messages[0]).toEqual({
      role: "agent",
      text: `${message?.text}— [interrupted]`,
    });
    expect(call.eventsOf("turn.interrupted")).toMatchObject([
      {
        severity: "info",
        extras: { cause: "speech", confirmedBy: "length", heardChars: message?.text.length },
      },
    ]);
    expect(call.states.slice(0, 6)).toEqual([
      "listening",
      "thinking",
      "speaking",
      "listening",
      "thinking",
      "speaking",
    ]);
  });

  test("the client's buffer is cleared after the pause, once, and only where the flag is on", () => {
    const call = storytelling(1_500).says("Wait a moment please", 1_200).run(8_000);
    expect(call.messagesOf("playback_clear_buffer")).toHaveLength(1);
    const kinds = call.effects.map(({ value }) =>
      value.type === "sendDataMessage" ? value.message.type : value.type,
    );
    expect(kinds.indexOf("playback_clear_buffer")).toBe(kinds.indexOf("pausePlayout") + 1);
    const off = storytelling(1_500, { dataMessages: { playbackClearBuffer: false } });
    off.says("Wait a moment please", 1_200).run(2_000);
    expect(off.messagesOf("playback_clear_buffer")).toHaveLength(0);
  });

  test("a connection that holds unplayed audio is told to clear it, whatever the flag, and the next one is not", () => {
    const call = storytelling(1_500, { dataMessages: { playbackClearBuffer: false } });
    call.post({ type: "transportLost" });
    call.run(100).post({ type: "transportRestored", keepsAudio: true });
    call.run(500).says("Wait a moment please", 1_200).run(3_000);
    expect(call.messagesOf("playback_clear_buffer")).toHaveLength(1);
    call.post({ type: "transportLost" });
    call.run(100).post({ type: "transportRestored" });
    call.run(500).says("Wait a moment please", 1_200).run(3_000);
    expect(call.messagesOf("playback_clear_buffer")).toHaveLength(1);
  });

  test("partial words confirm it before half a second", () => {
    const call = storytelling(1_500, {}, ({ stt }) => {
      stt.partialsMs = 32;
    });
    call.says("No no no", 400).run(400);
    const [paused = 0] = call.timesOf("pausePlayout");
    expect((call.timesOf("clearPlayout")[0] ?? 0) - paused).toBeLessThan(300);
  });

  test("a cough pauses, and the reply continues where it was, with its transcript", () => {
    const call = storytelling(1_500).coughs(250).run(12_000);
    expect(call.effectsOf("pausePlayout")).toHaveLength(1);
    expect(call.effectsOf("resumePlayout")).toHaveLength(1);
    expect(call.effectsOf("clearPlayout")).toHaveLength(0);
    expect(call.transcript).toEqual([`agent: ${STORY}`]);
    expect(call.states).toEqual(["listening", "thinking", "speaking", "listening", "speaking", "listening"]);
    expect(call.messages[0]?.metadata).toEqual({});
  });

  test("without any transcript the reply resumes after a second of silence", () => {
    const call = storytelling(1_500, {}, ({ stt }) => {
      stt.script = ["hang"];
    });
    const startMs = call.atMs;
    call.coughs(256).run(3_000);
    const [resumed = 0] = call.timesOf("resumePlayout");
    expect(resumed - startMs).toBeGreaterThanOrEqual(256 + 1_000);
    expect(resumed - startMs).toBeLessThanOrEqual(256 + 1_000 + 64);
  });

  test("words that come after the reply has resumed still cut it", () => {
    const call = storytelling(1_500, {}, ({ stt }) => {
      stt.delayMs = 1_400;
    });
    call.says("Stop it", 320).run(10_000);
    expect(call.effectsOf("resumePlayout")).toHaveLength(1);
    expect(call.effectsOf("clearPlayout")).toHaveLength(1);
    expect(call.transcript.slice(0, 2).toSorted()[1]).toBe("user: Stop it");
    expect(call.transcript[2]).toMatch(/^agent: You said Stop it/);
  });

  test("speech under the interruption duration does not pause, but is answered afterwards", () => {
    const call = storytelling(1_500, { stage: { vad: { minimumInterruptionDurationMs: 1_000 } } });
    call.says("And breakfast", 640).run(14_000);
    expect(call.effectsOf("pausePlayout")).toHaveLength(0);
    expect(call.transcript.toSorted()[0]).toBe(`agent: ${STORY}`);
    expect(call.transcript.at(-1)).toMatch(/^agent: You said And breakfast/);
    expect(call.llm.requests).toHaveLength(1);
  });

  test("long speech that nobody understands is real: the agent asks again", () => {
    const call = storytelling(1_500).coughs(900).run(15_000);
    expect(call.effectsOf("clearPlayout")).toHaveLength(1);
    expect(call.llm.requests.at(-1)?.messages.at(-1)?.text).toMatch(/could not be understood/);
    expect(call.states.at(-1)).toBe("listening");
  });

  test("a runner that never answers does not silence the call", () => {
    const call = storytelling(1_500, {}, ({ voice }) => {
      voice.answers = false;
    });
    call.says("Wait a moment please", 1_200).run(9_000);
    expect(call.transcript.at(-1)).toMatch(/^agent: You said Wait a moment please/);
  });

  test("an interruption within the last word ends the reply as whole", () => {
    const call = storytelling(STORY.length * 55 - 160)
      .says("Thanks", 600)
      .run(6_000);
    expect(call.messages[0]).toMatchObject({ text: STORY, metadata: {} });
    expect(call.transcript.at(-1)).toMatch(/^agent: You said Thanks/);
  });
});

describe("half a second of speech whose words are unknown", () => {
  test("is cut as soon as its words are known, and answered as soon as if its length had decided", () => {
    const timesWith = (backchannelMaxMs: number) => {
      const call = storytelling(1_504, { turnTaking: { backchannelMaxMs } }).says("Stop that", 704);
      const endMs = call.atMs;
      call.run(6_000);
      expect(call.effectsOf("resumePlayout")).toHaveLength(0);
      expect(call.transcript[1]).toBe("user: Stop that");
      const [clearedMs = NaN] = call.timesOf("clearPlayout");
      return { clearedMs: clearedMs - endMs, spokenMs: (call.timesOf("speak")[1] ?? NaN) - endMs };
    };
    const patient = timesWith(1_000);
    // Three silent windows, 60 ms for the words, and the windows' grid.
    expect(patient.clearedMs).toBeGreaterThan(0);
    expect(patient.clearedMs).toBeLessThanOrEqual(96 + 60 + 32);
    const hasty = timesWith(0);
    expect(hasty.clearedMs).toBeLessThan(0);
    expect(patient.spokenMs).toBeLessThanOrEqual(hasty.spokenMs);
  });

  test("cuts the reply when the recogniser is silent for a second: it does not continue over the user", () => {
    const call = storytelling(1_504, {}, ({ stt }) => {
      stt.script = ["hang"];
    });
    call.says("Stop that", 704);
    const endMs = call.atMs;
    call.run(9_000);
    expect(call.effectsOf("resumePlayout")).toHaveLength(0);
    const [clearedMs = NaN] = call.timesOf("clearPlayout");
    expect(clearedMs - endMs).toBeGreaterThanOrEqual(1_000 - 32);
    expect(clearedMs - endMs).toBeLessThanOrEqual(1_000 + 32);
    expect(call.transcript[1]).toBe("user: Stop that");
    // After the sentence that asks for patience.
    expect(call.transcript[3]).toMatch(/^agent: You said Stop that/);
  });

  test("is real when the recogniser hears no words: the agent asks again, at once", () => {
    const call = storytelling(1_504).coughs(704);
    const endMs = call.atMs;
    call.run(9_000);
    expect((call.timesOf("clearPlayout")[0] ?? NaN) - endMs).toBeLessThanOrEqual(96 + 60 + 32);
    expect(call.llm.requests.at(-1)?.messages.at(-1)?.text).toMatch(/could not be understood/);
  });

  test("is enough by itself while the agent asks, and while it still thinks", () => {
    const question = "Would you like to stay with us for one night or for two nights or for a whole week?";
    const asking = new Scenario({ firstSpeaker: opening(question) }).join();
    asking
      .runUntil(({ reply }) => reply?.begun === true)
      .run(1_504)
      .says("Two nights please", 900);
    const [openedMs = NaN] = asking.timesOf("openUtterance");
    expect((asking.timesOf("clearPlayout")[0] ?? NaN) - openedMs).toBe(512 - 64);
    const thinking = joinedCall().run(960);
    thinking.llm.usual = () => ({ text: "Certainly, with pleasure.", firstMs: 3_000 });
    thinking.says("A table please", 960).run(1_504).says("For two", 704);
    const [, againMs = NaN] = thinking.timesOf("openUtterance");
    expect((thinking.timesOf("abortReply").at(-1) ?? NaN) - againMs).toBe(512 - 64);
  });

  test("earlier in the same utterance counts as well", () => {
    const call = storytelling(1_504).coughs(608).run(160).coughs(128).run(6_000);
    expect(call.effectsOf("openUtterance")).toHaveLength(1);
    expect(call.effectsOf("clearPlayout")).toHaveLength(1);
  });
});

describe("before the first sound", () => {
  test("a user who continues while the agent thinks has one message, and nothing is lost", () => {
    const call = joinedCall().run(960);
    call.llm.usual = ({ messages }) => ({ text: `Answer to ${messages.at(-1)?.text ?? ""}.`, firstMs: 900 });
    call.says("I want to book", 960).run(600).says("a table for two", 960).run(9_000);
    expect(call.transcript).toEqual([
      "user: I want to book",
      "user: a table for two",
      "agent: Answer to I want to book a table for two.",
    ]);
    expect(call.messages.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      "user: I want to book a table for two",
      "agent: Answer to I want to book a table for two.",
    ]);
    expect(call.messages[0]?.timespan).toEqual({ startMs: 960, endMs: 3_488 });
  });

  test.each([
    ["Would you like breakfast?", "Well", "yes"],
    ["We have rooms with breakfast.", "I want one", "okay"],
    ["We have a double room with sea view or a single room.", "I take", "a double room with sea view"],
  ])("after %j and %j, %j while the agent thinks belongs to the answer", (text, first, then) => {
    const firstSpeaker = { kind: "agent", delayMs: 0, text, prompt: null, uninterruptible: false } as const;
    const call = joinedCall({ firstSpeaker }).run(6_000);
    call.llm.usual = ({ messages }) => ({
      text: `Answer to ${messages.at(-1)?.text ?? ""}.`,
      firstMs: 1_500,
    });
    call.says(first, 500).run(900);
    expect(call.state.reply).toMatchObject({ playout: "open", begun: false });
    call.says(then, 400).run(9_000);
    expect(call.transcript).toEqual([
      `agent: ${text}`,
      `user: ${first}`,
      `user: ${then}`,
      `agent: Answer to ${first} ${then}.`,
    ]);
  });

  test("a cough while the agent thinks holds the reply, and then it is said", () => {
    const call = joinedCall().run(960);
    call.llm.usual = () => ({ text: "Certainly, with pleasure.", firstMs: 500 });
    call.says("A table please", 960).run(500).coughs(300).run(6_000);
    expect(call.transcript).toEqual(["user: A table please", "agent: Certainly, with pleasure."]);
    expect(call.llm.requests).toHaveLength(1);
    expect(call.messagesOf("playback_clear_buffer")).toHaveLength(0);
    expect(call.states).toEqual(["listening", "thinking", "listening", "thinking", "speaking", "listening"]);
  });
});

const GREETING = "Good morning, this is the Grand Hotel. How may I help you?";
/** From the first transcript to a second after the end of playout. */
const OFFSETS = Array.from({ length: Math.ceil((GREETING.length * 55 + 2_000) / 20) }, (_, n) => n * 20);

/** A call at `offsetMs` after the first transcript was requested; the reply will be the greeting. */
function sweptTo(offsetMs: number, prepare: (call: Scenario) => void): Scenario {
  const call = joinedCall();
  prepare(call);
  call.llm.usual = ({ messages }) => {
    const said = messages.at(-1)?.text ?? "";
    return { text: said === "Hello" ? GREETING : `Yes: ${said}.` };
  };
  call.run(320).says("Hello", 320);
  return call.runUntil(({ turn }) => turn.kind !== "quiet" && turn.request === "asked").run(offsetMs);
}

const WORLDS: readonly (readonly [string, (call: Scenario) => void])[] = [
  ["a quick recogniser", () => {}],
  [
    "a recogniser slower than the endpoint and the resume",
    ({ stt }) => {
      stt.delayMs = 1_300;
    },
  ],
  [
    "partial transcripts",
    ({ stt }) => {
      stt.partialsMs = 64;
    },
  ],
  [
    "a runner that loses its answers",
    ({ voice }) => {
      voice.answers = false;
    },
  ],
];

describe.each(WORLDS)("at every 20 ms of a reply, with %s", (_, prepare) => {
  test("the next user turn gets its reply", () => {
    for (const offsetMs of OFFSETS) {
      const call = sweptTo(offsetMs, prepare).says("Wait please", 640).run(1_500);
      call.runUntil((state) => isAtRest(state), 20_000).run(200);
      const last = call.messages.at(-1);
      expect(`${offsetMs} ms ${last?.role ?? ""}: ${last?.text ?? ""}`).toMatch(
        /ms agent: Yes: .*Wait please\.$/,
      );
    }
  }, 20_000);

  test("a cough costs nothing: the whole reply is heard", () => {
    for (const offsetMs of OFFSETS) {
      const call = sweptTo(offsetMs, prepare).coughs(220).run(1_500);
      call.runUntil((state) => isAtRest(state), 20_000).run(200);
      expect(`${offsetMs} ms ${call.messages.at(-1)?.text ?? ""}`).toBe(`${offsetMs} ms ${GREETING}`);
      expect(call.messages).toHaveLength(2);
    }
  }, 20_000);
});

test("the model sees that its message was cut short, the record has it in the metadata alone", () => {
  const call = joinedCall().run(320).says("Good morning", 640);
  call.runUntil(({ reply }) => reply?.begun === true).run(900);
  call.says("No wait, something else", 1_200).run(2_000);
  const cut = call.messages[1];
  expect(cut).toMatchObject({ role: "agent", metadata: { interrupted: "true" } });
  expect(cut?.text).not.toContain("[");
  const seen = call.llm.requests.at(-1)?.messages.find(({ role }) => role === "agent");
  expect(seen?.text).toBe(`${cut?.text}— [interrupted]`);
});
