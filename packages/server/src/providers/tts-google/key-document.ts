/** Reads the JSON document of a service account, and signs what a token is made from. */

import { createPrivateKey, sign, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { EngineFailure } from "../../ports/engine-failure.ts";
import { SCOPE, ServiceAccount, TOKEN_URI } from "./contract.ts";

export interface Signer {
  /** A signed assertion that is valid from `nowMs` for an hour. */
  assertion(nowMs: number): Promise<string>;
  /** Texts that no message may contain. */
  readonly secrets: readonly string[];
}

/** Google makes keys of 2,048 bits. Signing with more than 8,192 would take tens of milliseconds of a thread. */
const MIN_KEY_BITS = 2_048;
const MAX_KEY_BITS = 8_192;
/** Google's limit of an assertion. */
const ASSERTION_LIFE_S = 3_600;

const signAsync = promisify(
  (data: Buffer, key: KeyObject, done: (error: Error | null, signature: Buffer) => void): void => {
    sign("RSA-SHA256", data, key, done);
  },
);

/** @throws EngineFailure, permanent: the document is not one of a service account, or names another token server. */
export function signerOf(document: string): Signer {
  const account = accountOf(document);
  if (account.token_uri !== undefined && account.token_uri !== TOKEN_URI)
    throw refused(`has a token_uri other than ${TOKEN_URI}, which Parley does not follow`);
  const key = keyOf(account.private_key);
  const header = encode({
    alg: "RS256",
    typ: "JWT",
    ...(account.private_key_id === undefined ? {} : { kid: account.private_key_id }),
  });
  return {
    secrets: [account.private_key],
    async assertion(nowMs) {
      const iat = Math.floor(nowMs / 1_000);
      const exp = iat + ASSERTION_LIFE_S;
      const claims = encode({ iss: account.client_email, scope: SCOPE, aud: TOKEN_URI, iat, exp });
      const signature = await signAsync(Buffer.from(`${header}.${claims}`), key);
      return `${header}.${claims}.${signature.toString("base64url")}`;
    },
  };
}

function accountOf(document: string): ServiceAccount {
  let json: unknown;
  try {
    json = JSON.parse(document);
  } catch (error) {
    throw refused("is not a JSON document", error);
  }
  const account = ServiceAccount.safeParse(json);
  if (!account.success)
    throw refused("is not the document of a service account: it lacks type, client_email or private_key");
  return account.data;
}

function keyOf(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: pem, format: "pem" });
  } catch (error) {
    throw refused("has a private_key that cannot be read", error);
  }
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (key.asymmetricKeyType !== "rsa" || bits < MIN_KEY_BITS || bits > MAX_KEY_BITS)
    throw refused(`has a private_key that is not RSA of ${MIN_KEY_BITS} to ${MAX_KEY_BITS} bits`);
  return key;
}

/** The cause is dropped where it could quote the key. */
function refused(reason: string, cause?: unknown): EngineFailure {
  const type = cause instanceof SyntaxError ? "invalid_document" : "invalid_key";
  return new EngineFailure(`the service account key of Google ${reason}`, { isPermanent: true, type });
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
