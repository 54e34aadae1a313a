/** Signatures of the carriers' requests. Pure; comparisons take the same time for all signatures. */

import {
  createHash,
  createHmac,
  createPublicKey,
  timingSafeEqual,
  verify,
  type KeyObject,
} from "node:crypto";

/** Parameters of a form in the order in which they came; names may repeat. */
export type FormParams = readonly (readonly [name: string, value: string])[];

/** Of a header that may list several signatures; a carrier sends one for each of at most a few keys. */
const MAX_SIGNATURES = 8;
/** A webhook is older only when somebody has kept it (Telnyx says the same). */
const MAX_AGE_SECONDS = 300;

export interface TwilioRequest {
  /** The public URL with its query. */
  readonly url: string;
  /** Null: the body is not a form, and `bodySHA256` in the URL is its hash. */
  readonly params: FormParams | null;
  readonly body: Uint8Array;
}

/** HMAC-SHA1 over the URL and the sorted parameters, by the account's primary token. */
export function twilioSignature(token: string, url: string, params: FormParams): string {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of params) values.set(name, (values.get(name) ?? new Set()).add(value));
  const names = [...values.keys()].toSorted(byCodeUnits);
  const text = names
    .map((name) =>
      [...(values.get(name) ?? [])]
        .toSorted(byCodeUnits)
        .map((value) => `${name}${value}`)
        .join(""),
    )
    .join("");
  return createHmac("sha1", token).update(`${url}${text}`, "utf8").digest("base64");
}

/** The URL is tried with and without the default port, because senders differ. */
export function isSignedByTwilio(token: string, signature: string, request: TwilioRequest): boolean {
  if (token === "") return false;
  if (request.params === null && !hasHashOfBody(request)) return false;
  const params = request.params ?? [];
  let isSigned = false;
  for (const url of withAndWithoutPort(request.url)) {
    if (areEqual(twilioSignature(token, url, params), signature)) isSigned = true;
  }
  return isSigned;
}

function hasHashOfBody({ url, body }: TwilioRequest): boolean {
  const given = URL.canParse(url) ? new URL(url).searchParams.get("bodySHA256") : null;
  return given !== null && areEqual(createHash("sha256").update(body).digest("hex"), given.toLowerCase());
}

function withAndWithoutPort(url: string): string[] {
  const [, scheme = "", host = "", port = "", rest = ""] =
    /^(https?):\/\/([^/?#:]+|\[[^\]]+\])(:\d+)?(.*)$/is.exec(url) ?? [];
  if (scheme === "") return [url];
  const standard = scheme.toLowerCase() === "https" ? ":443" : ":80";
  if (port !== "" && port !== standard) return [url];
  return [`${scheme}://${host}${rest}`, `${scheme}://${host}${standard}${rest}`];
}

/** Bytes before the 32 of an Ed25519 key in its DER form (RFC 8410). */
const ED25519_DER = Buffer.from("302a300506032b6570032100", "hex");

/** The key of the account as Telnyx prints it: 32 bytes in base64. Null: it is none. */
export function ed25519Key(publicKey: string): KeyObject | null {
  const bytes = Buffer.from(publicKey, "base64");
  if (bytes.length !== 32 || !/^[A-Za-z0-9+/]{43}=?$/.test(publicKey.trim())) return null;
  return createPublicKey({ key: Buffer.concat([ED25519_DER, bytes]), format: "der", type: "spki" });
}

export interface TelnyxSignature {
  readonly signature: string;
  /** Seconds since 1970. */
  readonly timestamp: string;
}

/** Ed25519 over the time, a bar and the body. */
export function isSignedByTelnyx(
  publicKey: string,
  { signature, timestamp }: TelnyxSignature,
  body: Uint8Array,
  nowMs: number,
): boolean {
  const key = ed25519Key(publicKey);
  if (key === null || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > MAX_AGE_SECONDS) return false;
  const bytes = Buffer.from(signature, "base64");
  return bytes.length === 64 && verify(null, Buffer.concat([Buffer.from(`${timestamp}|`), body]), key, bytes);
}

export interface PlivoSignature {
  /** One or several, separated by commas. */
  readonly signatures: string;
  readonly nonce: string;
}

/** HMAC-SHA256 over URL, query, parameters and nonce: version 3 of the carrier, for POST requests. */
export function plivoSignature(token: string, url: string, params: FormParams, nonce: string): string {
  return createHmac("sha256", token)
    .update(`${plivoBase(url, params)}.${nonce}`, "utf8")
    .digest("base64");
}

export function isSignedByPlivo(
  token: string,
  { signatures, nonce }: PlivoSignature,
  url: string,
  params: FormParams,
): boolean {
  if (token === "" || nonce === "" || !URL.canParse(url)) return false;
  const expected = plivoSignature(token, url, params, nonce);
  let isSigned = false;
  for (const given of signatures.split(",", MAX_SIGNATURES)) {
    if (areEqual(expected, given.trim())) isSigned = true;
  }
  return isSigned;
}

/** The port stays as it is written. */
function plivoBase(url: string, params: FormParams): string {
  const [address = "", search = ""] = url.split("#", 1)[0]?.split(/\?(.*)/s) ?? [];
  const query = sortedPairs([...new URLSearchParams(search)])
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
  const form = sortedPairs(params)
    .map(([name, value]) => `${name}${value}`)
    .join("");
  if (query === "" && form === "") return address;
  return form === "" ? `${address}?${query}` : `${address}?${query === "" ? "" : `${query}.`}${form}`;
}

function sortedPairs(pairs: FormParams): FormParams {
  return pairs.toSorted(
    ([name, value], [otherName, other]) => byCodeUnits(name, otherName) || byCodeUnits(value, other),
  );
}

function byCodeUnits(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function areEqual(expected: string, given: string): boolean {
  const [one, other] = [expected, given].map((text) => createHash("sha256").update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}
