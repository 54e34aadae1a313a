import { CARRIER_KINDS, type CarrierKind } from "@parley/schema";
import { describe, expect, test } from "vitest";
import { ramp } from "../../media/testing/signals.ts";
import { carrierCodecs } from "./codecs.ts";
import { StreamWriter } from "./stream-writer.ts";
import { CARRIER_RULES } from "./testing/carrier-rules.ts";
import type { Command } from "./testing/rule-checks.ts";

const CODECS = carrierCodecs();

function open(kind: CarrierKind) {
  const rules = CARRIER_RULES[kind];
  const { input, output } = rules;
  const stream = { streamId: "stream-1", callId: "call-1", input, output };
  const sent: Command[] = [];
  let isFull = false;
  const writer = new StreamWriter(
    CODECS[kind],
    { streamId: "stream-1", carrierCallId: "call-1", input, output },
    {
      sendAudio: (text) => {
        if (!isFull) sent.push(rules.accept(text, stream));
        return !isFull;
      },
      sendMessage: (text) => sent.push(rules.accept(text, stream)),
    },
  );
  const frame = (n = 1) => ramp(output.sampleRateHz / 50, n);
  const types = () => sent.map(({ type }) => type);
  const marks = () => sent.flatMap((command) => (command.type === "mark" ? [command.name] : []));
  return { writer, sent, frame, types, marks, fill: (on: boolean) => (isFull = on) };
}

describe.each(CARRIER_KINDS)("what goes to %s", (kind) => {
  test("keeps to the carrier's rules, with marks behind the audio before them", () => {
    const { writer, frame, types } = open(kind);
    for (let i = 1; i <= 10; i += 1) writer.frame(frame(i));
    writer.mark(1_600);
    writer.flush();
    expect(types().at(-1)).toBe("mark");
    expect(types().filter((type) => type === "audio")).toHaveLength(kind === "telephony4" ? 1 : 10);
  });

  test("has each echo once, and an echo stands for the marks before it", () => {
    const { writer, frame, marks } = open(kind);
    for (let i = 1; i <= 3; i += 1) {
      for (let n = 0; n < 10; n += 1) writer.frame(frame());
      writer.mark(i * 1_600);
    }
    const [first = "", second = "", third = ""] = marks();
    expect(writer.echoed(second)).toBe(3_200);
    expect(writer.echoed(second)).toBeNull();
    expect(writer.echoed(first)).toBeNull();
    expect(writer.echoed("g9:9")).toBeNull();
    expect(writer.echoed(third)).toBe(4_800);
  });

  test("does not count echoes of a cleared buffer, and its marks have new names", () => {
    const { writer, frame, marks, types } = open(kind);
    for (let n = 0; n < 10; n += 1) writer.frame(frame());
    writer.mark(1_600);
    writer.clear(frame());
    // The tail of what was being played, which only short messages can bring in time.
    expect(types().slice(-2)).toEqual(kind === "telephony4" ? ["mark", "clear"] : ["clear", "audio"]);
    for (let n = 0; n < 10; n += 1) writer.frame(frame());
    writer.mark(3_200);
    const [before = "", after = ""] = marks();
    expect([before.split(":")[0], after.split(":")[0]]).toEqual(["g1", "g2"]);
    expect(writer.echoed(before)).toBeNull();
    expect(writer.echoed(after)).toBe(3_200);
  });

  test("is told as dropped when the socket is full", () => {
    const { writer, frame, fill } = open(kind);
    fill(true);
    const results = Array.from({ length: 10 }, () => writer.frame(frame()));
    expect(results).toContain(false);
  });

  test("remembers a bounded number of marks", () => {
    const { writer, marks } = open(kind);
    for (let i = 1; i <= 300; i += 1) writer.mark(i);
    const names = marks();
    expect(writer.echoed(names[0] ?? "")).toBeNull();
    expect(writer.echoed(names[299] ?? "")).toBe(300);
  });
});

test("telephony4 gets a first message at once, whole messages after it, and silence behind the last words", () => {
  const { writer, sent, frame } = open("telephony4");
  writer.answer();
  expect(sent).toHaveLength(1);
  for (let i = 0; i < 12; i += 1) writer.frame(frame(1));
  expect(sent).toHaveLength(2);
  expect(writer.isWaiting).toBe(true);
  writer.flush();
  expect(writer.isWaiting).toBe(false);
  const last = sent[2];
  if (last?.type !== "audio") throw new Error("no audio");
  expect(last.payload).toHaveLength(3_200);
  expect(last.payload.subarray(2 * 2 * 160).every((byte) => byte === 0)).toBe(true);
});

test("telephony4 does not say after a clear what waited for the rest of its message", () => {
  const { writer, types, frame } = open("telephony4");
  for (let i = 0; i < 5; i += 1) writer.frame(frame());
  writer.mark(800);
  writer.clear(frame());
  writer.flush();
  expect(types()).toEqual(["clear"]);
});

test("keys go to telephony3 as a command", () => {
  const { writer, sent } = open("telephony3");
  writer.digits("12#");
  expect(sent).toEqual([{ type: "digits", digits: "12#" }]);
});
