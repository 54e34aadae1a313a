import { describe, expect, test } from "vitest";
import type { ServerDataMessage } from "@parley/schema";
import type { PlanChanges } from "../testing/plan.ts";
import { joinedCall, type Scenario } from "../testing/scenario.ts";

const ANSWER = "You said Good morning. That is understood. What else can I do for you?";

function textCall(changes: PlanChanges = {}): Scenario {
  return joinedCall({ initialOutputMedium: "text", ...changes });
}

function switchTo(call: Scenario, medium: "voice" | "text"): Scenario {
  return call.sends({ type: "set_output_medium", medium });
}

const agentShown = (call: Scenario) =>
  call.messagesOf("transcript").filter(({ role }) => role === "agent") as Extract<
    ServerDataMessage,
    { type: "transcript" }
  >[];
const SOUNDS = ["synthesize", "speak", "pausePlayout", "resumePlayout", "clearPlayout"] as const;
const sounds = (call: Scenario) => SOUNDS.flatMap((type) => call.timesOf(type));
const types = (call: Scenario, text: string, urgency: "immediate" | "soon") =>
  call.sends({ type: "user_text_message", text, urgency, threadId: "UI" });

describe("text medium", () => {
  test("an answer streams as text: its first word, deltas at word ends, the whole; nothing sounds", () => {
    const call = textCall().run(320).says("Good morning", 640).run(5_000);
    const shown = agentShown(call);
    expect(shown.every(({ medium }) => medium === "text")).toBe(true);
    expect(shown[0]).toMatchObject({ text: "You", final: false, ordinal: 1 });
    expect(shown.slice(1, -1).map(({ delta }) => delta)).toEqual(
      ANSWER.slice(3)
        .match(/ \S+/g)
        ?.map((word) => word),
    );
    expect(shown.at(-1)).toMatchObject({ text: ANSWER, final: true });
    expect(call.messages[1]).toMatchObject({ role: "agent", text: ANSWER, medium: "text", metadata: {} });
    expect(sounds(call)).toEqual([]);
  });

  test("words come as the model writes them, not at the end", () => {
    const call = textCall();
    call.llm.script = [{ text: "It is late now.", pieceMs: 500 }];
    types(call.run(320), "How late is it?", "soon").runUntil(({ reply }) => reply?.begun === true);
    expect(agentShown(call).map(({ text }) => text)).toEqual(["It"]);
    expect(call.state.reply?.generation).toBe("running");
  });

  test("thinking until the first text, then speaking until its end", () => {
    const call = types(textCall().run(320), "Good morning", "soon").run(3_000);
    expect(call.states).toEqual(["listening", "thinking", "speaking", "listening"]);
  });

  test("the steps of a spoken turn are recorded, those of a voice left out", () => {
    const call = textCall().run(320).says("Good morning", 640).run(5_000);
    const [{ latency } = { latency: null }] = call.effectsOf("recordTurnLatency");
    expect(latency).toMatchObject({ turnId: 1, firstSentenceMs: null, firstAudioMs: null });
    expect(latency?.firstPlayedMs).toBeGreaterThanOrEqual(latency?.endOfTurnMs ?? Infinity);
    expect(call.eventsOf("turn.completed")[0]?.extras).toMatchObject({ medium: "text" });
  });

  test("immediate text stops it where it is", () => {
    const call = textCall();
    call.llm.script = [{ text: "One two three four five six seven eight.", pieceMs: 200 }];
    types(call.run(320), "Count", "soon").run(1_200);
    types(call, "Stop that", "immediate").run(4_000);
    const [, cut, , answer] = call.messages;
    expect(cut?.text).toMatch(/^One two/);
    expect("One two three four five six seven eight.").toContain(cut?.text);
    expect(cut?.metadata).toEqual({ interrupted: "true" });
    expect(call.transcript[1]).toBe(`agent: ${cut?.text}`);
    expect(answer?.text).toContain("You said Stop that");
    expect(call.eventsOf("turn.interrupted")[0]?.extras).toMatchObject({
      cause: "text",
      confirmedBy: null,
      heardChars: cut?.text.length,
      heardMs: null,
    });
  });

  test("confirmed speech stops it, a cough does not", () => {
    const slow = () => {
      const call = textCall();
      call.llm.script = [{ text: "One two three four five six seven eight.", pieceMs: 200 }];
      return types(call.run(320), "Count", "soon").run(900);
    };
    const spoken = slow().says("Please stop counting", 1_000).run(6_000);
    expect(spoken.messages[1]?.metadata).toEqual({ interrupted: "true" });
    expect(spoken.messages.at(-1)?.text).toContain("You said Please stop counting");
    const coughed = slow().coughs(200).run(6_000);
    expect(coughed.transcript.at(-1)).toBe("agent: One two three four five six seven eight.");
    expect(sounds(spoken)).toEqual([]);
  });

  test("first speaker, inactivity, last words and apology are written, too", () => {
    const firstSpeaker = {
      kind: "agent",
      delayMs: 0,
      text: "Welcome. How can I help?",
      prompt: null,
      uninterruptible: false,
    } as const;
    const inactivityMessages = [
      { afterMs: 3_000, text: "Still there?", endBehavior: "none" },
      { afterMs: 3_000, text: "Goodbye then.", endBehavior: "soft" },
    ] as const;
    const call = textCall({ firstSpeaker, stage: { inactivityMessages } }).run(10_000);
    expect(call.transcript).toEqual([
      "agent: Welcome. How can I help?",
      "agent: Still there?",
      "agent: Goodbye then.",
    ]);
    expect(call.effectsOf("endCall")).toMatchObject([{ reason: "agent_hangup" }]);
    const parted = textCall().run(320).sends({ type: "hang_up", message: "Farewell." });
    expect(parted.transcript).toEqual(["agent: Farewell."]);
    expect(parted.hasEnded).toBe(true);
    const broken = textCall().run(320);
    broken.post({ type: "voiceDetectionFailed", error: "gone" });
    expect(broken.transcript).toHaveLength(1);
    expect([...sounds(call), ...sounds(parted), ...sounds(broken)]).toEqual([]);
  });

  test("a model that breaks off keeps what was shown, and another continues", () => {
    const call = textCall();
    call.llm.script = [{ text: "It is a lov", end: "fail" }, { text: "lovely hotel." }];
    types(call.run(320), "Tell me", "soon").run(5_000);
    expect(call.transcript.slice(1)).toEqual(["agent: It is a", "agent: lovely hotel."]);
  });

  test("text without spaces is shown before its end, and a mere sign is an answer", () => {
    const call = textCall();
    call.llm.script = [{ text: "您好。我们的酒店很漂亮。", pieceMs: 300 }, { text: "👍" }];
    types(call.run(320), "Hi", "soon").run(500);
    expect(agentShown(call).length).toBeGreaterThan(1);
    call.run(3_000);
    expect(call.transcript[1]).toBe("agent: 您好。我们的酒店很漂亮。");
    types(call, "Thanks", "soon").run(2_000);
    expect(call.transcript.at(-1)).toBe("agent: 👍");
  });

  test("a lost transport holds it, and it continues when it is back", () => {
    const call = textCall();
    call.llm.script = [{ text: "One two three four.", pieceMs: 200 }];
    types(call.run(320), "Count", "soon").run(500).post({ type: "transportLost" });
    const shown = agentShown(call).length;
    call.run(3_000);
    expect(agentShown(call)).toHaveLength(shown);
    call.post({ type: "transportRestored" });
    expect(call.transcript.at(-1)).toBe("agent: One two three four.");
  });
});

describe("switching the medium", () => {
  test("takes effect after the current utterance", () => {
    const call = joinedCall().run(320).says("Good morning", 640);
    call.runUntil(({ reply }) => reply?.begun === true);
    switchTo(call, "text").run(10_000);
    expect(call.messages[1]).toMatchObject({ text: ANSWER, medium: "voice" });
    call.says("And now", 640).run(5_000);
    expect(call.messages.at(-1)).toMatchObject({ role: "agent", medium: "text" });
    switchTo(call, "voice").says("And then", 640).run(10_000);
    expect(call.messages.at(-1)).toMatchObject({ role: "agent", medium: "voice" });
  });

  test.each(["voice", "text"] as const)("to %s at every 20 ms of a turn and its reply", (medium) => {
    for (let atMs = 300; atMs < 3_000; atMs += 20) {
      const call = joinedCall({ initialOutputMedium: medium === "text" ? "voice" : "text" });
      call.after(atMs, () => switchTo(call, medium));
      call.run(320).says("Good morning", 640).run(5_500).says("And now", 640).run(6_000);
      // Each reply is whole and of one medium, and the later one of the new.
      const agent = call.messages.filter(({ role }) => role === "agent");
      expect(agent).toHaveLength(2);
      expect(agent[0]?.text).toBe(ANSWER);
      expect(agent[1]).toMatchObject({ medium, text: expect.stringContaining("And now") });
      const media = new Set(agentShown(call).map(({ ordinal, medium: shown }) => `${ordinal} ${shown}`));
      expect(media.size).toBe(2);
    }
  });
});
