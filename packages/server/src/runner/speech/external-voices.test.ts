import nodeProcess from "node:process";
import { beforeAll, expect, test } from "vitest";
import { initResampler } from "../../media/resample.ts";
import { openFakeToolInvoker } from "../../ports/testing/fake-tool-invoker.ts";
import { openFakeVoices, type FakeVoicesOptions } from "../../ports/testing/fake-voices.ts";
import { openCallWorld } from "../testing/call-world.ts";
import { openFakeEngines } from "../testing/fakes.ts";
import { openMemoryRecordings } from "../testing/memory-recordings.ts";
import { noStages } from "../testing/no-stages.ts";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

const voice = {
  kind: "external",
  provider: "provider2",
  settings: { voiceId: "v" },
  key: "account",
  voiceId: null,
} as const;

function openWorld(options: FakeVoicesOptions = {}) {
  const voices = openFakeVoices(options);
  const recordings = openMemoryRecordings();
  const world = openCallWorld(openFakeEngines(), recordings, openFakeToolInvoker(), noStages, null, voices);
  return { ...world, vendor: voices.provider("provider2") };
}

test("the voice of a call is prepared at the join, and speaks at the rate of the transport", async () => {
  const { create, join, clock, vendor } = openWorld();
  const { callId } = create({ stage: { voice, languageHint: "de" } });
  expect(vendor.prepared).toEqual([]);
  await join(callId);
  const output = { sampleRateHz: 16_000, encoding: "pcm" };
  expect(vendor.prepared).toEqual([{ voice: { voiceId: "v" }, key: "fake-key", output, language: "de" }]);
  await clock.advance(2_000);
  expect(vendor.spoken).toMatchObject([{ voice: { voiceId: "v" }, output, language: "de" }]);
});

test("the voice of a medium that plays mu-law is asked for mu-law, and its samples are heard", async () => {
  const { create, join, clock, vendor } = openWorld();
  const { callId } = create({ stage: { voice } });
  const { transport } = await join(callId, [], { outputSampleRateHz: 8_000, outputEncoding: "mulaw" });
  const output = { sampleRateHz: 8_000, encoding: "mulaw" };
  expect(vendor.prepared).toMatchObject([{ output }]);
  await clock.advance(2_000);
  expect(vendor.spoken).toMatchObject([{ output }]);
  const heard = transport?.frames.filter((frame) => frame.some((sample) => sample !== 0)) ?? [];
  expect(heard.length).toBeGreaterThan(0);
  // 20 ms each.
  expect(new Set(heard.map(({ length }) => length))).toEqual(new Set([160]));
});

test("no voice is prepared for a call that begins in text", async () => {
  const { joined, vendor } = openWorld();
  await joined({ stage: { voice }, initialOutputMedium: "text" });
  expect(vendor.prepared).toEqual([]);
});

test("a voice that is refused is replaced, and the caller hears the opening", async () => {
  const { joined, clock, records, vendor, logged } = openWorld({ key: "another key" });
  const { transport } = await joined({ stage: { voice } });
  await clock.advance(6_000);
  expect(vendor.spoken).toHaveLength(1);
  const types = records.events.map(({ event }) => event.type);
  expect(types).toContain("tts.failed");
  expect(types).toContain("voice.replaced");
  expect(types).not.toContain("call.ended");
  expect(transport.frames.some((frame) => frame.some((sample) => sample !== 0))).toBe(true);
  expect(logged.join()).not.toContain("fake-key");
});
