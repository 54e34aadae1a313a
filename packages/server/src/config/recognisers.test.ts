import { describe, expect, it } from "vitest";
import { loadConfig } from "./config.ts";

describe("the settings of recognisers", () => {
  it("have no Deepgram without its key or a server of one's own", () => {
    expect(loadConfig({})).toMatchObject({ deepgram: null, sttProtocol: "transcriptions" });
    expect(loadConfig({ DEEPGRAM_BASE_URL: "https://api.deepgram.com/" }).deepgram).toBeNull();
  });

  it("take Deepgram's address and model where only the key is set", () => {
    const deepgram = {
      baseUrl: "https://api.deepgram.com",
      apiKey: "k",
      model: "nova-3",
      endOfTurnMs: 1_500,
    };
    expect(loadConfig({ DEEPGRAM_API_KEY: "k" }).deepgram).toEqual(deepgram);
    const own = loadConfig({
      DEEPGRAM_BASE_URL: "http://127.0.0.1:8080/",
      DEEPGRAM_MODEL: "nova-2",
      DEEPGRAM_END_OF_TURN_MS: "0",
    }).deepgram;
    expect(own).toEqual({ baseUrl: "http://127.0.0.1:8080", apiKey: null, model: "nova-2", endOfTurnMs: 0 });
  });

  it("take a Flux model", () => {
    const { deepgram } = loadConfig({ DEEPGRAM_API_KEY: "k", DEEPGRAM_MODEL: "flux-general-multi" });
    expect(deepgram?.model).toBe("flux-general-multi");
  });

  it.each([
    [{ STT_PROTOCOL: "grpc" }, "STT_PROTOCOL must be transcriptions or realtime"],
    [{ DEEPGRAM_MODEL: "nova 3" }, "DEEPGRAM_MODEL must be the name of a model, such as nova-3"],
    [{ DEEPGRAM_END_OF_TURN_MS: "999" }, "DEEPGRAM_END_OF_TURN_MS must be 0 or at least 1000"],
    [{ DEEPGRAM_END_OF_TURN_MS: "5001" }, "DEEPGRAM_END_OF_TURN_MS must be at most 5000"],
    [{ DEEPGRAM_BASE_URL: "wss://x" }, "DEEPGRAM_BASE_URL must be an http or https URL"],
  ])("refuse %j", (env, words) => {
    expect(() => loadConfig(env)).toThrow(words);
  });
});
