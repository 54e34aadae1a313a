/** Access tokens of service accounts: one at a time for each key, kept until shortly before they end. */

import { createHash } from "node:crypto";
import { EngineFailure, networkErrorCode } from "../../ports/engine-failure.ts";
import { readBoundedText } from "../../net/bounded-text.ts";
import { asMessage } from "../voice-failure.ts";
import { GRANT_TYPE, TOKEN_URI, TokenAnswer, TokenRefusal } from "./contract.ts";
import { signerOf, type Signer } from "./key-document.ts";

export interface AccessToken {
  readonly value: string;
  /** False: it was made for this request. */
  readonly isKept: boolean;
}

export interface AccessTokens {
  /** @throws EngineFailure; permanent where Google refuses the key. */
  of(document: string): Promise<AccessToken>;
  /** Forgets a token that Google refused. */
  drop(document: string, token: string): void;
}

export interface AccessTokenOptions {
  /** Only tests set it; the assertion is made for Google's address in any case. */
  readonly tokenUrl?: string;
  readonly timeoutMs?: number;
  readonly nowMs?: () => number;
  readonly closing: AbortSignal;
}

/** A sentence waits for this; Google answers in a tenth of a second. */
const TOKEN_TIMEOUT_MS = 8_000;
/** A token that ends sooner is not used: a sentence may begin just before, and clocks differ. */
const RENEW_BEFORE_MS = 300_000;
/** The least used one is forgotten. Each has about 1 KB; an account uses one key. */
const MAX_TOKENS = 1_000;
/** Google's answers have about 1.2 KB. */
const MAX_ANSWER_BYTES = 65_536;
/** Limits `expires_in`, which is one hour. */
const MAX_LIFE_MS = 12 * 3_600_000;

interface Kept {
  readonly value: string;
  readonly endsAtMs: number;
}

export function openAccessTokens(options: AccessTokenOptions): AccessTokens {
  const { nowMs = Date.now } = options;
  const kept = new Map<string, Kept>();
  const underWay = new Map<string, Promise<Kept>>();

  const keep = (id: string, token: Kept): void => {
    kept.delete(id);
    kept.set(id, token);
    const [oldest] = kept.keys();
    if (kept.size > MAX_TOKENS && oldest !== undefined) kept.delete(oldest);
  };

  const make = (id: string, document: string): Promise<Kept> => {
    const known = underWay.get(id);
    if (known !== undefined) return known;
    const making = requestToken(document, options, nowMs)
      .then((token) => {
        keep(id, token);
        return token;
      })
      .finally(() => underWay.delete(id));
    underWay.set(id, making);
    return making;
  };

  return {
    async of(document) {
      const id = idOf(document);
      const known = kept.get(id);
      if (known !== undefined && known.endsAtMs - RENEW_BEFORE_MS > nowMs()) {
        keep(id, known);
        return { value: known.value, isKept: true };
      }
      return { value: (await make(id, document)).value, isKept: false };
    },
    drop(document, token) {
      const id = idOf(document);
      if (kept.get(id)?.value === token) kept.delete(id);
    },
  };
}

/** The document itself, which is a secret, is no key of a map. */
function idOf(document: string): string {
  return createHash("sha256").update(document).digest("base64");
}

async function requestToken(
  document: string,
  options: AccessTokenOptions,
  nowMs: () => number,
): Promise<Kept> {
  const signer = signerOf(document);
  const startedMs = nowMs();
  const assertion = await signer.assertion(startedMs);
  const { status, body } = await post(assertion, options);
  if (status !== 200) throw refusalOf(status, body, signer, assertion);
  const answer = TokenAnswer.safeParse(jsonOf(body));
  if (!answer.success)
    throw new EngineFailure("the token server of Google answered no access token", { type: "garbage" });
  const { access_token: value, expires_in: lifeS } = answer.data;
  return { value, endsAtMs: startedMs + Math.min(lifeS * 1_000, MAX_LIFE_MS) };
}

async function post(
  assertion: string,
  { tokenUrl = TOKEN_URI, timeoutMs = TOKEN_TIMEOUT_MS, closing }: AccessTokenOptions,
): Promise<{ status: number; body: string | null }> {
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(tokenUrl, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
      body: new URLSearchParams({ grant_type: GRANT_TYPE, assertion }).toString(),
      // The assertion goes nowhere else.
      redirect: "error",
      signal: AbortSignal.any([limit, closing]),
    });
    return { status: response.status, body: await readBoundedText(response, MAX_ANSWER_BYTES) };
  } catch (error) {
    if (limit.aborted)
      throw new EngineFailure("the token server of Google did not answer", { cause: error, type: "timeout" });
    const code = networkErrorCode(error);
    throw new EngineFailure(
      `the token server of Google cannot be reached${code === null ? "" : ` (${code})`}`,
      { cause: error, type: code },
    );
  }
}

function refusalOf(status: number, body: string | null, signer: Signer, assertion: string): EngineFailure {
  const refusal = TokenRefusal.safeParse(jsonOf(body));
  const said = refusal.success ? `: ${refusal.data.error_description ?? refusal.data.error}` : "";
  const message = asMessage(`Google refused the service account key with HTTP ${String(status)}${said}`, [
    ...signer.secrets,
    assertion,
  ]);
  // RFC 6749: 400 with `invalid_grant` and 401 with `invalid_client` refuse the key. 429 and 5xx pass.
  const isPermanent = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return new EngineFailure(message, { isPermanent, type: String(status) });
}

function jsonOf(body: string | null): unknown {
  if (body === null) return null;
  try {
    return JSON.parse(body);
  } catch {
    return null; // The page of a proxy has nothing to add to the status.
  }
}
