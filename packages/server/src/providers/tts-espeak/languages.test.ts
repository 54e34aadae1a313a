import { expect, it } from "vitest";
import type { EspeakVoice } from "./frames.ts";
import { voiceFor } from "./languages.ts";

const voice = (identifier: string, ...languages: [string, number][]): EspeakVoice => ({
  identifier,
  languages: languages.map(([name, priority]) => ({ name, priority })),
});

const VOICES = [
  voice("gmw/en-scotland", ["en-gb-scotland", 5], ["en", 4]),
  voice("gmw/en", ["en-gb", 2], ["en", 2]),
  voice("gmw/en-US", ["en-us", 2], ["en", 3]),
  voice("gmw/de", ["de", 5]),
  voice("sit/cmn", ["cmn", 5], ["zh", 5]),
  voice("sit/yue", ["yue", 5], ["zh", 8]),
  voice("roa/pt", ["pt", 5]),
  voice("roa/pt-BR", ["pt-br", 5], ["pt", 6]),
];

it.each([
  ["en", "gmw/en-US"],
  ["en-US", "gmw/en-US"],
  ["en_GB", "gmw/en"],
  ["en-AU", "gmw/en-US"],
  ["EN-gb-SCOTLAND", "gmw/en-scotland"],
  ["de-CH-1996", "gmw/de"],
  ["zh-Hant-TW", "sit/cmn"],
  ["zh-HK", "sit/yue"],
  ["pt", "roa/pt"],
  ["pt-BR", "roa/pt-BR"],
  ["pt-AO", "roa/pt"],
  ["tlh", null],
  ["", null],
  ["-", null],
])("speaks %j with %s", (language, identifier) => {
  expect(voiceFor(VOICES, language)).toBe(identifier);
});
