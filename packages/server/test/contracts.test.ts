/** The contracts of the vendors: each field says where the vendor documents it. */

import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { readSource } from "./source-text.ts";

const FOLDER = "packages/server/src/providers";
const files = readdirSync(new URL("../src/providers", import.meta.url), { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => /(?:^|\/)(?:\w+-)?contract\.ts$|\/contracts\/[\w-]+\.ts$/.test(path))
  .toSorted();

/** A field of a shape, such as `model: z.string()`. */
const FIELD = /^(\s+)["\w.[\]-]+: (?:z\b|[A-Z]\w*\b)/;

/** Fields without a comment on their own lines, or on the line before them. */
function uncited(path: string): readonly string[] {
  const lines = readSource(`${FOLDER}/${path}`).split("\n");
  return lines.filter((line, index) => {
    const indent = FIELD.exec(line)?.[1];
    if (indent === undefined || /^\s*(?:\/\/|\*)/.test(line)) return false;
    const next = lines.findIndex((other, at) => at > index && !other.startsWith(`${indent} `));
    const own = lines
      .slice(index, next + 1)
      .filter((other, at) => at === 0 || !new RegExp(`^${indent}["\\w]`).test(other));
    return !own.some((other) => other.includes("//")) && !/^\s*(?:\/\/|\*|\/\*)/.test(lines[index - 1] ?? "");
  });
}

test("every vendor has a contract", () => {
  const folders = new Set(files.map((path) => path.slice(0, path.indexOf("/"))));
  expect([...folders].toSorted()).toEqual([
    "llm-sdk",
    "stt-deepgram",
    "stt-openai",
    "stt-openai-realtime",
    "tts-cartesia",
    "tts-elevenlabs",
    "tts-generic",
    "tts-google",
    "tts-inworld",
    "tts-lmnt",
    "tts-openai",
    "tts-respeecher",
    "voice-cloning",
  ]);
});

test.each(files)("%s says where each field is documented", (path) => {
  expect(uncited(path)).toEqual([]);
});
