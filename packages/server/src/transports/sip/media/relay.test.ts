import nodeProcess from "node:process";
import { beforeAll, expect, test } from "vitest";
import { initResampler } from "../../../media/resample.ts";
import { sine, tonePower } from "../../../media/testing/signals.ts";
import { Relay } from "./relay.ts";

beforeAll(() => initResampler(nodeProcess));

function target(outputSampleRateHz: number) {
  const frames: Int16Array[] = [];
  const digits: string[] = [];
  const relayed = (frame: Int16Array): boolean => frames.push(frame.slice()) > 0;
  return {
    outputSampleRateHz,
    frames,
    digits,
    relayed,
    sendDigits: (keys: string) => void digits.push(keys),
  };
}

test.each([
  [8_000, 8_000],
  [16_000, 8_000],
  [8_000, 16_000],
])("a tone at %i Hz is relayed in frames at %i Hz", (fromHz, toHz) => {
  const to = target(toHz);
  const relay = new Relay(fromHz, to);
  const tone = sine(500, fromHz, fromHz);
  // Pieces of any length, as packets bring them.
  for (let at = 0; at < tone.length; at += 130) relay.audio(tone.subarray(at, at + 130));
  relay.close();
  expect(new Set(to.frames.map(({ length }) => length))).toEqual(new Set([toHz / 50]));
  expect(to.frames.length).toBeGreaterThanOrEqual(48);
  const all = Int16Array.from(to.frames.flatMap((frame) => [...frame]));
  const { tone: power, all: whole } = tonePower(all.subarray(-toHz / 4), 500, toHz);
  expect(power / whole).toBeGreaterThan(0.9);
});

test("keys are relayed as keys", () => {
  const to = target(8_000);
  new Relay(8_000, to).digit("5");
  expect(to.digits).toEqual(["5"]);
});
