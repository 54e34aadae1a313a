import { describe, expect, it } from "vitest";
import type { StoredEngine } from "../store/deployment/engine-settings.ts";
import { OPENAI_BASE_URL } from "./model-servers.ts";
import { changedEngine, chooseEngine } from "./stored-engines.ts";

const OLLAMA = "http://127.0.0.1:11434/v1";
const OTHER = "http://10.0.0.7:8000/v1";
const stored: StoredEngine = { baseUrl: OLLAMA, apiKey: "stored-key", model: "llama3", voice: null };
const atOpenAi: StoredEngine = { baseUrl: OPENAI_BASE_URL, apiKey: null, model: "gpt-5", voice: null };
const NOTHING = { baseUrl: null, apiKey: null, model: null, voice: null };

describe("the engine that is used", () => {
  it("is the one of the service where nothing sets another", () => {
    expect(chooseEngine("llm", {}, null)).toEqual({
      source: "built_in",
      target: null,
      setBy: NOTHING,
      unusedReason: null,
    });
  });

  it("is the stored one where the environment sets none", () => {
    const { source, target, setBy, unusedReason } = chooseEngine("llm", {}, stored);
    expect([source, unusedReason]).toEqual(["stored", null]);
    expect(target).toEqual({ ...stored, voice: null });
    expect(setBy).toEqual(NOTHING);
  });

  it("has the stored voice, or the usual one", () => {
    expect(chooseEngine("tts", {}, { ...stored, voice: "af_heart" }).target?.voice).toBe("af_heart");
    expect(chooseEngine("tts", {}, stored).target?.voice).toBe("alloy");
    const fixed = chooseEngine("tts", { TTS_VOICE: "nova" }, { ...stored, voice: "af_heart" });
    expect([fixed.target?.voice, fixed.setBy.voice]).toEqual(["nova", "TTS_VOICE"]);
  });

  it("is that of the environment, also where another one is stored", () => {
    const env = { LLM_BASE_URL: OTHER, LLM_MODEL: "qwen3" };
    const chosen = chooseEngine("llm", env, stored);
    expect(chosen.source).toBe("environment");
    expect(chosen.target).toEqual({ baseUrl: OTHER, apiKey: null, model: "qwen3", voice: null });
    expect(chosen.setBy).toEqual({ ...NOTHING, baseUrl: "LLM_BASE_URL", model: "LLM_MODEL" });
    expect(chosen.unusedReason).toBe(
      `The stored settings are for ${OLLAMA}, and LLM_BASE_URL sets another server.`,
    );
  });

  it("takes what the environment leaves open from what is stored for the same server", () => {
    const env = { LLM_BASE_URL: OLLAMA, LLM_MODEL: "qwen3" };
    expect(chooseEngine("llm", env, stored)).toMatchObject({
      source: "environment",
      target: { baseUrl: OLLAMA, apiKey: "stored-key", model: "qwen3" },
      unusedReason: null,
    });
    expect(chooseEngine("llm", { OPENAI_API_KEY: "shared" }, atOpenAi)).toMatchObject({
      target: { baseUrl: OPENAI_BASE_URL, apiKey: "shared", model: "gpt-5" },
      setBy: { baseUrl: "OPENAI_API_KEY", apiKey: "OPENAI_API_KEY", model: null },
    });
  });

  it.each([
    [{ LLM_API_KEY: "own" }, "LLM_API_KEY"],
    [{ OPENAI_API_KEY: "shared" }, "OPENAI_API_KEY"],
  ])("never sends the key of %o to a stored server", (env, variable) => {
    const { target, unusedReason } = chooseEngine("llm", env, stored);
    expect(target).toMatchObject({ baseUrl: OPENAI_BASE_URL, model: "gpt-4.1-mini" });
    expect(target?.apiKey).not.toBe("stored-key");
    expect(unusedReason).toContain(`${variable} sets another server`);
  });
});

describe("a change", () => {
  const change = (env: object, before: StoredEngine | null, given: object) =>
    changedEngine("llm", env, before, given);

  it("replaces everything but the key of the same server", () => {
    expect(change({}, stored, { baseUrl: OLLAMA, model: "qwen3" })).toEqual({
      kind: "changed",
      stored: { ...stored, model: "qwen3" },
    });
    expect(change({}, stored, { baseUrl: OLLAMA, model: "qwen3", apiKey: "" })).toMatchObject({
      stored: { apiKey: null },
    });
  });

  it("drops the key with its server", () => {
    expect(change({}, stored, { baseUrl: OTHER, model: "qwen3" })).toEqual({
      kind: "changed",
      stored: { baseUrl: OTHER, apiKey: null, model: "qwen3", voice: null },
    });
  });

  it("is for the server of the environment where that sets one", () => {
    expect(change({ OPENAI_API_KEY: "shared" }, stored, { model: "gpt-5" })).toEqual({
      kind: "changed",
      stored: atOpenAi,
    });
  });

  it.each<[object, object, string, string]>([
    [{}, { baseUrl: OTHER }, "model", "is required: the name of the model at this server"],
    [{}, { model: "gpt-5" }, "apiKey", "is required for OpenAI; for another server, set baseUrl"],
    [{}, {}, "apiKey", "is required for OpenAI; for another server, set baseUrl"],
    [
      { LLM_BASE_URL: OLLAMA, LLM_MODEL: "m" },
      { baseUrl: OTHER },
      "baseUrl",
      "is set by LLM_BASE_URL in the environment, and cannot be changed by a request",
    ],
    [
      { OPENAI_API_KEY: "shared" },
      { apiKey: "mine" },
      "apiKey",
      "is set by OPENAI_API_KEY in the environment, and cannot be changed by a request",
    ],
  ])("in the environment %o to %o is refused", (env, given, field, message) => {
    expect(change(env, null, given)).toEqual({ kind: "refused", errors: [{ field, message }] });
  });

  it("of everything that the environment sets names each field", () => {
    const env = { LLM_BASE_URL: OLLAMA, LLM_MODEL: "m", LLM_API_KEY: "k" };
    const refused = change(env, null, { baseUrl: OTHER, model: "n", apiKey: "l" });
    const fields = refused.kind === "refused" ? refused.errors.map(({ field }) => field) : [];
    expect(fields.toSorted()).toEqual(["apiKey", "baseUrl", "model"]);
  });
});
