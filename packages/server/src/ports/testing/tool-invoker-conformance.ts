/** Conformance suite for tool invokers; each adapter's test file registers it with its own servers. */

import { afterEach, describe, expect, it } from "vitest";
import type { ToolInvocation, ToolInvoker } from "../tool-invoker.ts";

/** `echo` answers with its value `text`; `hang` never answers; `break` fails; `flood` answers more than 64 KiB. */
type TestTool = "echo" | "hang" | "break" | "flood";

export interface ToolSubject {
  readonly invoker: ToolInvoker;
  readonly call: (
    tool: TestTool,
    fields: { readonly invocationId: string; readonly text: string },
  ) => ToolInvocation;
  /** How often the tools have run. */
  readonly runs: () => number;
  /** Resolves when the next tool requested has begun. */
  readonly begun: () => Promise<unknown>;
  readonly close: () => Promise<void>;
}

const never = () => new AbortController().signal;
const MAX_RESULT_BYTES = 65_536;

export function describeToolInvokerConformance(name: string, open: () => Promise<ToolSubject>): void {
  describe(`${name} as a way of running tools`, () => {
    const opened: ToolSubject[] = [];
    let count = 0;
    const subject = async () => {
      const one = await open();
      opened.push(one);
      const call = (tool: TestTool, text = "hello") => {
        count += 1;
        return one.call(tool, { invocationId: `i${String(count)}`, text });
      };
      return { ...one, call };
    };
    afterEach(async () => {
      for (const { invoker, close } of opened.splice(0)) {
        await invoker.close();
        await close();
      }
    });
    answering(subject);
    ending(subject);
  });
}

type Open = () => Promise<
  Omit<ToolSubject, "call"> & { readonly call: (tool: TestTool, text?: string) => ToolInvocation }
>;

function answering(open: Open): void {
  it("answers with the text of the tool, which has run once", async () => {
    const { invoker, call, runs } = await open();
    expect(await invoker.invoke(call("echo"), never())).toEqual({
      kind: "completed",
      result: "hello",
      responseType: "tool-response",
      reaction: null,
      updateCallState: null,
    });
    expect(runs()).toBe(1);
  });

  it("does not mix several at once", async () => {
    const { invoker, call, runs } = await open();
    const texts = ["one", "two", "three", "four"];
    const answers = await Promise.all(texts.map((text) => invoker.invoke(call("echo", text), never())));
    expect(answers.map((answer) => (answer.kind === "completed" ? answer.result : answer.text))).toEqual(
      texts,
    );
    expect(runs()).toBe(4);
  });

  it("tells of a failure in a sentence for the model and in details for the record, without a second try", async () => {
    const { invoker, call, runs } = await open();
    const answer = await invoker.invoke(call("break"), never());
    expect(answer).toMatchObject({ kind: "failed", cause: "error" });
    if (answer.kind !== "failed") throw new Error("it did not fail");
    expect(answer.text).toMatch(/^The tool failed: ./);
    expect(answer.errorDetails).not.toBe("");
    expect(runs()).toBe(1);
  });

  it("keeps a result within 64 KiB", async () => {
    const { invoker, call } = await open();
    const answer = await invoker.invoke(call("flood"), never());
    if (answer.kind !== "completed") throw new Error(answer.text);
    expect(Buffer.byteLength(answer.result)).toBeLessThanOrEqual(MAX_RESULT_BYTES);
    expect(Buffer.byteLength(answer.result)).toBeGreaterThan(MAX_RESULT_BYTES / 2);
  });
}

function ending(open: Open): void {
  it("answers by itself when the time is over", async () => {
    const { invoker, call, runs } = await open();
    const answer = await invoker.invoke({ ...call("hang"), timeoutMs: 500 }, never());
    expect(answer).toMatchObject({
      kind: "failed",
      cause: "timeout",
      text: "The tool failed: timeout after 0.5s",
    });
    expect(runs()).toBe(1);
  });

  it("rejects when aborted", async () => {
    const { invoker, call, begun } = await open();
    const controller = new AbortController();
    const began = begun();
    const running = invoker.invoke(call("hang"), controller.signal);
    await began;
    controller.abort();
    await expect(running).rejects.toThrow("abort");
  });

  it("runs nothing when it was aborted before", async () => {
    const { invoker, call, runs } = await open();
    await expect(invoker.invoke(call("echo"), AbortSignal.abort())).rejects.toThrow("abort");
    expect(runs()).toBe(0);
  });

  it("ends what runs when it is closed", async () => {
    const { invoker, call, begun } = await open();
    const began = begun();
    const running = invoker.invoke(call("hang"), never()).then(
      () => "answered",
      (error: unknown) => String(error),
    );
    await began;
    await invoker.close();
    expect(await running).toContain("abort");
  });
}
