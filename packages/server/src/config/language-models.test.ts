import { describe, expect, it } from "vitest";
import { loadConfig } from "./config.ts";

const models = (env: Readonly<Record<string, string>>) => loadConfig(env).vendorModels;

describe("models of vendors", () => {
  it("are those that aliases point to, each once, with its key and address", () => {
    const found = models({
      MODEL_ALIASES:
        "fast=groq:llama-3.3,quick=groq:llama-3.3,smart=anthropic:claude-sonnet-4-5,plain=default",
      GROQ_API_KEY: "g",
      ANTHROPIC_API_KEY: "a",
      ANTHROPIC_BASE_URL: "http://127.0.0.1:9/v1/",
      MISTRAL_API_KEY: "unused",
    });
    const none = { aws: null, region: null, takesAudio: false };
    expect(found).toEqual([
      { ...none, name: "groq:llama-3.3", vendor: "groq", model: "llama-3.3", apiKey: "g", baseUrl: null },
      {
        ...none,
        name: "anthropic:claude-sonnet-4-5",
        vendor: "anthropic",
        model: "claude-sonnet-4-5",
        apiKey: "a",
        baseUrl: "http://127.0.0.1:9/v1",
      },
    ]);
  });

  it("may have further colons in their names", () => {
    const found = models({
      MODEL_ALIASES: "smart=bedrock:eu.anthropic.claude-sonnet-4-20250514-v1:0",
      AWS_REGION: "eu-central-1",
      AWS_ACCESS_KEY_ID: "id",
      AWS_SECRET_ACCESS_KEY: "secret",
    });
    expect(found).toMatchObject([
      {
        vendor: "bedrock",
        model: "eu.anthropic.claude-sonnet-4-20250514-v1:0",
        region: "eu-central-1",
        aws: { accessKeyId: "id", secretAccessKey: "secret", sessionToken: null },
      },
    ]);
  });

  it("are none where the name is that of the deployment's server", () => {
    const server = { LLM_BASE_URL: "http://127.0.0.1:11434/v1", LLM_MODEL: "mistral:7b" };
    expect(models({ ...server, MODEL_ALIASES: "m=mistral:7b" })).toEqual([]);
  });

  it("are none where the target begins with no vendor", () => {
    expect(models({ MODEL_ALIASES: "m=llama3.2:3b,n=groq:,o=toString:x" })).toEqual([]);
  });
});

describe("what is missing", () => {
  it.each([
    ["openai", "OPENAI_API_KEY"],
    ["anthropic", "ANTHROPIC_API_KEY"],
    ["google", "GOOGLE_GENERATIVE_AI_API_KEY"],
    ["groq", "GROQ_API_KEY"],
    ["mistral", "MISTRAL_API_KEY"],
    ["bedrock", "AWS_BEARER_TOKEN_BEDROCK (or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)"],
    ["xai", "XAI_API_KEY"],
    ["deepseek", "DEEPSEEK_API_KEY"],
    ["openrouter", "OPENROUTER_API_KEY"],
    ["compatible", "COMPATIBLE_BASE_URL"],
  ])("stops the start for a model of %s", (vendor, variable) => {
    expect(() => loadConfig({ MODEL_ALIASES: `fast=${vendor}:some-model` })).toThrow(
      `${variable} is required: MODEL_ALIASES names ${vendor}:some-model.`,
    );
  });

  it("is the region, where Bedrock has a key", () => {
    const env = { MODEL_ALIASES: "fast=bedrock:amazon.nova-lite-v1:0", AWS_BEARER_TOKEN_BEDROCK: "k" };
    expect(() => loadConfig(env)).toThrow("AWS_REGION is required");
  });
});

describe("LLM_AUDIO_INPUT", () => {
  const server = { LLM_BASE_URL: "http://127.0.0.1:8000/v1", LLM_MODEL: "ultravox" };
  const ears = { COMPATIBLE_BASE_URL: "http://127.0.0.1:8001/v1", MODEL_ALIASES: "ears=compatible:ultravox" };

  it.each([
    [{}, false, []],
    [{ LLM_AUDIO_INPUT: "true" }, true, []],
    [{ LLM_AUDIO_INPUT: "false" }, false, []],
    [{ LLM_AUDIO_INPUT: "ultravox" }, true, []],
    [{ ...ears, LLM_AUDIO_INPUT: "ears" }, false, [true]],
    [{ ...ears, LLM_AUDIO_INPUT: " default , compatible:ultravox " }, true, [true]],
    [{ ...ears, LLM_AUDIO_INPUT: "true" }, true, [false]],
  ])("%j says which models are given the voice", (env, byDefault, named) => {
    const config = loadConfig({ ...server, ...env });
    expect(config.llmTakesAudio).toBe(byDefault);
    expect(config.vendorModels.map(({ takesAudio }) => takesAudio)).toEqual(named);
  });

  it.each([
    ["a,,b", "LLM_AUDIO_INPUT must be true, false, or a comma-separated list of models."],
    ["nose", "LLM_AUDIO_INPUT must name default or aliases of MODEL_ALIASES, which nose is not."],
  ])("refuses %s", (text, message) => {
    expect(() => loadConfig({ ...server, ...ears, LLM_AUDIO_INPUT: text })).toThrow(message);
  });

  it("refuses a vendor whose models take no audio", () => {
    const env = { MODEL_ALIASES: "fast=groq:x", GROQ_API_KEY: "k", LLM_AUDIO_INPUT: "fast" };
    expect(() => loadConfig(env)).toThrow(
      "LLM_AUDIO_INPUT must not name groq:x: models of groq take no audio.",
    );
  });
});
