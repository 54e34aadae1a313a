/** A language model that is given the caller's voice: from the transport's frames to the request. */

import nodeProcess from "node:process";
import { beforeAll, expect, test } from "vitest";
import { initResampler } from "../media/resample.ts";
import { samplesOfBytes } from "../media/pcm.ts";
import { parseWavHeader, WAV_HEADER_BYTES } from "../media/wav.ts";
import type { LlmRequest } from "../ports/llm.ts";
import { openCallWorld } from "./testing/call-world.ts";
import { openFakeEngines } from "./testing/fakes.ts";
import type { PlanChanges } from "./testing/plan.ts";

const RATE_HZ = 16_000;

beforeAll(async () => {
  await initResampler(nodeProcess);
});

/** One turn of the user, and what the model was asked. */
async function talk(takesAudio: boolean): Promise<readonly LlmRequest[]> {
  const requests: LlmRequest[] = [];
  const fakes = openFakeEngines();
  const engines = {
    ...fakes,
    llm: {
      ...fakes.llm,
      takesAudio: () => takesAudio,
      generate: (request: LlmRequest, signal: AbortSignal) => {
        requests.push(request);
        return fakes.llm.generate(request, signal);
      },
    },
  };
  const changes: PlanChanges = {
    firstSpeaker: { kind: "user", fallback: null },
    ...(takesAudio ? { stage: { takesAudio } } : {}),
  };
  const { hear } = await openCallWorld(engines).joined(changes);
  await hear(1_000, false);
  await hear(1_000, true);
  await hear(2_000, false);
  return requests;
}

test("the model gets the speech and a little of what was before it as a WAV file", async () => {
  const [request] = await talk(true);
  expect(request?.audio).toHaveLength(1);
  const [heard] = request?.audio ?? [];
  expect(heard?.messageIndex).toBe((request?.messages.length ?? 0) - 1);
  const wav = heard?.wav ?? new Uint8Array();
  const dataBytes = wav.byteLength - WAV_HEADER_BYTES;
  expect(parseWavHeader(wav)).toEqual({ sampleRateHz: RATE_HZ, channels: 1, dataBytes });
  const samples = samplesOfBytes(wav.slice(WAV_HEADER_BYTES));
  const loud = samples.filter((sample) => Math.abs(sample) > 100).length;
  expect(loud).toBeGreaterThan(0.9 * RATE_HZ);
  expect(samples.length).toBeLessThan(2.5 * RATE_HZ);
});

test("any other model gets words", async () => {
  const requests = await talk(false);
  expect(requests.length).toBeGreaterThan(0);
  expect(requests.every(({ audio }) => audio === undefined)).toBe(true);
});
