/** Conformance suite for traces; each adapter's test file registers it with its own collector. */

import { afterEach, describe, expect, it } from "vitest";
import type { SpanStart, Traces } from "../traces.ts";
import type { EndedSpan } from "./fake-traces.ts";

export interface TracesSubject {
  readonly traces: Traces;
  /** Closes the traces, and returns what has arrived. */
  readonly arrived: () => Promise<readonly EndedSpan[]>;
  readonly close: () => Promise<void>;
}

const CALL_ID = "0e9f3a52-5b4e-4b57-9d0c-8e8b0a3c9f11";
const AT_MS = 1_700_000_000_000;
const PARENT = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };

const starting = (name: string, more: Partial<SpanStart> = {}): SpanStart => ({
  name,
  kind: "internal",
  startMs: AT_MS,
  attributes: {},
  ...more,
});

export function describeTracesConformance(name: string, open: () => Promise<TracesSubject>): void {
  describe(`${name} as traces`, () => {
    const opened: TracesSubject[] = [];
    const subject = async (): Promise<TracesSubject> => {
      const one = await open();
      opened.push(one);
      return one;
    };
    afterEach(async () => {
      for (const { close } of opened.splice(0)) await close();
    });
    buildingTrees(subject);
    ending(subject);
  });
}

type Open = () => Promise<TracesSubject>;

function buildingTrees(subject: Open): void {
  it("are a tree in the trace of the call's id, in which each span is sent when it has ended", async () => {
    const { traces, arrived } = await subject();
    const call = traces.startCall(CALL_ID, null, starting("call"));
    const turn = call?.child(starting("turn"));
    turn?.child(starting("first")).end(AT_MS + 1, null);
    call?.child(starting("never ended"));
    turn?.end(AT_MS + 2, null);
    turn?.child(starting("later than its parent")).end(AT_MS + 3, null);
    call?.end(AT_MS + 4, null);
    const spans = await arrived();
    expect(spans.map((span) => span.name)).toEqual(["first", "turn", "later than its parent", "call"]);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([CALL_ID.replaceAll("-", "")]));
    const [first, turned, late, called] = spans;
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(4);
    expect(called?.parentId).toBeNull();
    expect(turned?.parentId).toBe(called?.spanId);
    expect([first?.parentId, late?.parentId]).toEqual([turned?.spanId, turned?.spanId]);
  });

  it("keep names, kinds, times, attributes and notes", async () => {
    const { traces, arrived } = await subject();
    const attributes = { "parley.call_id": CALL_ID, "parley.kept": true };
    const call = traces.startCall(CALL_ID, null, starting("call", { attributes }));
    const asked = call?.child(starting("chat", { kind: "client", startMs: AT_MS + 10 }));
    asked?.rename("chat small");
    asked?.set({ "gen_ai.usage.input_tokens": 12, "gen_ai.response.time_to_first_chunk": 0.25 });
    asked?.note("first text", AT_MS + 260, { "parley.chars": 4 });
    asked?.note("second text", AT_MS + 270);
    asked?.end(AT_MS + 400, null);
    call?.end(AT_MS + 7_200_000, null);
    const [chat, root] = await arrived();
    expect(chat).toMatchObject({
      name: "chat small",
      kind: "client",
      startMs: AT_MS + 10,
      endMs: AT_MS + 400,
      attributes: { "gen_ai.usage.input_tokens": 12, "gen_ai.response.time_to_first_chunk": 0.25 },
      notes: [
        { name: "first text", atMs: AT_MS + 260, attributes: { "parley.chars": 4 } },
        { name: "second text", atMs: AT_MS + 270, attributes: {} },
      ],
      errorType: null,
    });
    expect(root).toMatchObject({ kind: "internal", startMs: AT_MS, endMs: AT_MS + 7_200_000, attributes });
  });
}

function ending(subject: Open): void {
  it("show failures, and only the first end of a span", async () => {
    const { traces, arrived } = await subject();
    const call = traces.startCall(CALL_ID, null, starting("call"));
    call?.end(AT_MS + 5, "timeout");
    call?.end(AT_MS + 9, null);
    expect(await arrived()).toMatchObject([{ endMs: AT_MS + 5, errorType: "timeout" }]);
  });

  it("continue a trace that is recorded, and leave out a call whose trace is not", async () => {
    const { traces, arrived } = await subject();
    const call = traces.startCall(CALL_ID, { ...PARENT, isSampled: true }, starting("call"));
    call?.child(starting("turn")).end(AT_MS + 1, null);
    call?.end(AT_MS + 2, null);
    expect(traces.startCall(CALL_ID, { ...PARENT, isSampled: false }, starting("call"))).toBeNull();
    const [turn, root] = await arrived();
    expect(root).toMatchObject({ traceId: PARENT.traceId, parentId: PARENT.spanId });
    expect(turn).toMatchObject({ traceId: PARENT.traceId, parentId: root?.spanId });
  });

  it("can be closed twice", async () => {
    const { traces } = await subject();
    await traces.close();
    await expect(traces.close()).resolves.toBeUndefined();
  });
}
