import { expect, test } from "vitest";
import { parseWavHeader } from "../media/wav.ts";
import type { TtsPart, TtsRequest } from "../ports/tts.ts";
import type { PreviewFiles } from "../providers/preview-files/preview-files.ts";
import { createPreviews, previewsOfEngine, type PreviewParts } from "./voice-previews.ts";
import { abortError } from "../pacing/abort.ts";

type Speak = (request: TtsRequest, signal: AbortSignal) => AsyncIterable<TtsPart>;

const audio = (samples: number): TtsPart => ({
  type: "audio",
  samples: new Int16Array(samples).fill(7),
  sampleRateHz: 22_050,
});

/** An engine that speaks on command. */
function setUp(
  changes: Partial<PreviewParts> & {
    readonly speak?: Speak;
    readonly settings?: readonly string[];
    readonly secrets?: readonly string[];
  } = {},
) {
  const requested: TtsRequest[] = [];
  const warned: string[] = [];
  const stored = new Map<string, Uint8Array>();
  const files: PreviewFiles = {
    read: async (about) => stored.get(about) ?? null,
    keep: async (about, bytes) => void stored.set(about, bytes),
  };
  const releases: (() => void)[] = [];
  const speak: Speak =
    changes.speak ??
    async function* () {
      await new Promise<void>((resolve) => releases.push(resolve));
      yield audio(100);
      yield { type: "word", textOffset: 0, atMs: 0 };
      yield audio(50);
    };
  const previews = createPreviews({
    files,
    logger: { warn: (_: unknown, message?: string) => void warned.push(String(message)) } as never,
    ...changes,
  });
  const preview = previewsOfEngine(previews, () => ({
    engine: {
      name: "fake",
      synthesize: (request, signal) => {
        requested.push(request);
        return speak(request, signal);
      },
    },
    settings: changes.settings ?? [],
    secrets: changes.secrets ?? [],
  }));
  return { preview, requested, warned, stored, releases };
}

/** Runs everything that is ready. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test("a voice says one sentence as a WAV file, and is not asked again", async () => {
  const { preview, requested, releases } = setUp();
  const first = preview({ name: "a" });
  const second = preview({ name: "a" });
  await settled();
  releases.shift()?.();
  const heard = await first;
  expect(await second).toBe(heard);
  expect(requested).toEqual([
    { text: expect.stringMatching(/^Hello/) as string, voice: "a", language: "en" },
  ]);
  if (heard.kind !== "heard") throw new Error(heard.kind);
  expect(parseWavHeader(heard.wav)).toEqual({ sampleRateHz: 22_050, channels: 1, dataBytes: 300 });
  expect(heard.wav.byteLength).toBe(344);
  expect(await preview({ name: "a" })).toEqual(heard);
  expect(requested).toHaveLength(1);
});

test("another language, voice or engine setting is another sample", async () => {
  const speak: Speak = async function* () {
    yield audio(1);
  };
  const { preview, requested, stored } = setUp({ speak });
  await preview({ name: "a", primaryLanguage: "de-CH" });
  await preview({ name: "b" });
  expect(requested.map(({ voice, language }) => [voice, language])).toEqual([
    ["a", "de-CH"],
    ["b", "en"],
  ]);
  expect(requested[0]?.text).toMatch(/^Hallo/);
  const files: PreviewFiles = { read: async (about) => stored.get(about) ?? null, keep: async () => {} };
  const other = setUp({ speak, files, settings: ["another model"] });
  await other.preview({ name: "b" });
  expect(other.requested).toHaveLength(1);
});

test("few are made at once, some wait, and more are sent away", async () => {
  const { preview, requested, releases } = setUp({ limits: { atOnce: 2, waiting: 1 } });
  const previews = ["a", "b", "c", "d"].map((name) => preview({ name }));
  await settled();
  expect(requested.map(({ voice }) => voice)).toEqual(["a", "b"]);
  expect(await previews[3]).toEqual({ kind: "busy" });
  releases.shift()?.();
  expect(await previews[0]).toMatchObject({ kind: "heard" });
  await settled();
  expect(requested.map(({ voice }) => voice)).toEqual(["a", "b", "c"]);
  for (const release of releases) release();
  expect((await Promise.all(previews)).map(({ kind }) => kind)).toEqual(["heard", "heard", "heard", "busy"]);
  // Both turns were released.
  const late = [preview({ name: "e" }), preview({ name: "f" })];
  await settled();
  expect(requested).toHaveLength(5);
  for (const release of releases) release();
  await Promise.all(late);
});

test("no request waits forever behind an engine that hangs", async () => {
  const { preview, requested, releases } = setUp({ limits: { atOnce: 1, waitMs: 5 } });
  const first = preview({ name: "a" });
  expect(await preview({ name: "b" })).toEqual({ kind: "busy" });
  releases.shift()?.();
  expect(await first).toMatchObject({ kind: "heard" });
  const third = preview({ name: "c" });
  await settled();
  releases.shift()?.();
  expect(await third).toMatchObject({ kind: "heard" });
  expect(requested.map(({ voice }) => voice)).toEqual(["a", "c"]);
});

test.each<[string, Speak, string]>([
  [
    "an engine that fails",
    // oxlint-disable-next-line require-yield
    async function* () {
      throw new Error("the server refused the key sk-very-secret.");
    },
    "the server refused the key [key]",
  ],
  ["an engine that says nothing", async function* () {}, "the voice produced no audio"],
  [
    "an engine that never ends",
    async function* () {
      for (;;) yield audio(1_000_000);
    },
    "the speech was too long",
  ],
  [
    "an engine that hangs",
    async function* (_, signal) {
      await new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(abortError()));
      });
      yield audio(1);
    },
    "it did not finish within 0.005 s",
  ],
])("%s fails with a reason, and is retried", async (_, speak, reason) => {
  const { preview, requested, stored } = setUp({
    speak,
    limits: { synthesisMs: 5 },
    secrets: ["sk-very-secret"],
  });
  expect(await preview({ name: "a" })).toEqual({ kind: "failed", reason });
  expect(await preview({ name: "a" })).toEqual({ kind: "failed", reason });
  expect([requested.length, stored.size]).toEqual([2, 0]);
});

test("a sample that cannot be stored is still played", async () => {
  const files: PreviewFiles = { read: async () => null, keep: () => Promise.reject(new Error("disk full")) };
  const speak: Speak = async function* () {
    yield audio(1);
  };
  const { preview, warned } = setUp({ files, speak });
  expect(await preview({ name: "a" })).toMatchObject({ kind: "heard" });
  expect(warned).toEqual(["a voice preview could not be stored"]);
});
