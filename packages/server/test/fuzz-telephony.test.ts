/** The fuzzer of the carriers' streams, with few inputs, and with faults that it must find. */

import { expect, test } from "vitest";
import { runTelephonyFuzz } from "../fuzz/telephony/run-telephony.ts";
import { carrierCodecs, type CarrierCodecs } from "../src/transports/telephony/codecs.ts";
import type { CarrierCodec, CarrierEvent } from "../src/transports/telephony/codec.ts";

/** Of each carrier. */
const INPUTS = 2_000;

function fuzz(codecs?: CarrierCodecs): {
  readonly faults: readonly string[];
  readonly lines: readonly string[];
} {
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);
  return {
    faults: runTelephonyFuzz({ inputs: INPUTS, seed: 1, log, ...(codecs === undefined ? {} : { codecs }) }),
    lines,
  };
}

/** The codecs, of which one reads some messages wrongly. */
function faulty(wrong: (event: CarrierEvent, text: string) => CarrierEvent): CarrierCodecs {
  const codecs = carrierCodecs();
  const { telephony2: good } = codecs;
  const telephony2: CarrierCodec = { ...good, decode: (text) => wrong(good.decode(text), text) };
  return { ...codecs, telephony2 };
}

test("finds no fault, and most inputs reach the parts that they aim at", () => {
  const { faults, lines } = fuzz();
  expect(faults).toEqual([]);
  expect(lines).toHaveLength(4);
  for (const line of lines)
    expect(Number(/(\d+) of them audio/.exec(line)?.[1])).toBeGreaterThan(INPUTS / 20);
});

test("finds a codec that throws", () => {
  const codecs = faulty((event, text) => {
    if (text.includes("1e400")) throw new Error("broken on purpose");
    return event;
  });
  expect(fuzz(codecs).faults.join("\n")).toMatch(/^telephony2: Error: broken on purpose at/);
});

test("finds a codec that ends a call at a message that is no stop", () => {
  const codecs = faulty((event) =>
    event.type === "malformed" ? { type: "stopped", streamId: null } : event,
  );
  expect(fuzz(codecs).faults.join("\n")).toMatch(/telephony2: the stream ended at/);
});

test("finds a codec whose keys are no keys, and one that is deaf", () => {
  const keys = faulty((event) => (event.type === "digit" ? { ...event, key: "x" } : event));
  expect(fuzz(keys).faults.join("\n")).toContain('telephony2: the key "x"');
  const deaf = faulty((event) => (event.type === "audio" ? { type: "unused" } : event));
  expect(fuzz(deaf).faults.join("\n")).toContain("telephony2: the stream is not heard any more");
});
