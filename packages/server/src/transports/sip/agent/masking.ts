/** A message without what must not be stored: answers of digests, keys of media, passwords, keys that were pressed. */

import type { SipHeader } from "../user-agent.ts";
import type { RequestText, ResponseText } from "../message/message.ts";

const MASK = "***";
/** Fields of an authorization that show the password to a search through likely ones. */
const DIGEST_FIELDS =
  /\b(response|nonce|cnonce|opaque|nextnonce|rspauth)\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s,]+)/giu;
const AUTHORIZATIONS: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "authentication-info",
  "www-authenticate",
  "proxy-authenticate",
]);
/** In a piece of a header field that ends with `@`. */
const URI_PASSWORD = /(sips?:[^\s:@<>;]+):.*@$/isu;
/** Of the Contact of a registration (`registration.ts`): whoever knows it can call from any address. */
const CONTACT_TOKEN = /-[0-9a-f]{24}(?=@)/giu;
/** What neither a user nor a password has. Pieces keep the time in proportion to the length, whatever a peer sends. */
const PIECE_ENDS = /(?<=[\s@<>])/u;

export function masked(message: RequestText | ResponseText): RequestText | ResponseText {
  const parts = { headers: message.headers.map(maskedHeader), body: maskedBody(message) };
  return message.kind === "response"
    ? { ...message, ...parts }
    : { ...message, ...parts, uri: withoutPassword(message.uri) };
}

function withoutPassword(text: string): string {
  if (!text.includes("@")) return text;
  return text
    .split(PIECE_ENDS)
    .map((piece) => (piece.endsWith("@") ? piece.replace(URI_PASSWORD, `$1:${MASK}@`) : piece))
    .join("")
    .replaceAll(CONTACT_TOKEN, `-${MASK}`);
}

function maskedHeader({ name, value }: SipHeader): SipHeader {
  const plain = withoutPassword(value);
  if (!AUTHORIZATIONS.has(name)) return { name, value: plain };
  // A scheme that is not Digest may be nothing but a secret.
  if (!/^Digest\s/i.test(plain)) return { name, value: `${plain.split(" ")[0] ?? ""} ${MASK}` };
  return { name, value: plain.replaceAll(DIGEST_FIELDS, `$1="${MASK}"`) };
}

function maskedBody({ headers, body }: RequestText | ResponseText): Buffer {
  const type = (headers.find(({ name }) => name === "content-type")?.value ?? "").toLowerCase();
  const text = body.toString("utf8");
  if (type.startsWith("application/sdp")) {
    const keys = text
      .replaceAll(/(inline:)[^\s|;]+/giu, `$1${MASK}`)
      .replaceAll(/^((?:a=ice-pwd:|k=)).*$/gimu, `$1${MASK}`);
    return Buffer.from(keys, "utf8");
  }
  if (type.startsWith("message/sipfrag")) return Buffer.from(text.split(/\r?\n/)[0] ?? "", "utf8");
  return body.length === 0 ? body : Buffer.from(`(${String(body.length)} bytes)`, "utf8");
}
