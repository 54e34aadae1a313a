import { createServer } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseWavHeader, WAV_HEADER_BYTES } from "../media/wav.ts";
import { openEspeakTts } from "../providers/tts-espeak/tts-espeak.ts";
import { openOpenAiTts } from "../providers/tts-openai/tts-openai.ts";
import { openPreviewFiles } from "../providers/preview-files/preview-files.ts";
import { createPreviews, previewsOfEngine } from "./voice-previews.ts";

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), "previews-"));
});
afterEach(async () => {
  await rm(dir, { recursive: true });
});

const logger = { warn: () => {} } as never;

test("every voice of the offline engine can be heard, many asked at once", async () => {
  // On a busy machine a process may need long for a sentence.
  const engine = await openEspeakTts({ limits: { startTimeoutMs: 100_000, pieceTimeoutMs: 100_000 } });
  try {
    const files = await openPreviewFiles(dir);
    const limits = { synthesisMs: 100_000, waitMs: 100_000 };
    const preview = previewsOfEngine(createPreviews({ files, logger, limits }), () => ({
      engine,
      settings: [],
    }));
    const heard = await Promise.all(engine.voices.map((name) => preview({ name })));
    for (const one of heard) {
      if (one.kind !== "heard") throw new Error(JSON.stringify(one));
      const format = parseWavHeader(one.wav);
      expect(format).toMatchObject({ sampleRateHz: 22_050, channels: 1 });
      const seconds = (format?.dataBytes ?? 0) / 2 / 22_050;
      expect(seconds).toBeGreaterThan(1);
      expect(seconds).toBeLessThan(10);
      expect(one.wav.subarray(WAV_HEADER_BYTES).some((byte) => byte !== 0)).toBe(true);
    }
    const [first, second] = heard;
    expect(first).not.toEqual(second);
  } finally {
    await engine.close();
  }
});

test("the refusal of a voice server is reported without the key", async () => {
  const key = "sk-0123456789";
  const server = createServer((_request, response) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: `Incorrect API key provided: ${key}` } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const engine = await openOpenAiTts({
    baseUrl: `http://127.0.0.1:${port}/v1`,
    apiKey: key,
    model: "m",
    voice: "alloy",
  });
  try {
    const files = await openPreviewFiles(dir);
    const preview = previewsOfEngine(createPreviews({ files, logger }), () => ({
      engine,
      settings: ["m"],
      secrets: [key],
    }));
    expect(await preview({ name: "alloy" })).toEqual({
      kind: "failed",
      reason: "the voice server answered HTTP 401: Incorrect API key provided: [key]",
    });
  } finally {
    await engine.close();
    await new Promise((resolve) => server.close(resolve));
  }
});
