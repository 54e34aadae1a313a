import { expect, test } from "vitest";
import { openFakeVoices } from "../../ports/testing/fake-voices.ts";
import { openFakeTts } from "../../ports/testing/fake-tts.ts";
import type { PreviewFiles } from "../../providers/preview-files/preview-files.ts";
import { createPreviews } from "../../voices/voice-previews.ts";
import { definitionPreviews } from "./definition-previews.ts";

function setUp(options: Parameters<typeof openFakeVoices>[0] = {}) {
  const stored = new Map<string, Uint8Array>();
  const files: PreviewFiles = {
    read: async (about) => stored.get(about) ?? null,
    keep: async (about, bytes) => void stored.set(about, bytes),
  };
  const voices = openFakeVoices(options);
  const preview = definitionPreviews({
    preview: createPreviews({ files, logger: { warn: () => {} } }),
    sources: {
      voiceKeys: async () => new Map([["provider1", "account"] as const, ["provider2", "account"] as const]),
      spokenKinds: () => new Set(["provider1", "generic"] as const),
    },
    voices,
    deployment: () => openFakeTts(),
  });
  const spoken = () => voices.provider("provider1").spoken;
  return { preview, spoken, stored, voices };
}

test("a voice of a vendor says the sentence of its language, once for each account and its settings", async () => {
  const { preview, spoken, stored } = setUp();
  const definition = { provider1: { voiceId: "v", speed: 1.1 } };
  const heard = await preview("a", definition, "de");
  expect(heard.kind).toBe("heard");
  expect(await preview("a", definition, "de")).toEqual(heard);
  expect(spoken()).toHaveLength(1);
  expect(spoken()[0]).toMatchObject({ voice: { voiceId: "v", speed: 1.1 }, language: "de" });
  expect(spoken()[0]?.text).toMatch(/^Hallo/);
  expect(spoken()[0]?.output).toEqual({ sampleRateHz: 24_000, encoding: "pcm" });
  await preview("b", definition, "de");
  await preview("a", { provider1: { voiceId: "v", speed: 1.2 } }, "de");
  expect(spoken()).toHaveLength(3);
  expect([...stored.keys()].join()).not.toContain("fake-key");
});

test("what cannot be heard says why", async () => {
  const { preview } = setUp();
  expect(await preview("a", { provider3: {} }, null)).toEqual({ kind: "no_key" });
  expect(await preview("a", { provider2: {} }, null)).toEqual({ kind: "not_spoken" });
  const refused = setUp({ key: "another" });
  expect(await refused.preview("a", { provider1: {} }, null)).toEqual({
    kind: "failed",
    reason: "Fake provider1 answered HTTP 401: the key is not valid",
  });
  const generic = { generic: { url: "https://tts.example" } };
  expect((await setUp().preview("a", generic, null)).kind).toBe("heard");
});
