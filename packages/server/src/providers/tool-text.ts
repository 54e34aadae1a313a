/** Converts the results of tools to text for a model or a record. */

export { namesSecret } from "@parley/schema";

/** Limit of bytes of UTF-8 that a model sees of one result. */
export const MAX_RESULT_BYTES = 65_536;

/** Limit of characters of a failed tool's message that the model sees. */
export const MAX_FAILURE_CHARS = 2_000;
/** Limit of bytes of it that the record stores. */
export const MAX_DETAIL_BYTES = 16_384;

/** Shorter texts are not secrets, and would be found in many ordinary words. */
const MIN_SECRET_CHARS = 4;

const CUT_NOTICE = "\n[The rest was cut: the result was longer than 64 KiB.]";
const TEXT_TYPES =
  /^(?:text\/.*|application\/(?:(?:.*\+)?(?:json|xml|yaml)|x-yaml|x-ndjson|jsonl|javascript|ecmascript|graphql|x-www-form-urlencoded)|image\/svg\+xml)$/;

/** Null: not text. */
export function readText(body: Uint8Array, headers: Readonly<Record<string, string>>): string | null {
  if (body.length === 0) return "";
  // The request asked for no compression; a body that is compressed anyway is not text.
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity" && encoding !== "") return null;
  const { type, charset } = mediaType(headers);
  if (type !== "" && !TEXT_TYPES.test(type)) return null;
  const text = decode(body, charset);
  // Without a content type, a NUL or invalid UTF-8 shows that it is not text.
  return type === "" && /[\0\uFFFD]/.test(text) ? null : text;
}

/** Replaces a result that is not text. */
export function describeBinary(
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
  truncated: boolean,
): string {
  const type = mediaType(headers).type || "unknown type";
  const size = `${truncated ? "more than " : ""}${String(body.length)} bytes`;
  return `[Binary content that cannot be shown: ${type.slice(0, 100)}, ${size}.]`;
}

/** Cuts to at most `MAX_RESULT_BYTES` of UTF-8, notice included, between characters. */
export function cutResult(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_RESULT_BYTES) return text;
  return cutBytes(bytes, MAX_RESULT_BYTES - Buffer.byteLength(CUT_NOTICE)) + CUT_NOTICE;
}

/** The first whole characters within this number of bytes. */
export function cutBytes(bytes: Uint8Array, maxBytes: number): string {
  // A decoder in stream mode holds back an incomplete character.
  return new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: bytes.length > maxBytes });
}

/** Cuts to at most this number of UTF-16 units, without half a surrogate pair at the end. */
export function cutChars(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return text.slice(0, maxChars).replace(/[\uD800-\uDBFF]$/, "");
}

function mediaType(headers: Readonly<Record<string, string>>): { type: string; charset: string } {
  const [type = "", ...parameters] = (headers["content-type"] ?? "").split(";");
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/i.exec(parameter)?.[1])
    .find((name) => name !== undefined);
  return { type: type.trim().toLowerCase(), charset: charset ?? "utf-8" };
}

function decode(body: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return new TextDecoder().decode(body); // An unknown character set: most are UTF-8 by now.
  }
}

/**
 * In a successful result only secrets of the length of a key are masked: shorter ones occur in ordinary words, and the
 * result would be useless.
 */
const MIN_RESULT_SECRET_CHARS = 8;
/** Headers of the protocol, which contain no credentials. */
const HARMLESS_HEADER = /^(?:accept(?:-.*)?|content-type|user-agent)$/i;
const SCHEME = /^(?:Bearer|Basic|Token) +(?=\S)/i;
/** Matches each string of valid JSON with its quotes; between them are numbers, punctuation, true, false and null. */
const JSON_TEXT = /"[^"\\]*(?:\\.[^"\\]*)*"/g;

/** Whether the value of the header is masked in failures: true for nearly all, because people read failures. */
export function mayHoldSecret(headerName: string): boolean {
  return !HARMLESS_HEADER.test(headerName);
}

/** The value of a header, and the value without its scheme. */
export function withoutScheme(value: string): string[] {
  return [...new Set([value, value.replace(SCHEME, "")])];
}

/** In the spellings of each place and of JSON; longest first, so that no part of one remains. All well-formed. */
export function sentForms(secrets: readonly string[]): readonly string[] {
  const forms = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams([["", secret]]).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
  ]);
  return [...new Set(forms)].toSorted((a, b) => b.length - a.length);
}

/** Masks secrets, because a server may repeat what it received. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return hide(text, secrets, MIN_SECRET_CHARS);
}

/** The same for a successful result: JSON, as a whole or line by line, stays valid, and its numbers stay unchanged. */
export function resultWithoutSecrets(text: string, secrets: readonly string[]): string {
  const hidden = hide(text, secrets, MIN_RESULT_SECRET_CHARS);
  if (hidden === text || !isJson(text)) return hidden;
  return text.replaceAll(JSON_TEXT, (part) => hide(part, secrets, MIN_RESULT_SECRET_CHARS));
}

function hide(text: string, secrets: readonly string[], minChars: number): string {
  let hidden = text;
  for (const secret of secrets) if (secret.length >= minChars) hidden = hidden.replaceAll(secret, "[secret]");
  return hidden;
}

function isJson(text: string): boolean {
  if (parses(text)) return true;
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.length > 1 && lines.every(parses);
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // Text of another kind: nothing in it is a number of JSON.
  }
}
