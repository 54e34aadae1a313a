import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadConfig } from "./config.ts";

const folder = mkdtempSync(join(tmpdir(), "parley-engines-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
function fileWith(content: unknown): string {
  count += 1;
  const path = join(folder, `${String(count)}.json`);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

const SECRET = "sk-very-secret";

describe("the second engines", () => {
  it("are none unless they are set", () => {
    expect(loadConfig({ OPENAI_API_KEY: "sk" }).fallbacks).toEqual({ stt: [], llm: [], tts: [] });
  });

  it("follow the rules of the first ones, without the shared key", () => {
    const { fallbacks } = loadConfig({
      OPENAI_API_KEY: "shared",
      LLM_FALLBACK_BASE_URL: "http://127.0.0.1:11434/v1/",
      LLM_FALLBACK_MODEL: "llama3",
      TTS_FALLBACK_API_KEY: "own",
    });
    expect(fallbacks.llm).toEqual([
      {
        kind: "openai",
        name: "llama3",
        baseUrl: "http://127.0.0.1:11434/v1",
        apiKey: null,
        model: "llama3",
        voice: null,
      },
    ]);
    expect(fallbacks.tts).toMatchObject([
      { name: "alloy of gpt-4o-mini-tts", apiKey: "own", baseUrl: "https://api.openai.com/v1" },
    ]);
  });

  it.each([
    [{ LLM_FALLBACK_BASE_URL: "http://a/v1" }, "LLM_FALLBACK_MODEL is required together with"],
    [{ STT_FALLBACK_MODEL: "m" }, "STT_FALLBACK_MODEL needs STT_FALLBACK_BASE_URL or STT_FALLBACK_API_KEY"],
    [{ TTS_FALLBACK_VOICE: "v" }, "TTS_FALLBACK_VOICE needs"],
    [{ LLM_HEDGE_MS: "5" }, "LLM_HEDGE_MS must be at least 50"],
  ])("%j are refused", (env, sentence) => {
    expect(() => loadConfig(env)).toThrow(sentence);
  });
});

describe("ENGINES_FILE", () => {
  it("lists further engines after those of the variables, with names of their own", () => {
    const { fallbacks } = loadConfig({
      LLM_FALLBACK_BASE_URL: "http://127.0.0.1:1/v1",
      LLM_FALLBACK_MODEL: "m",
      KEY_OF_THIRD: SECRET,
      ENGINES_FILE: fileWith({
        llm: [
          { baseUrl: "http://127.0.0.1:2/v1", model: "m", apiKeyVariable: "KEY_OF_THIRD" },
          { kind: "openai", name: "last", baseUrl: "http://127.0.0.1:3/v1", model: "n", apiKey: "sk" },
        ],
        tts: [{ kind: "built_in" }],
      }),
    });
    expect(fallbacks.llm.map(({ name }) => name)).toEqual(["m", "m (2)", "last"]);
    expect(fallbacks.llm[1]).toMatchObject({ apiKey: SECRET });
    expect(fallbacks.tts).toEqual([{ kind: "built_in", name: "built-in" }]);
  });

  it("lists engines of every kind, with keys from the environment", () => {
    const { fallbacks } = loadConfig({
      DEEPGRAM_API_KEY: "dg-shared",
      ELEVENLABS_API_KEY: "el-shared",
      GROQ_API_KEY: "groq-shared",
      OTHER_KEY: SECRET,
      ENGINES_FILE: fileWith({
        stt: [
          { kind: "deepgram", model: "nova-3-medical" },
          { kind: "deepgram", baseUrl: "http://127.0.0.1:4/", name: "proxy" },
          { kind: "openai_realtime", baseUrl: "http://127.0.0.1:5/v1", model: "whisper-live" },
          { kind: "local", model: "zipformer-en" },
          { kind: "built_in" },
        ],
        llm: [
          { kind: "sdk", model: "groq:llama-3.3-70b-versatile" },
          { kind: "sdk", model: "anthropic:claude-haiku", apiKeyVariable: "OTHER_KEY", name: "backup" },
          { kind: "local", model: "qwen2.5-1.5b" },
        ],
        tts: [
          { kind: "external", voice: { elevenLabs: { voiceId: "rachel", speed: 1.1 } } },
          { kind: "external", voice: { provider2: { voiceId: "sonia" } }, apiKeyVariable: "OTHER_KEY" },
          { kind: "external", voice: { generic: { url: "https://tts.example/speak" } }, name: "own" },
          { kind: "local", model: "kokoro-en", voice: "af_bella" },
        ],
      }),
    });
    expect(fallbacks.stt).toMatchObject([
      {
        kind: "deepgram",
        name: "deepgram nova-3-medical",
        apiKey: "dg-shared",
        baseUrl: "https://api.deepgram.com",
      },
      { kind: "deepgram", name: "proxy", apiKey: null, baseUrl: "http://127.0.0.1:4", model: "nova-3" },
      { kind: "openai_realtime", name: "whisper-live", apiKey: null },
      { kind: "local", name: "zipformer-en on this machine", model: "zipformer-en", voice: null },
      { kind: "built_in", name: "built-in" },
    ]);
    expect(fallbacks.llm).toMatchObject([
      {
        kind: "sdk",
        name: "groq:llama-3.3-70b-versatile",
        target: { vendor: "groq", apiKey: "groq-shared" },
      },
      { kind: "sdk", name: "backup", target: { model: "claude-haiku", apiKey: SECRET } },
      { kind: "local", name: "qwen2.5-1.5b on this machine", model: "qwen2.5-1.5b" },
    ]);
    expect(fallbacks.tts).toMatchObject([
      {
        kind: "external",
        name: "rachel of elevenLabs",
        provider: "provider1",
        settings: { voiceId: "rachel", speed: 1.1 },
        apiKey: "el-shared",
      },
      { name: "sonia of cartesia", provider: "provider2", apiKey: SECRET },
      { name: "own", provider: "generic", apiKey: "" },
      { kind: "local", name: "af_bella of kokoro-en on this machine", voice: "af_bella" },
    ]);
  });

  it.each([
    [{ stt: [{ kind: "deepgram" }] }, "where stt[0] needs apiKeyVariable, or the variable DEEPGRAM_API_KEY"],
    [
      { stt: [{ kind: "deepgram", model: "-nova", apiKeyVariable: "PATH" }] },
      "where stt[0].model must be the name of a model, such as nova-3",
    ],
    [{ stt: [{ kind: "deepgram", apiKey: SECRET }] }, "where stt[0] has the unknown field apiKey"],
    [
      { stt: [{ kind: "sdk", model: "groq:x" }] },
      "where stt[0].kind has a kind that is not known here: it may be openai, openai_realtime, deepgram, local, built_in",
    ],
    [
      { llm: [{ kind: "deepgram", model: "x" }] },
      "where llm[0].kind has a kind that is not known here: it may be openai, sdk, local, built_in",
    ],
    [
      { llm: [{ kind: "sdk", model: "llama3" }] },
      "where llm[0].model must be VENDOR:MODEL, with one of openai, ",
    ],
    [
      { llm: [{ kind: "sdk", model: "groq:x" }] },
      "where llm[0] needs apiKeyVariable, or the variable GROQ_API_KEY",
    ],
    [{ tts: [{ kind: "external", voice: {} }] }, "where tts[0].voice must have exactly one of elevenLabs"],
    [
      { tts: [{ kind: "external", voice: { elevenLabs: { speed: 9 } } }] },
      "where tts[0].voice.elevenLabs.speed must be from 0.7 to 1.2",
    ],
    [
      { tts: [{ kind: "external", voice: { lmnt: { voiceId: "a" } } }] },
      "where tts[0] needs apiKeyVariable, or the variable LMNT_API_KEY",
    ],
    [
      { tts: [{ kind: "external", voice: { google: {} }, apiKeyVariable: "WITH_SPACE" }] },
      "where tts[0].apiKeyVariable names a variable whose value must be the JSON document",
    ],
    [
      { tts: [{ kind: "external", voice: { lmnt: { voiceId: "a" } }, apiKeyVariable: "WITH_SPACE" }] },
      "where tts[0].apiKeyVariable names a variable whose value must be printable ASCII",
    ],
    [
      { tts: [{ kind: "external", voice: { generic: { url: "https://x" } }, apiKeyVariable: "PATH" }] },
      "where tts[0].apiKeyVariable is for vendors",
    ],
  ])("that has %j stops the start with the place", (content, sentence) => {
    const path = fileWith(content);
    let message = "";
    try {
      loadConfig({ ENGINES_FILE: path, PATH: "x", WITH_SPACE: `${SECRET} and more` });
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain(`ENGINES_FILE names ${path}, ${sentence}`);
    expect(message).not.toContain(SECRET);
  });

  it.each([
    ["{", "which is not JSON"],
    ["[]", "where the content must be"],
    [{ vad: [] }, "where the content has the unknown field vad"],
    [{ llm: {} }, "where llm must be a list"],
    [{ llm: [{ baseUrl: "ftp://x", model: "m" }] }, "where llm[0].baseUrl must be an http or https URL"],
    [{ llm: [{ baseUrl: "http://x" }] }, "where llm[0].model must be"],
    [{ tts: [{ baseUrl: "http://x", model: "m" }] }, "where tts[0].voice must be"],
    [{ stt: [{ baseUrl: "http://x", model: "m", voice: "v" }] }, "where stt[0] has the unknown field voice"],
    [{ stt: [{ kind: "magic" }] }, "where stt[0].kind has a kind that is not known"],
    [
      { llm: [{ baseUrl: "http://x", model: "m", apiKeyVariable: "NOT_SET_HERE" }] },
      "where llm[0].apiKeyVariable names NOT_SET_HERE, which is not set",
    ],
    [
      { llm: [{ baseUrl: "http://x", model: "m", apiKeyVariable: "PATH", apiKey: SECRET }] },
      "where llm[0] has apiKey and apiKeyVariable",
    ],
    [
      { llm: [{ baseUrl: "http://x", model: "m", apiKey: `${SECRET} ` }] },
      "where llm[0].apiKey must be printable",
    ],
  ])("that has %j stops the start with the place", (content, sentence) => {
    const path = fileWith(content);
    let message = "";
    try {
      loadConfig({ ENGINES_FILE: path, PATH: "x" });
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain(`ENGINES_FILE names ${path}, `);
    expect(message).toContain(sentence);
    expect(message).not.toContain(SECRET);
  });

  it("that does not exist stops the start", () => {
    expect(() => loadConfig({ ENGINES_FILE: join(folder, "none.json") })).toThrow(
      /which cannot be read \(ENOENT/,
    );
  });
});
