import { expect, test } from "vitest";
import { previewSentence } from "./preview-sentences.ts";

test.each<[string | null, RegExp, string]>([
  [null, /^Hello/, "en"],
  ["de-CH", /^Hallo/, "de-CH"],
  ["DE", /^Hallo/, "DE"],
  ["no", /^Hei/, "no"],
  ["zh-Hant-TW", /^你好/, "zh-Hant-TW"],
  ["tlh", /^Hello/, "en"],
  ["__proto__", /^Hello/, "en"],
  ["constructor", /^Hello/, "en"],
])("%s", (language, text, spoken) => {
  expect(previewSentence(language)).toEqual({
    text: expect.stringMatching(text) as string,
    language: spoken,
  });
});
