/** What tools answer as text for a model or a record (D144, D145). */

/** Bytes of UTF-8 that a model is shown of one result. */
export const MAX_RESULT_BYTES = 65_536;

/** Characters of what a failed tool says that the model sees. */
export const MAX_FAILURE_CHARS = 2_000;
/** Bytes of it that the record keeps. */
export const MAX_DETAIL_BYTES = 16_384;

/** What is shorter is no secret, and would be found in every other word. */
const MIN_SECRET_CHARS = 4;

const CUT_NOTICE = "\n[The rest was cut: the result was longer than 64 KiB.]";
const TEXT_TYPES =
  /^(?:text\/.*|application\/(?:(?:.*\+)?(?:json|xml|yaml)|x-yaml|x-ndjson|jsonl|javascript|ecmascript|graphql|x-www-form-urlencoded)|image\/svg\+xml)$/;

/** Null: not a text. */
export function readText(body: Uint8Array, headers: Readonly<Record<string, string>>): string | null {
  if (body.length === 0) return "";
  // It was asked not to be compressed; what is so all the same is no text.
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity" && encoding !== "") return null;
  const { type, charset } = mediaType(headers);
  if (type !== "" && !TEXT_TYPES.test(type)) return null;
  const text = decode(body, charset);
  // Nothing was said of its type: a NUL or broken UTF-8 says that it is something else.
  return type === "" && /[\0\uFFFD]/.test(text) ? null : text;
}

/** What stands for a result that is no text. */
export function describeBinary(
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
  truncated: boolean,
): string {
  const type = mediaType(headers).type || "unknown type";
  const size = `${truncated ? "more than " : ""}${String(body.length)} bytes`;
  return `[Binary content that cannot be shown: ${type.slice(0, 100)}, ${size}.]`;
}

/** At most `MAX_RESULT_BYTES` of UTF-8, notice included, cut between characters. */
export function cutResult(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_RESULT_BYTES) return text;
  return cutBytes(bytes, MAX_RESULT_BYTES - Buffer.byteLength(CUT_NOTICE)) + CUT_NOTICE;
}

/** The first whole characters within so many bytes. */
export function cutBytes(bytes: Uint8Array, maxBytes: number): string {
  // A decoder that waits for more keeps back the character that is not complete.
  return new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: bytes.length > maxBytes });
}

/** At most so many UTF-16 units, not ending in half a character. */
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
    return new TextDecoder().decode(body); // A character set that nobody knows: most are UTF-8 by now.
  }
}

/** In a good result only what is as long as a key: shorter secrets are found in words, and the result would be worthless. */
const MIN_RESULT_SECRET_CHARS = 8;
/** Headers that say how to talk, not who talks. */
const HARMLESS_HEADER = /^(?:accept(?:-.*)?|content-type|user-agent)$/i;
/** `X-Key`, `Api-Key-2` and `apikey`, but not `X-Keyword`. */
const SECRET_HEADER =
  /authori[sz]ation|authenticate|cookie|token|secret|credential|password|api-?key|(?:^|[-_])auth(?:$|[-_])|key(?:$|[-_\d])/i;
const SCHEME = /^(?:Bearer|Basic|Token) +(?=\S)/i;
/** Of valid JSON, each text with its quotes; what lies between is numbers, marks and true, false and null. */
const JSON_TEXT = /"[^"\\]*(?:\\.[^"\\]*)*"/g;

/** Whether the value of the header is kept out of failures: of nearly any, for they are read by people. */
export function mayHoldSecret(headerName: string): boolean {
  return !HARMLESS_HEADER.test(headerName);
}

/** Whether the name says that the value is a secret. Others hold tenants and languages, words that good results are about. */
export function namesSecret(headerName: string): boolean {
  return SECRET_HEADER.test(headerName);
}

/** The value of a header, and what of it is left without its scheme. */
export function withoutScheme(value: string): string[] {
  return [...new Set([value, value.replace(SCHEME, "")])];
}

/** As they are sent in each place or stand in JSON; longest first, so that no part of one is left. All well-formed. */
export function sentForms(secrets: readonly string[]): readonly string[] {
  const forms = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams([["", secret]]).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
  ]);
  return [...new Set(forms)].toSorted((a, b) => b.length - a.length);
}

/** A server that repeats what it was sent must not make a secret readable. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return hide(text, secrets, MIN_SECRET_CHARS);
}

/** The same for a good result: what is JSON, as a whole or line by line, stays so, its numbers as they are. */
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
