/** Parser of request bodies: from bytes to JSON, with a separate answer for each failure (D19, D20). */

import { ApiError, validationError } from "@parley/schema";

/** Largest body of a request. */
export const MAX_BODY_BYTES = 1_048_576;
/**
 * Limit of members, objects and lists in one body or in one entry of a long list: some 15 ms to parse and as
 * much to check. Ten thousand rows of four columns fit.
 */
export const MAX_JSON_MEMBERS = 50_000;
/** Deepest nesting of objects and lists; bounds the recursion of everything that walks a body. */
export const MAX_JSON_DEPTH = 64;

const JSON_TYPE = /^application\/(?:json|[a-z0-9!#$&^_.-]+\+json)$/;

/** `application/json` and `application/…+json`, with any parameters. */
export function isJsonType(contentType: string): boolean {
  const type = contentType.split(";", 1)[0] ?? "";
  return JSON_TYPE.test(type.trim().toLowerCase());
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

export interface JsonLimits {
  readonly depth: number;
  readonly members: number;
}

/** `nested`: brackets outside of texts nest deeper. `crowded`: more members, objects and lists. Uses no stack. */
export function excessOf(bytes: Uint8Array, limits: JsonLimits): "nested" | "crowded" | null {
  let depth = 0;
  let members = 0;
  let inText = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (inText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) {
      inText = true;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      members += 1;
      if (depth > limits.depth) return "nested";
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth -= 1;
    } else if (byte === COLON) {
      members += 1;
    }
    if (members > limits.members) return "crowded";
  }
  return null;
}

/**
 * The dotted path of a key named `__proto__`, or null. JSON.parse makes such a key an ordinary property, but any later
 * copy by assignment would set a prototype instead, so it is refused here. MAX_JSON_DEPTH bounds the depth.
 */
function prototypeKey(value: unknown): string | null {
  if (typeof value !== "object" || value === null) return null;
  if (Object.hasOwn(value, "__proto__")) return "__proto__";
  for (const [key, inner] of Object.entries(value)) {
    const found = prototypeKey(inner);
    if (found !== null) return `${key}.${found}`;
  }
  return null;
}

/** A text that can spell `__proto__` contains it plainly, or escapes one of its letters, which no encoder does. */
const MAY_SPELL_PROTOTYPE = /__proto__|\\u00(?:5f|6f|7[024])/i;

/**
 * Whether no text of valid JSON can contain U+0000 or half of a surrogate pair: UTF-8 has none of them, so they need an
 * escape. Searching the parsed value for them takes fifty times as long.
 */
export function isStorable(bytes: Uint8Array): boolean {
  return !UNSTORABLE_ESCAPE.test(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1"),
  );
}

const UNSTORABLE_ESCAPE = /\\u(?:0000|d[89a-f])/i;

/** The JSON value of a body; an empty body is `{}`. Throws ApiError. */
export function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return {};
  const excess = excessOf(bytes, { depth: MAX_JSON_DEPTH, members: MAX_JSON_MEMBERS });
  if (excess === "crowded") {
    const message = `has more than ${MAX_JSON_MEMBERS} members, objects and lists`;
    throw validationError([{ field: "", message }]);
  }
  if (excess === "nested") {
    throw new ApiError("payload_too_large", `The body nests deeper than ${MAX_JSON_DEPTH} levels.`);
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ApiError("validation_failed", "The body is not UTF-8 text.", { cause });
  }
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const where = cause instanceof SyntaxError ? syntaxPlace(cause.message, text) : "";
    throw new ApiError("validation_failed", `The body is not valid JSON${where}.`, { cause });
  }
  const bad = MAY_SPELL_PROTOTYPE.test(text) ? prototypeKey(value) : null;
  if (bad !== null) throw validationError([{ field: bad, message: "is not an allowed name" }]);
  return value;
}

/** Line and column of a syntax error. The engine's own message may quote the body, which must not be logged. */
function syntaxPlace(message: string, text: string): string {
  const position = /at position (\d+)/.exec(message)?.[1];
  if (position === undefined) return "";
  const before = text.slice(0, Number(position)).split("\n");
  return `: line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
