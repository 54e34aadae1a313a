import { Uuid } from "@parley/schema";
import { expect, test } from "vitest";
import { publicVoiceId, publicVoices } from "./public-voices.ts";

test("voices that speak one language name it", () => {
  const languageOf = (name: string) => (name === "thorsten" ? "de-DE" : null);
  const voices = publicVoices({ name: "piper", voices: ["thorsten", "all"], languageOf });
  expect(voices.map(({ primaryLanguage }) => primaryLanguage)).toEqual(["de-DE", null]);
  expect(publicVoices({ name: "other", voices: ["thorsten"] })[0]?.primaryLanguage).toBeNull();
});

test("ids depend on engine and name alone, and stay", () => {
  // Clients store these: a change here is a change of the interface.
  expect(publicVoiceId("espeak-ng", "espeak")).toBe("4347943b-e064-51a9-bbd0-211d3304566a");
  const ids = publicVoices({ name: "espeak-ng", voices: ["espeak", "espeak-f1"] }).map(
    ({ voiceId }) => voiceId,
  );
  const others = publicVoices({ name: "openai", voices: ["espeak", "espeak-f1"] }).map(
    ({ voiceId }) => voiceId,
  );
  expect(new Set([...ids, ...others]).size).toBe(4);
  expect(publicVoiceId("a", "b,c")).not.toBe(publicVoiceId("a,b", "c"));
  for (const id of [...ids, ...others]) {
    expect(Uuid.parse(id)).toBe(id);
    expect(id).toMatch(/^.{14}5.{4}[89ab]/);
  }
});
