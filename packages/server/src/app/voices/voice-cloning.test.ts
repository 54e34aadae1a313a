import { describe, expect, it } from "vitest";
import type { CloneRequest, VoiceCloner } from "../../ports/voice-cloning.ts";
import { createVoiceCloning, type VoiceCloningParts } from "./voice-cloning.ts";

const request: CloneRequest = {
  name: "Ada",
  description: null,
  language: "en",
  recording: { bytes: new Uint8Array(1), mediaType: "audio/wav" },
};

function cloner(kind: "provider1" | "provider2", changes: Partial<VoiceCloner> = {}): VoiceCloner {
  return {
    kind,
    name: kind === "provider1" ? "ElevenLabs" : "Cartesia",
    clone: (_request, key) => Promise.resolve(`voice-of-${key}`),
    remove: () => Promise.resolve(),
    ...changes,
  };
}

function cloningWith(changes: Partial<VoiceCloningParts> = {}) {
  const warned: unknown[] = [];
  const clonerFor = createVoiceCloning({
    cloners: [cloner("provider1"), cloner("provider2")],
    readAccountKey: () => Promise.resolve(null),
    deployment: {},
    logger: { warn: (fields: unknown) => void warned.push(fields) },
    ...changes,
  });
  return { clonerFor, warned };
}

describe("who makes a voice from a recording", () => {
  it("the first provider with a key of the account, then the first with one of the deployment", async () => {
    const deployment = { provider1: "ours-1", provider2: "ours-2" };
    const readAccountKey = (accountId: string, kind: string) =>
      Promise.resolve(accountId === "rich" && kind === "provider2" ? "theirs" : null);
    const { clonerFor } = cloningWith({ deployment, readAccountKey });
    expect(await (await clonerFor("rich"))?.clone(request)).toMatchObject({
      kind: "cloned",
      definition: { provider2: { voiceId: "voice-of-theirs" } },
    });
    expect(await (await clonerFor("poor"))?.clone(request)).toMatchObject({
      definition: { provider1: { voiceId: "voice-of-ours-1" } },
    });
    expect(await cloningWith().clonerFor("poor")).toBeNull();
  });

  it("tells what the provider said, without the key", async () => {
    const failing = cloner("provider1", {
      clone: (_request, key) => Promise.reject(new Error(`ElevenLabs refused ${key}.`)),
    });
    const { clonerFor } = cloningWith({ cloners: [failing], deployment: { provider1: "very-secret" } });
    expect(await (await clonerFor("a"))?.clone(request)).toEqual({
      kind: "failed",
      reason: "ElevenLabs refused [key]",
    });
  });

  it("waits for a limited time, for a limited number of recordings", async () => {
    const hanging = cloner("provider1", {
      clone: (_request, _key, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
        }),
    });
    const parts = { cloners: [hanging], deployment: { provider1: "very-secret" } };
    const { clonerFor } = cloningWith({ ...parts, limits: { requestMs: 200, atOnce: 1 } });
    const bound = await clonerFor("a");
    const first = bound?.clone(request);
    expect(await bound?.clone(request)).toEqual({ kind: "busy" });
    expect(await first).toEqual({ kind: "failed", reason: "it did not answer within 0.2 s" });
    const again = bound?.clone(request);
    expect(await again).toMatchObject({ kind: "failed" });
  });

  it("removes the voice again where it cannot be stored, and logs where that fails", async () => {
    const removed: string[] = [];
    const working = cloner("provider1", {
      remove(voiceId) {
        removed.push(voiceId);
        return removed.length === 1 ? Promise.resolve() : Promise.reject(new Error("no very-secret voice"));
      },
    });
    const { clonerFor, warned } = cloningWith({
      cloners: [working],
      deployment: { provider1: "very-secret" },
    });
    const outcome = await (await clonerFor("a"))?.clone(request);
    if (outcome?.kind !== "cloned") throw new Error("not cloned");
    await outcome.undo();
    await outcome.undo();
    expect(removed).toEqual(["voice-of-very-secret", "voice-of-very-secret"]);
    expect(warned).toHaveLength(1);
    expect(warned[0]).toMatchObject({ vendor: "ElevenLabs", reason: "no [key] voice" });
  });
});
