import { describe, expect, test } from "vitest";
import type { CallEngineEventBody } from "../events.ts";
import { builtInTool } from "../testing/fake-tools.ts";
import { testPlan } from "../testing/plan.ts";
import { joinedCall, Scenario } from "../testing/scenario.ts";
import { toolResults } from "../testing/tool-calls.ts";
import { BEEP_LIMIT_MS } from "../tools/built-in.ts";

const MESSAGE = "Please call us back. Thank you.";
const LEAVE = { text: "", calls: [{ name: "leaveVoicemail", arguments: { message: MESSAGE } }] } as const;

const detected = (answeredBy: string): CallEngineEventBody => ({
  type: "answererDetected",
  answeredBy,
  isMachine: answeredBy.startsWith("machine"),
  greetingEnded: answeredBy.startsWith("machine_end"),
});

/** The model leaves a message when it is asked for the first time. */
function dialled(detectsMessageEnd: boolean): Scenario {
  const call = joinedCall({
    medium: { ...testPlan().medium, kind: "telephony1", detectsMessageEnd },
    stage: { tools: [builtInTool("leaveVoicemail", ["message"], { strict: true })] },
  });
  call.llm.script = [LEAVE, { text: "Hello?" }];
  return call.run(320);
}

const notesOf = (call: Scenario): string[] =>
  call.llm.requests.at(-1)!.messages.flatMap(({ text }) => (text.startsWith("[The carrier") ? [text] : []));

describe("a machine that has answered", () => {
  test("is a note for the model, which is asked at once, and no message of the record", () => {
    const call = dialled(false);
    call.post(detected("machine_start"));
    call.run(8_000);
    expect(notesOf(call)).toEqual([
      "[The carrier has detected that an answering machine has taken this call: machine_start.]",
    ]);
    expect(call.messages.map(({ role }) => role)).toEqual(["tool_call", "tool_result", "agent"]);
  });

  test("that is reported twice is one note, and a person is none", () => {
    const call = joinedCall({});
    for (const by of ["machine_start", "machine_start"]) call.post(detected(by));
    call.run(4_000);
    expect(call.llm.requests).toHaveLength(1);
    const other = joinedCall({});
    for (const by of ["human", "unknown"]) other.post(detected(by));
    other.run(4_000);
    expect(other.llm.requests).toEqual([]);
  });

  test("before anybody has joined is a note once the call is joined", () => {
    const call = new Scenario({});
    call.post(detected("machine_start"));
    expect(call.llm.requests).toEqual([]);
    call.join().run(4_000);
    expect(notesOf(call)).toHaveLength(1);
  });

  test("whose end of the greeting is known gets no second question about its beginning", () => {
    const call = joinedCall({});
    for (const by of ["machine_end_beep", "machine_start"]) call.post(detected(by));
    call.run(4_000);
    expect(call.llm.requests).toHaveLength(1);
    expect(notesOf(call)[0]).toMatch(/a message can be left now\.\]$/);
  });
});

describe("a message for an answering machine", () => {
  test("waits for the end of the greeting where the carrier reports it", () => {
    const call = dialled(true);
    call.post(detected("machine_start"));
    call.run(5_000);
    expect(call.state.toolRound?.calls[0]?.progress.kind).toBe("awaitingBeep");
    expect(call.transcript).toEqual([]);
    call.post(detected("machine_end_beep"));
    call.run(8_000);
    expect(call.transcript.at(-1)).toBe(`agent: ${MESSAGE}`);
    expect(toolResults(call).map(({ text }) => text)).toEqual(["[Leaving voicemail...]"]);
    expect(call.effectsOf("endCall")).toMatchObject([{ reason: "agent_hangup", detail: "voicemail" }]);
    expect(call.llm.requests).toHaveLength(1);
  });

  test("is said at once where the greeting has ended, or the carrier does not report that", () => {
    for (const [call, by] of [
      [dialled(true), "machine_end_silence"],
      [dialled(false), "machine_start"],
    ] as const) {
      call.post(detected(by));
      call.run(8_000);
      expect(call.transcript.at(-1)).toBe(`agent: ${MESSAGE}`);
      expect(call.hasEnded).toBe(true);
    }
  });

  test("is said when the carrier finds a person or nothing after all", () => {
    const call = dialled(true);
    call.says("Please leave a message.", 960).run(4_000);
    expect(call.state.toolRound?.calls[0]?.progress.kind).toBe("awaitingBeep");
    call.post(detected("unknown"));
    call.run(8_000);
    expect(call.transcript.at(-1)).toBe(`agent: ${MESSAGE}`);
  });

  test("is said after a limit when the carrier reports nothing", () => {
    const call = dialled(true);
    call.post(detected("machine_start"));
    call.run(BEEP_LIMIT_MS - 1_000);
    expect(call.transcript).toEqual([]);
    call.run(12_000);
    expect(call.transcript.at(-1)).toBe(`agent: ${MESSAGE}`);
    expect(call.effectsOf("recordToolError")).toEqual([]);
  });

  test("is dropped when the other side hangs up before the end of the greeting", () => {
    const call = dialled(true);
    call.post(detected("machine_start"));
    call.run(3_000);
    call.post({ type: "transportHungUp" });
    expect(call.effectsOf("endCall")).toMatchObject([{ reason: "hangup" }]);
    expect(toolResults(call)).toHaveLength(1);
  });
});
