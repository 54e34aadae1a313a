import { describe, expect, test } from "vitest";
import { builtInTool, testTool, type ToolRun } from "../testing/fake-tools.ts";
import { testPlan } from "../testing/plan.ts";
import { joinedCall, type Scenario } from "../testing/scenario.ts";
import { callWithQuestion, rolesOf, toolResults } from "../testing/tool-calls.ts";

const LOOK_UP = { text: "One moment.", calls: [{ name: "lookUp" }] } as const;

describe("a static response", () => {
  test.each<[ToolRun, number]>([
    [{ how: "answer", result: "real" }, 0],
    [{ how: "fail" }, 1],
    [{ how: "hang" }, 1],
  ])("is the result at once, %j beside it", (run, errors) => {
    const call = callWithQuestion([testTool("lookUp", { staticResponse: "Noted." })], LOOK_UP, {
      text: "Yes.",
    });
    call.tools.script = [run];
    call.run(10_000);
    expect(toolResults(call).map(({ text }) => text)).toEqual(["Noted."]);
    expect(call.tools.invoked).toHaveLength(1);
    expect(call.effectsOf("recordToolError")).toHaveLength(errors);
  });

  test("may be all there is", () => {
    const tool = testTool("lookUp", { staticResponse: "Noted.", implementation: { kind: "static" } });
    const call = callWithQuestion([tool], LOOK_UP, { text: "Yes." }).run(8_000);
    expect(rolesOf(call).slice(1)).toEqual([
      "agent: One moment.",
      "tool_call: {}",
      "tool_result: Noted.",
      "agent: Yes.",
    ]);
    expect(call.tools.invoked).toEqual([]);
  });
});

describe("a tool at the client", () => {
  const client = (changes = {}) => testTool("lookUp", { implementation: { kind: "client" }, ...changes });

  test("is asked by a message and answers by one", () => {
    const fixed = [{ name: "hotel", location: "body", value: "Sea View" }] as const;
    const call = callWithQuestion([client({ fixed })], LOOK_UP, { text: "Three." });
    call.tools.script = [{ how: "answer", result: "3 rooms" }];
    call.run(8_000);
    expect(call.messagesOf("client_tool_invocation")[0]?.parameters).toEqual({ hotel: "Sea View" });
    expect(toolResults(call).map(({ text }) => text)).toEqual(["3 rooms"]);
    expect(call.effectsOf("invokeTool")).toEqual([]);
  });

  test("is asked once the client knows that the agent thinks, also for a reply that was begun early", () => {
    const call = callWithQuestion([client()], { ...LOOK_UP, text: "" }, { text: "Three." }).run(8_000);
    const sent = call
      .effectsOf("sendDataMessage")
      .map(({ message }) => (message.type === "state" ? message.state : message.type));
    const asked = sent.indexOf("invoking_tool");
    expect(sent.slice(0, asked + 2)).toEqual([
      ...sent.slice(0, asked - 1),
      "thinking",
      "invoking_tool",
      "client_tool_invocation",
    ]);
  });

  test("fails at once where nobody can be asked", () => {
    const call = joinedCall({ stage: { tools: [client()] }, dataMessages: { clientToolInvocation: false } });
    call.llm.script = [{ ...LOOK_UP, text: "" }, { text: "Sorry." }];
    call.run(320).says("Any rooms left?", 960).run(1_500);
    expect(toolResults(call).map(({ text }) => text)).toEqual([
      "The tool failed: the client takes no tool invocations",
    ]);
  });

  test("that never answers fails after its timeout, and the client is told", () => {
    const call = callWithQuestion([client()], LOOK_UP, { text: "Sorry." });
    call.tools.script = [{ how: "hang" }];
    call.run(8_000);
    expect(call.messagesOf("tool_used")).toMatchObject([
      { result: "The tool failed: timeout after 2.5s", errorDetails: "no answer within 2.5s" },
    ]);
  });

  test("that reports an error fails; its message stays out of the model's view", () => {
    const call = callWithQuestion([client()], LOOK_UP, { text: "Sorry." });
    call.tools.script = [{ how: "fail" }];
    call.run(8_000);
    expect(toolResults(call)[0]).toMatchObject({
      text: "The tool failed: an error in the tool",
      errorDetails: "status 500",
    });
  });
});

describe("a tool over the data connection", () => {
  const tool = testTool("lookUp", { implementation: { kind: "dataConnection" } });
  const dataMessages = { ...testPlan().dataMessages, dataConnectionToolInvocation: true };
  const there = { websocketUrl: "wss://tools.test", headers: {}, sharedSecrets: [], audio: null };

  function connected(): Scenario {
    const call = joinedCall({ stage: { tools: [tool] }, dataConnection: { ...there, dataMessages } });
    call.llm.script = [LOOK_UP, { text: "Three." }];
    call.post({ type: "dataConnectionOpened" });
    return call.run(320).says("Any rooms left?", 960);
  }

  test("is asked and answers there, and nobody else can answer", () => {
    const call = connected();
    call.tools.script = [{ how: "answer", afterMs: 400, result: "3 rooms" }];
    call.runUntil(({ toolRound }) => toolRound !== null);
    const invocationId = call.tools.invoked[0]?.invocationId ?? "";
    call.sends({ type: "client_tool_result", invocationId, result: "x", responseType: "tool-response" });
    call.run(6_000);
    expect(toolResults(call).map(({ text }) => text)).toEqual(["3 rooms"]);
  });

  test("fails at once when the connection is lost, or was never there", () => {
    const call = connected();
    call.tools.script = [{ how: "hang" }];
    call.runUntil(({ toolRound }) => toolRound !== null);
    call.post({ type: "dataConnectionLost", detail: "closed", willRetry: true });
    expect(toolResults(call).map(({ text }) => text)).toEqual([
      "The tool failed: the data connection was lost",
    ]);
    const never = callWithQuestion([tool], LOOK_UP, { text: "Sorry." }).run(4_000);
    expect(toolResults(never).map(({ text }) => text)).toEqual([
      "The tool failed: the data connection is not open",
    ]);
  });
});

describe("built-in tools", () => {
  test("hangUp plays out what is being said, whatever the user says", () => {
    const text = "Thank you for calling. Have a very good day, and goodbye.";
    const hangUp = builtInTool("hangUp", ["reason"], { strict: true });
    const call = callWithQuestion([hangUp], {
      text,
      calls: [{ name: "hangUp", arguments: { reason: "done" } }],
    });
    call
      .runUntil(({ reply }) => reply?.begun === true)
      .run(200)
      .says("Wait a moment", 960)
      .run(8_000);
    expect(call.transcript.at(-1)).toBe(`agent: ${text}`);
    expect(call.effectsOf("endCall")[0]).toMatchObject({ reason: "agent_hangup", detail: "done" });
    expect(toolResults(call)).toHaveLength(1);
  });

  test("hangUp that is not strict is called off by the user", () => {
    const text = "Thank you for calling. Have a very good day, and goodbye.";
    const hangUp = builtInTool("hangUp", [], { strict: false });
    const call = callWithQuestion([hangUp], { text, calls: [{ name: "hangUp" }] }, { text: "Yes?" });
    call
      .runUntil(({ reply }) => reply?.begun === true)
      .run(200)
      .says("Wait a moment", 960)
      .run(8_000);
    expect(call.hasEnded).toBe(false);
    expect(call.transcript.at(-1)).toBe("agent: Yes?");
    const silent = callWithQuestion([hangUp], { text, calls: [{ name: "hangUp" }] }).run(12_000);
    expect(silent.effectsOf("endCall")[0]).toMatchObject({ reason: "agent_hangup" });
  });

  test("hangUp that is not strict does not end a call in which the user has spoken meanwhile", () => {
    const hangUp = builtInTool("hangUp", [], { strict: false });
    const calls = [{ name: "hangUp" }, { name: "slow" }];
    const call = callWithQuestion([hangUp, testTool("slow")], { text: "", calls }, { text: "Yes?" });
    call.tools.script = [{ how: "answer", afterMs: 2_400 }];
    call.runUntil(({ toolRound }) => toolRound !== null);
    call.says("One more thing", 640).run(12_000);
    expect(call.hasEnded).toBe(false);
    expect(call.transcript.at(-1)).toBe("agent: Yes?");
  });

  test("leaveVoicemail says its message to the end", () => {
    const voicemail = builtInTool("leaveVoicemail", ["message"], { strict: true });
    const given = { message: "Please call us back. Thank you." };
    const call = callWithQuestion([voicemail], {
      text: "",
      calls: [{ name: "leaveVoicemail", arguments: given }],
    });
    call.run(1_500).says("Hello, who is there?", 960).run(8_000);
    expect(call.transcript.at(-1)).toBe(`agent: ${given.message}`);
    expect(toolResults(call).map(({ text }) => text)).toEqual(["[Leaving voicemail...]"]);
    expect(call.hasEnded).toBe(true);
  });

  test("playDtmfSounds plays tones in the slot, one call after the other", () => {
    const dtmf = builtInTool("playDtmfSounds", ["digits"], { toneDuration: "0.2s", spaceDuration: "0.1s" });
    const calls = ["1", "23#"].map((digits) => ({ name: "playDtmfSounds", arguments: { digits } }));
    const call = callWithQuestion([dtmf], { text: "", calls }, { text: "Done." }).run(8_000);
    expect(call.voice.spoken.flatMap(({ tones }) => tones ?? [])).toEqual([
      { digits: "1", toneMs: 200, spaceMs: 100 },
      { digits: "23#", toneMs: 200, spaceMs: 100 },
    ]);
    expect(toolResults(call).map(({ text }) => text)).toEqual(["OK", "OK"]);
    expect(call.transcript.at(-1)).toBe("agent: Done.");
  });

  test("playDtmfSounds is not held by what the user says", () => {
    const dtmf = builtInTool("playDtmfSounds", ["digits"]);
    const calls = [{ name: "playDtmfSounds", arguments: { digits: "1234567890" } }];
    const call = callWithQuestion([dtmf], { text: "", calls }, { text: "Done." });
    call.runUntil(({ reply }) => reply?.purpose === "tones" && reply.begun);
    call.says("Wait a moment", 960).run(500);
    expect(call.effectsOf("pausePlayout")).toEqual([]);
    call.run(8_000);
    expect(toolResults(call).map(({ text }) => text)).toEqual(["OK"]);
  });

  test.each(["", "5x", "1".repeat(33)])("playDtmfSounds refuses %j", (digits) => {
    const dtmf = builtInTool("playDtmfSounds", ["digits"]);
    const call = callWithQuestion([dtmf], {
      text: "",
      calls: [{ name: "playDtmfSounds", arguments: { digits } }],
    });
    call.run(3_000);
    expect(toolResults(call)[0]?.text).toMatch(/^The tool failed: digits must be/);
    expect(call.voice.spoken.flatMap(({ tones }) => tones ?? [])).toEqual([]);
  });
});
