import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { loadConfig } from "./config.ts";

const folder = mkdtempSync(join(tmpdir(), "parley-prices-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
function fileWith(content: unknown): string {
  count += 1;
  const path = join(folder, `${String(count)}.json`);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

const model = { kind: "model", inputPerMillionTokens: 0.15, outputPerMillionTokens: 0.6 };

it("is empty without a file", () => {
  expect(loadConfig({}).prices).toBeNull();
});

it("has prices of models, recognisers and voices, exact to the sixth decimal", () => {
  const { prices } = loadConfig({
    PRICES_FILE: fileWith({
      currency: "EUR",
      prices: [
        { ...model, engine: "openai", model: "gpt-*" },
        { ...model, cachedInputPerMillionTokens: 0.075 },
        { kind: "recogniser", engine: "deepgram", perAudioMinute: 0.004301 },
        { kind: "voice", perMillionCharacters: 30 },
        { kind: "voice", perAudioMinute: 1e-6 },
      ],
    }),
  });
  expect(prices?.currency).toBe("EUR");
  const tokens = { inputNanos: 150_000_000n, outputNanos: 600_000_000n };
  expect(prices?.prices).toEqual([
    { kind: "llm", engine: "openai", model: "gpt-*", ...tokens, cachedInputNanos: 150_000_000n },
    { kind: "llm", engine: "*", model: "*", ...tokens, cachedInputNanos: 75_000_000n },
    { kind: "stt", engine: "deepgram", model: "*", minuteNanos: 4_301_000n },
    { kind: "tts", engine: "*", model: "*", charactersNanos: 30_000_000_000n, minuteNanos: 0n },
    { kind: "tts", engine: "*", model: "*", charactersNanos: 0n, minuteNanos: 1_000n },
  ]);
});

it.each([
  ["{", "which is not JSON"],
  [[], "where the content must be an object"],
  [{ prices: [] }, "where currency must be a text"],
  [{ currency: "usd", prices: [] }, "where currency must be the code of a currency"],
  [{ currency: "USD" }, "where prices must be a list"],
  [{ currency: "USD", prices: [], rates: 1 }, "where the content has the unknown field rates"],
  [{ currency: "USD", prices: [{ kind: "tool" }] }, "where prices[0].kind has a kind that is not known"],
  [{ currency: "USD", prices: [{ ...model, perMinute: 1 }] }, "prices[0] has the unknown field perMinute"],
  [
    { currency: "USD", prices: [model, { ...model, inputPerMillionTokens: "3" }] },
    "where prices[1].inputPerMillionTokens must be a number",
  ],
  [
    { currency: "USD", prices: [{ ...model, outputPerMillionTokens: -1 }] },
    "where prices[0].outputPerMillionTokens must not be negative",
  ],
  [
    { currency: "USD", prices: [{ kind: "recogniser", perAudioMinute: 0.0000001 }] },
    "where prices[0].perAudioMinute must have at most 6 decimals",
  ],
  [{ currency: "USD", prices: [{ kind: "recogniser" }] }, "where prices[0].perAudioMinute must be a number"],
  [{ currency: "USD", prices: [{ kind: "voice" }] }, "where prices[0] must have perMillionCharacters or"],
])("%j stops the start with the place", (content, sentence) => {
  const path = fileWith(content);
  expect(() => loadConfig({ PRICES_FILE: path })).toThrow(`PRICES_FILE names ${path}, `);
  expect(() => loadConfig({ PRICES_FILE: path })).toThrow(sentence);
});
