/** Keeps the challenges of one call or registration, and answers them. */

import type { SipCredentials, SipHeader } from "../user-agent.ts";
import type { SipResponse } from "../message/message.ts";
import { checkedValue } from "../message/syntax.ts";
import { answerChallenge, challengesOf, type Challenge } from "./digest.ts";

/** Proxies that each want a password on one way. */
const MAX_REALMS = 5;

interface Held {
  readonly challenge: Challenge;
  count: number;
}

/** Realms that one request was answered for, with the nonces. */
export type Tried = Map<string, string[]>;

export class Authorizer {
  readonly #credentials: SipCredentials | null;
  readonly #newCnonce: () => string;
  readonly #held = new Map<string, Held>();

  /** @throws for a user name with control characters */
  constructor(credentials: SipCredentials | null, newCnonce: () => string) {
    if (credentials !== null) checkedValue(credentials.username);
    this.#credentials = credentials;
    this.#newCnonce = newCnonce;
  }

  /**
   * True: the request is to be sent again. False: no password, a wrong one, or a scheme that is not known.
   * @param tried of this request alone, since a server may replace its nonce between two requests
   */
  challenged(response: SipResponse, tried: Tried): boolean {
    const [challenge] = challengesOf(response);
    if (this.#credentials === null || challenge === undefined) return false;
    const key = `${String(challenge.isProxy)} ${challenge.realm}`;
    const nonces = tried.get(key) ?? [];
    // A second challenge means a wrong password, unless the nonce had become too old on the way.
    if (nonces.length > 1 || nonces.includes(challenge.nonce)) return false;
    if (nonces.length === 1 && !challenge.isStale) return false;
    if (!this.#held.has(key) && this.#held.size >= MAX_REALMS) return false;
    tried.set(key, [...nonces, challenge.nonce]);
    this.#held.set(key, { challenge, count: 0 });
    return true;
  }

  headersFor(method: string, uri: string): readonly SipHeader[] {
    const credentials = this.#credentials;
    if (credentials === null) return [];
    return [...this.#held.values()].map((held) => {
      held.count += 1;
      const use = { credentials, method, uri, cnonce: this.#newCnonce(), count: held.count };
      return {
        name: held.challenge.isProxy ? "proxy-authorization" : "authorization",
        value: answerChallenge(held.challenge, use),
      };
    });
  }
}
