import { describe, expect, test } from "vitest";
import { parsePlan } from "../../plan/stored-plan.ts";
import { refusal, setUp } from "./testing/call-creation.ts";

describe("the voice of a provider", () => {
  const ada = "55555555-5555-4555-8555-555555555555";
  const definition = { provider2: { voiceId: "v", generationConfig: { speed: 1.1, emotion: "calm" } } };
  const spoken = {
    findVoices: async () => [{ voiceId: ada, name: "ada", kind: "provider2" as const, definition }],
    voiceKeys: async () => new Map([["provider2", "account"] as const]),
    spokenKinds: () => new Set(["provider2", "generic"] as const),
  };

  test("that the account has is in the plan with its overrides, and on record as it was named", async () => {
    const { call, stored, started } = setUp(spoken);
    const voiceOverrides = { provider2: { generationConfig: { speed: 1.2 } } };
    await call({ voice: "ada", voiceOverrides });
    expect(started[0]?.stage.voice).toEqual({
      kind: "external",
      provider: "provider2",
      settings: { voiceId: "v", generationConfig: { speed: 1.2, emotion: "calm" } },
      key: "account",
      voiceId: ada,
    });
    expect(stored[0]).toMatchObject({ voiceId: ada, settings: { voice: "ada", voiceOverrides } });
    expect(started).toEqual([parsePlan(JSON.parse(JSON.stringify(stored[0]?.plan)))]);
  });

  test("has no record where the request gives it", async () => {
    const { call, stored, started } = setUp(spoken);
    const generic = { url: "https://tts.example", headers: { Authorization: "Bearer very-secret" } };
    await call({ externalVoice: { generic } });
    const voice = { kind: "external", provider: "generic", settings: generic, key: "none", voiceId: null };
    expect(started[0]?.stage.voice).toEqual(voice);
    expect(stored[0]?.voiceId).toBeNull();
  });

  test("needs a key of the account or of the deployment", async () => {
    const keys = new Map([["provider2", "deployment"] as const]);
    const deployment = setUp({ ...spoken, voiceKeys: async () => keys });
    await deployment.call({ externalVoice: { provider2: {} } });
    expect(deployment.started[0]?.stage.voice).toMatchObject({ key: "deployment", voiceId: null });
    const none = setUp({ ...spoken, voiceKeys: async () => new Map() });
    for (const request of [{ voice: "ada" }, { externalVoice: { provider2: {} } }]) {
      expect((await refusal(none.call(request))).kind).toBe("refused");
    }
  });
});
