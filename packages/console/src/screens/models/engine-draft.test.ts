import type { DeploymentEngine } from "@parley/schema";
import { describe, expect, it } from "vitest";
import { draftOf, patchOf } from "./engine-draft.ts";
import { reasonOf } from "./engine-words.ts";

const FREE = { baseUrl: null, apiKey: null, model: null, voice: null };
const engine: DeploymentEngine = {
  source: "stored",
  description: "llama3",
  baseUrl: "http://127.0.0.1:11434/v1",
  model: "llama3",
  voice: null,
  apiKey: "sk-l…",
  selectedBy: null,
  setBy: FREE,
  isStored: true,
  unusedReason: null,
  warning: null,
  list: [],
};
const draft = { ...draftOf(engine), model: " qwen3 " };

describe("the form of an engine", () => {
  it("sends what is filled in, and keeps the key", () => {
    expect(patchOf("llm", engine, draft)).toEqual({ llm: { baseUrl: engine.baseUrl, model: "qwen3" } });
  });

  it("sends a new key, or removes it", () => {
    expect(patchOf("llm", engine, { ...draft, apiKey: " new " })).toMatchObject({ llm: { apiKey: "new" } });
    expect(patchOf("llm", engine, { ...draft, apiKey: "new", removesKey: true })).toMatchObject({
      llm: { apiKey: "" },
    });
  });

  it("sends the voice of a voice only, and nothing that the environment sets", () => {
    const voice = { ...draft, voice: "af_heart" };
    expect(patchOf("stt", engine, voice)).toEqual({ stt: { baseUrl: engine.baseUrl, model: "qwen3" } });
    const setBy = { ...FREE, baseUrl: "TTS_BASE_URL", apiKey: "TTS_API_KEY", model: "TTS_MODEL" };
    expect(patchOf("tts", { setBy }, { ...voice, apiKey: "new" })).toEqual({ tts: { voice: "af_heart" } });
  });
});

describe("the reason of an engine", () => {
  it("names the variable that sets it", () => {
    const selectedBy = "OPENAI_API_KEY";
    expect(reasonOf("llm", { ...engine, source: "environment", selectedBy })).toContain("OPENAI_API_KEY");
    const deepgram = { source: "environment", selectedBy: "DEEPGRAM_API_KEY" } as const;
    expect(reasonOf("stt", { ...engine, ...deepgram })).toContain("by DEEPGRAM_API_KEY");
    expect(reasonOf("llm", engine)).toContain("operator");
    expect(reasonOf("llm", { ...engine, source: "built_in" })).toContain("comes with the service");
  });
});
