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

/** A server that repeats what it was sent must not make a secret readable. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let hidden = text;
  for (const secret of secrets)
    if (secret.length >= MIN_SECRET_CHARS) hidden = hidden.replaceAll(secret, "[secret]");
  return hidden;
}
