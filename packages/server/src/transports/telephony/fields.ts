/** Reads the fields of carriers' messages. Numbers may be texts, names may be missing; nothing here throws. */

import type { AudioEncoding } from "../../media/audio-format.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** Longest id or name that is taken; those of the carriers have 34 to 36 characters. */
const LONGEST_NAME = 256;
const KEY = /^[0-9*#A-D]$/;

/** The JSON object of a text frame; null: it is none. */
export function parseFields(text: string): Fields | null {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    // Not JSON: the caller counts the message as malformed.
    return null;
  }
}

/** Null: not an object. */
export function fieldsOf(value: unknown): Fields | null {
  return isFields(value) ? value : null;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The first of these fields that is a usable name; null: none is. */
export function nameIn(fields: Fields | null, ...keys: readonly string[]): string | null {
  for (const key of keys) {
    const value = own(fields, key);
    if (typeof value === "string" && value !== "" && value.length <= LONGEST_NAME) return value;
  }
  return null;
}

/** A whole number from 0, also as a text; null: none. */
export function countIn(fields: Fields | null, ...keys: readonly string[]): number | null {
  for (const key of keys) {
    const value = own(fields, key);
    const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    if (typeof number === "number" && Number.isSafeInteger(number) && number >= 0) return number;
  }
  return null;
}

/** Lenient, as some carriers break lines; null: no text at all. */
export function base64In(fields: Fields | null, key: string): Uint8Array | null {
  const value = own(fields, key);
  return typeof value === "string" ? Buffer.from(value, "base64") : null;
}

/** A key of a telephone; null: none. */
export function keyIn(fields: Fields | null): string | null {
  const key = nameIn(fields, "digit")?.toUpperCase() ?? "";
  return KEY.test(key) ? key : null;
}

/** Names of encodings as carriers write them, without `audio/` and parameters; null: one that is not spoken here. */
export function encodingOf(name: string): AudioEncoding | "linear" | null {
  const bare = name
    .toLowerCase()
    .replace(/^audio\//, "")
    .replace(/;.*$/, "")
    .trim();
  return ENCODINGS.get(bare) ?? null;
}

const ENCODINGS: ReadonlyMap<string, AudioEncoding | "linear"> = new Map([
  ["x-mulaw", "mulaw"],
  ["mulaw", "mulaw"],
  ["pcmu", "mulaw"],
  ["x-alaw", "alaw"],
  ["alaw", "alaw"],
  ["pcma", "alaw"],
  ["l16", "linear"],
  ["x-l16", "linear"],
  ["raw", "linear"],
  ["x-raw", "linear"],
  ["pcm", "linear"],
  ["linear16", "linear"],
]);

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

function own(fields: Fields | null, key: string): unknown {
  return fields !== null && Object.hasOwn(fields, key) ? fields[key] : undefined;
}
