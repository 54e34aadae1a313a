/** The fuzzer of SIP, with few inputs, and with a fault that it must find. */

import { expect, test } from "vitest";
import { runSipFuzz } from "../fuzz/sip/run-sip.ts";

const INPUTS = 3_000;

test("finds no fault, and many inputs reach the calls", async () => {
  const lines: string[] = [];
  const faults = await runSipFuzz({ inputs: INPUTS, seed: 1, log: (line) => void lines.push(line) });
  expect(faults).toEqual([]);
  expect(Number(/(\d+) of them answered/.exec(lines[0] ?? "")?.[1])).toBeGreaterThan(INPUTS / 4);
  expect(Number(/(\d+) calls/.exec(lines[0] ?? "")?.[1])).toBeGreaterThan(INPUTS / 50);
});

test("finds an exception", async () => {
  const spoil = (bytes: Buffer): Buffer => {
    if (bytes.includes("Contact: *")) throw new Error("broken on purpose");
    return bytes;
  };
  const faults = await runSipFuzz({ inputs: INPUTS, seed: 1, log: () => undefined, spoil });
  expect(faults.join("\n")).toMatch(/^sip: Error: broken on purpose at input/);
});
