import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "./config.ts";
import { ConfigError } from "./config-error.ts";

const account = {
  type: "service_account",
  client_email: "voice@project.example",
  private_key: "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n",
};

test("without settings every vendor is at its own address, and has no key", () => {
  const { voiceProviders } = loadConfig({});
  expect(Object.keys(voiceProviders)).toEqual([
    "provider1",
    "provider2",
    "provider3",
    "provider4",
    "provider5",
    "provider6",
  ]);
  for (const target of Object.values(voiceProviders)) expect(target).toEqual({ baseUrl: null, apiKey: null });
});

test.each([
  ["ELEVENLABS", "provider1"],
  ["CARTESIA", "provider2"],
  ["LMNT", "provider3"],
  ["INWORLD", "provider5"],
  ["RESPEECHER", "provider6"],
] as const)("%s is %s", (prefix, provider) => {
  const env = { [`${prefix}_BASE_URL`]: "http://127.0.0.1:9/", [`${prefix}_API_KEY`]: "key-0123" };
  const { voiceProviders } = loadConfig(env);
  expect(voiceProviders[provider]).toEqual({ baseUrl: "http://127.0.0.1:9", apiKey: "key-0123" });
});

test("the key of Google is a document, or the path of its file", () => {
  const dir = mkdtempSync(join(tmpdir(), "google-"));
  try {
    const path = join(dir, "account.json");
    writeFileSync(path, JSON.stringify(account, null, 2));
    for (const given of [JSON.stringify(account), path]) {
      const { apiKey } = loadConfig({ GOOGLE_TTS_API_KEY: given }).voiceProviders.provider4;
      expect(JSON.parse(apiKey ?? "")).toEqual(account);
    }
    writeFileSync(path, "x".repeat(40_000));
    expect(() => loadConfig({ GOOGLE_TTS_API_KEY: path })).toThrow(
      /^GOOGLE_TTS_API_KEY names a file of more/,
    );
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test.each<[string, string, RegExp]>([
  ["ELEVENLABS_BASE_URL", "api.elevenlabs.io", /^ELEVENLABS_BASE_URL must be an http or https URL\.$/],
  ["CARTESIA_API_KEY", "two words", /^CARTESIA_API_KEY must be printable ASCII without spaces\.$/],
  ["LMNT_API_KEY", "x".repeat(4097), /^LMNT_API_KEY must have at most 4096 characters\.$/],
  ["GOOGLE_TTS_API_KEY", "AIza0123", /^GOOGLE_TTS_API_KEY must be the JSON document of a service account/],
  ["GOOGLE_TTS_API_KEY", '{"type":"user"}', /^GOOGLE_TTS_API_KEY must be of the type "service_account"\.$/],
  [
    "GOOGLE_TTS_API_KEY",
    "/nowhere/key.json",
    /^GOOGLE_TTS_API_KEY names a file that cannot be read: .*ENOENT/,
  ],
])("a wrong %s stops the start: %s", (name, value, problem) => {
  expect(() => loadConfig({ [name]: value })).toThrow(ConfigError);
  expect(() => loadConfig({ [name]: value })).toThrow(problem);
});
