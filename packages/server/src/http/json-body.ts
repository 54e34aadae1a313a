/** Bodies of requests: bytes in, JSON out, each failure with its own answer (D19, D20). */

import { ApiError, validationError } from "@parley/schema";

/** Largest body of a request. */
export const MAX_BODY_BYTES = 1_048_576;
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
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Whether the brackets outside of texts nest deeper than `limit`; looks at the bytes, so it needs no stack. */
export function nestsDeeper(bytes: Uint8Array, limit: number): boolean {
  let depth = 0;
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
      if (depth > limit) return true;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth -= 1;
    }
  }
  return false;
}

/**
 * The dotted path of a key named `__proto__`, or null. JSON.parse makes such a key an ordinary property, but any later
 * copy by assignment would set a prototype instead, so it is refused at the door. `depth` is bounded by MAX_JSON_DEPTH.
 */
function prototypeKey(value: unknown, path: string): string | null {
  if (typeof value !== "object" || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    const innerPath = path === "" ? key : `${path}.${key}`;
    if (key === "__proto__") return innerPath;
    const found = prototypeKey(inner, innerPath);
    if (found !== null) return found;
  }
  return null;
}

/** Texts that can spell `__proto__` hold it plainly or hold an escape. */
const MAY_SPELL_PROTOTYPE = /__proto__|\\u/;

/** The JSON value of a body; nothing at all is `{}`. Throws ApiError. */
export function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return {};
  if (nestsDeeper(bytes, MAX_JSON_DEPTH)) {
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
  const bad = MAY_SPELL_PROTOTYPE.test(text) ? prototypeKey(value, "") : null;
  if (bad !== null) throw validationError([{ field: bad, message: "is not an allowed name" }]);
  return value;
}

/** Line and column of a syntax error; the engine's own message may quote the body, which belongs in no log. */
function syntaxPlace(message: string, text: string): string {
  const position = /at position (\d+)/.exec(message)?.[1];
  if (position === undefined) return "";
  const before = text.slice(0, Number(position)).split("\n");
  return `: line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
