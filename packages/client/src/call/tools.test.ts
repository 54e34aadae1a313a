import { afterEach, describe, expect, it, vi } from "vitest";
import type { ToolResultMessage } from "./messages.ts";
import { ToolAnswer, type ToolContext, type ToolFailure, type ToolHandler, Tools } from "./tools.ts";

function opened() {
  const sent: ToolResultMessage[] = [];
  const failures: ToolFailure[] = [];
  const tools = new Tools({
    send: (message) => sent.push(message),
    failed: (failure) => failures.push(failure),
  });
  const invoke = (toolName: string, invocationId = "call_1") =>
    tools.invoke({ type: "client_tool_invocation", toolName, invocationId, parameters: { room: 12 } });
  return { tools, sent, failures, invoke };
}

const result = { type: "client_tool_result", invocationId: "call_1" } as const;

describe("client tools", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("answer with text as it is and with anything else as JSON", async () => {
    for (const [value, text] of [
      ["Free.", "Free."],
      [{ free: true }, '{"free":true}'],
      [undefined, ""],
      [null, "null"],
      [Promise.resolve(7), "7"],
    ]) {
      const { tools, sent, invoke } = opened();
      tools.register("look", () => value);
      await invoke("look");
      expect(sent).toEqual([{ ...result, result: text }]);
    }
  });

  it("are given the parameters, and may say more than a result", async () => {
    const { tools, sent, invoke } = opened();
    const handler = vi.fn<ToolHandler>(
      () => new ToolAnswer({ done: 1 }, { agentReaction: "listens", updateCallState: { seen: true } }),
    );
    tools.register("look", handler);
    await invoke("look");
    expect(handler).toHaveBeenCalledWith({ room: 12 }, expect.objectContaining({ invocationId: "call_1" }));
    expect(sent).toEqual([
      { ...result, result: '{"done":1}', agentReaction: "listens", updateCallState: { seen: true } },
    ]);
  });

  it("that nobody has registered, or that were taken away, are said to be undefined", async () => {
    const { tools, sent, failures, invoke } = opened();
    tools.register("look", () => 1)();
    await invoke("look");
    expect(sent).toEqual([
      { ...result, errorType: "undefined", errorMessage: "Error: The page has no tool look." },
    ]);
    expect(failures).toHaveLength(1);
  });

  it("that are registered again are not removed by the older registration", async () => {
    const { tools, sent, invoke } = opened();
    const remove = tools.register("look", () => "old");
    tools.register("look", () => "new");
    remove();
    await invoke("look");
    expect(sent).toEqual([{ ...result, result: "new" }]);
  });

  it("that throw, reject or answer what JSON cannot hold fail, once each", async () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const handlers = [
      () => {
        throw new RangeError("no room");
      },
      () => Promise.reject(new RangeError("no room")),
      () => circle,
      () => 1n,
      () => "x".repeat(300_000),
    ];
    for (const handler of handlers) {
      const { tools, sent, failures, invoke } = opened();
      tools.register("look", handler);
      await invoke("look");
      expect(sent).toEqual([expect.objectContaining({ ...result, errorType: "implementation-error" })]);
      expect(failures).toHaveLength(1);
    }
  });

  it("that take too long fail and are told to stop", async () => {
    vi.useFakeTimers();
    const { tools, sent, invoke } = opened();
    let signal: AbortSignal | undefined;
    tools.register(
      "look",
      (_parameters, context: ToolContext) => {
        signal = context.signal;
        return new Promise(() => undefined);
      },
      { timeoutMs: 500 },
    );
    const done = invoke("look");
    await vi.advanceTimersByTimeAsync(499);
    expect(sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await done;
    expect(signal?.aborted).toBe(true);
    expect(sent).toEqual([
      {
        ...result,
        errorType: "implementation-error",
        errorMessage: "Error: The tool took longer than 500 ms.",
      },
    ]);
  });

  it("run once, however often an invocation comes", async () => {
    const { tools, sent, invoke } = opened();
    const handler = vi.fn<ToolHandler>(() => 1);
    tools.register("look", handler);
    await Promise.all([invoke("look"), invoke("look")]);
    await invoke("look", "call_2");
    expect(handler).toHaveBeenCalledTimes(2);
    expect(sent.map(({ invocationId }) => invocationId)).toEqual(["call_1", "call_2"]);
  });

  it("say nothing once the call is over", async () => {
    const { tools, sent, invoke } = opened();
    tools.register(
      "look",
      (_parameters, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("stopped")));
        }),
    );
    const done = invoke("look");
    tools.close();
    await done;
    expect(sent).toEqual([]);
  });
});
