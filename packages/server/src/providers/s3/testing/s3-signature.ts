/**
 * Checks signatures (SigV4) as a store does, from the bytes of the request. It shares no code with the signer under
 * test.
 */

import { createHash, createHmac, timingSafeEqual } from "node:crypto";

export interface SignedRequest {
  readonly method: string;
  /** Path and query as received, still escaped. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
}

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/** Allowed difference of clocks. */
const SKEW_MS = 15 * 60_000;

/** The error code; null when the signature is correct. */
export function signatureFault(
  request: SignedRequest,
  credentials: Credentials,
  nowMs: number,
): string | null {
  const [path = "", search = ""] = request.target.split("?");
  const query = new Map(
    search
      .split("&")
      .filter((pair) => pair !== "")
      .map((pair) => {
        const [name = "", value = ""] = pair.split("=");
        return [decodeURIComponent(name), decodeURIComponent(value)];
      }),
  );
  const presigned = query.has("X-Amz-Signature");
  const given = presigned ? fromQuery(query) : fromHeader(request);
  if (given === null) return "AccessDenied";
  const [keyId, day, region, kind, end] = given.scope.split("/");
  if (keyId !== credentials.accessKeyId) return "InvalidAccessKeyId";
  if (region !== credentials.region || kind !== "s3" || end !== "aws4_request")
    return "AuthorizationHeaderMalformed";
  const atMs = Date.parse(
    given.date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"),
  );
  if (Number.isNaN(atMs) || !given.date.startsWith(day ?? "?")) return "AccessDenied";
  if (presigned) {
    const seconds = Number(query.get("X-Amz-Expires"));
    if (!(seconds >= 1 && seconds <= 604_800)) return "AuthorizationQueryParametersError";
    if (nowMs > atMs + seconds * 1_000 || nowMs < atMs - SKEW_MS) return "AccessDenied";
  } else if (Math.abs(nowMs - atMs) > SKEW_MS) return "RequestTimeTooSkewed";
  if (!given.signedHeaders.includes("host")) return "AccessDenied";
  const unsigned = Object.keys(request.headers).find(
    (name) => name.startsWith("x-amz-") && !given.signedHeaders.includes(name),
  );
  if (unsigned !== undefined) return "AccessDenied";
  const payload = presigned ? "UNSIGNED-PAYLOAD" : headerOf(request, "x-amz-content-sha256");
  if (payload !== "UNSIGNED-PAYLOAD" && payload !== hex(request.body)) return "XAmzContentSHA256Mismatch";
  query.delete("X-Amz-Signature");
  const escaped = [...query]
    .map(([name, value]) => [escape(name), escape(value)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const canonical = [
    request.method,
    decodeURIComponent(path).split("/").map(escape).join("/"),
    escaped.map(([name, value]) => `${name}=${value}`).join("&"),
    ...given.signedHeaders.map((name) => `${name}:${headerOf(request, name).trim().replaceAll(/\s+/g, " ")}`),
    "",
    given.signedHeaders.join(";"),
    payload,
  ].join("\n");
  const scope = [day, region, kind, end].join("/");
  const text = ["AWS4-HMAC-SHA256", given.date, scope, hex(Buffer.from(canonical))].join("\n");
  const steps = [day ?? "", region, kind, end];
  const key = steps.reduce<Buffer>(
    (secret, step) => createHmac("sha256", secret).update(step).digest(),
    Buffer.from(`AWS4${credentials.secretAccessKey}`),
  );
  const right = createHmac("sha256", key).update(text).digest();
  const signature = Buffer.from(given.signature, "hex");
  const isRight = signature.byteLength === right.byteLength && timingSafeEqual(signature, right);
  return isRight ? null : "SignatureDoesNotMatch";
}

interface Given {
  readonly scope: string;
  readonly date: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

function fromQuery(query: ReadonlyMap<string, string>): Given | null {
  if (query.get("X-Amz-Algorithm") !== "AWS4-HMAC-SHA256") return null;
  return {
    scope: query.get("X-Amz-Credential") ?? "",
    date: query.get("X-Amz-Date") ?? "",
    signedHeaders: (query.get("X-Amz-SignedHeaders") ?? "").split(";"),
    signature: query.get("X-Amz-Signature") ?? "",
  };
}

function fromHeader(request: SignedRequest): Given | null {
  const header = headerOf(request, "authorization");
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(header);
  if (found === null) return null;
  const [, scope = "", signed = "", signature = ""] = found;
  return { scope, date: headerOf(request, "x-amz-date"), signedHeaders: signed.split(";"), signature };
}

function headerOf({ headers }: SignedRequest, name: string): string {
  const value = headers[name];
  return Array.isArray(value) ? value.join(",") : (value ?? "");
}

function escape(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hex(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
