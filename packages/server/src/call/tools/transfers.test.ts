import { describe, expect, test } from "vitest";
import { builtInTool, type ToolRun } from "../testing/fake-tools.ts";
import { joinedCall, type Scenario } from "../testing/scenario.ts";
import { callWithQuestion, rolesOf, toolResults } from "../testing/tool-calls.ts";
import { TRANSFER_LIMIT_MS, TRANSFER_RETURN_LIMIT_MS, WARM_TRANSFER_LIMIT_MS } from "./transfers.ts";

type TransferTool = "coldTransfer" | "warmTransfer" | "acceptTransfer";
const TARGET = "+4930123456";
const DONE: ToolRun = { how: "answer", afterMs: 8_000, result: "", responseType: "hang-up" };
const BUSY: ToolRun = { how: "fail", afterMs: 8_000, text: "The tool failed: the line was busy" };

function transferring(run: ToolRun, tool: TransferTool = "coldTransfer"): Scenario {
  const calls = [{ name: tool, arguments: { target: TARGET } }];
  const answers = [{ text: "One moment.", calls }, { text: "Nobody is free." }] as const;
  const call = callWithQuestion([builtInTool(tool, ["target"])], ...answers);
  call.tools.script = [run];
  return call.runUntil(({ toolRound }) => toolRound?.calls[0]?.progress.kind === "running").run(500);
}

/** The medium takes the user away. */
function taken(run: ToolRun, tool: TransferTool = "coldTransfer"): Scenario {
  const call = transferring(run, tool);
  call.media = false;
  call.post({ type: "transportHungUp" });
  return call;
}

function brought(call: Scenario): Scenario {
  call.media = true;
  call.post({ type: "transportRestored" });
  return call;
}

const endOf = (call: Scenario) =>
  call.effectsOf("endCall").map(({ reason, detail }) => [reason, detail] as const);

describe("a transfer", () => {
  test("begins when the words before it are over, and has a limit of its own", () => {
    for (const [tool, timeoutMs] of [
      ["coldTransfer", TRANSFER_LIMIT_MS],
      ["warmTransfer", WARM_TRANSFER_LIMIT_MS],
      ["acceptTransfer", TRANSFER_LIMIT_MS],
    ] as const) {
      const call = transferring(DONE, tool);
      expect(call.transcript.at(-1)).toBe("agent: One moment.");
      expect(call.tools.requests).toMatchObject([
        { implementation: { kind: "builtIn", builtIn: tool }, timeoutMs },
      ]);
    }
  });

  test("that succeeds ends the call, whether or not the transport is there", () => {
    for (const call of [transferring(DONE), taken(DONE)]) {
      call.run(8_000);
      expect(endOf(call)).toEqual([["agent_hangup", null]]);
    }
  });

  test("takes the transport away without an end, however it is lost", () => {
    for (const type of ["transportHungUp", "transportLost"] as const) {
      const call = transferring({ how: "hang" });
      call.post({ type });
      call.run(60_000);
      expect(call.hasEnded).toBe(false);
    }
  });

  test("of the called person to the caller takes the transport away, and ends the call when it succeeds", () => {
    const call = taken(DONE, "acceptTransfer");
    expect(call.hasEnded).toBe(false);
    call.run(8_000);
    expect(endOf(call)).toEqual([["agent_hangup", null]]);
  });

  test("that fails returns to the agent, which speaks once the user is back", () => {
    const call = taken(BUSY).run(9_000);
    expect(toolResults(call).map(({ text }) => text)).toEqual(["The tool failed: the line was busy"]);
    expect(call.eventsOf("tool.failed")).toHaveLength(1);
    expect(call.transcript.at(-1)).toBe("agent: One moment.");
    brought(call).run(6_000);
    expect(rolesOf(call).at(-1)).toBe("agent: Nobody is free.");
    call.says("Then call me back.", 960).run(6_000);
    expect(call.hasEnded).toBe(false);
    expect(rolesOf(call).some((line) => line.startsWith("user: Then call me back"))).toBe(true);
  });

  test("that fails while the user is still there goes on at once", () => {
    const call = transferring(BUSY).run(14_000);
    expect(rolesOf(call).at(-1)).toBe("agent: Nobody is free.");
    expect(call.hasEnded).toBe(false);
  });

  test("whose user returns before its failure is known goes on as well", () => {
    const call = brought(taken(BUSY).run(2_000)).run(14_000);
    expect(rolesOf(call).at(-1)).toBe("agent: Nobody is free.");
  });

  test("that has failed ends the call as a hang-up when the user does not come back", () => {
    const call = taken(BUSY).run(8_000 + TRANSFER_RETURN_LIMIT_MS - 1_000);
    expect(call.hasEnded).toBe(false);
    call.run(1_500);
    expect(endOf(call)).toEqual([["hangup", "the user did not come back from a transfer"]]);
  });

  test("without a result fails after its limit", () => {
    const call = taken({ how: "hang" }).run(TRANSFER_LIMIT_MS + 2_000);
    expect(toolResults(call).map(({ text }) => text)).toEqual(["The tool failed: timeout after 120s"]);
    expect(call.effectsOf("abortTool")).toHaveLength(1);
  });

  test("is aborted by the end of the call", () => {
    const call = taken({ how: "hang" });
    call.post({ type: "endRequested", cause: "hangup" });
    expect(endOf(call)).toEqual([["hangup", null]]);
    expect(call.effectsOf("abortTool")).toHaveLength(1);
  });

  test("over SIP keeps the transport, so a hang-up ends the call", () => {
    const call = joinedCall({
      medium: {
        kind: "sip",
        inputSampleRateHz: 16_000,
        outputSampleRateHz: 16_000,
        clientBufferSizeMs: 60,
        mediaIdleTimeoutMs: null,
      },
      stage: { tools: [builtInTool("coldTransfer", ["target"])] },
    });
    const calls = [{ name: "coldTransfer", arguments: { target: TARGET } }];
    call.llm.script = [{ text: "One moment.", calls }];
    call.tools.script = [{ how: "hang" }];
    call.run(320).says("Any rooms left?", 960);
    call.runUntil(({ toolRound }) => toolRound?.calls[0]?.progress.kind === "running").run(500);
    call.post({ type: "transportHungUp" });
    expect(endOf(call)).toEqual([["hangup", null]]);
    expect(call.effectsOf("abortTool")).toHaveLength(1);
  });

  test("is over: the next end of the transport is a hang-up", () => {
    const call = brought(taken(BUSY).run(9_000)).run(6_000);
    call.post({ type: "transportHungUp" });
    expect(endOf(call)).toEqual([["hangup", null]]);
  });
});
