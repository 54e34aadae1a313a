/** A registration that is refreshed (RFC 3261, 10.2). */

import { backoffMs } from "../../../pacing/backoff.ts";
import { Authorizer } from "../digest/authorizer.ts";
import { headerOf, listOf } from "../message/headers.ts";
import { NO_BODY, type RequestText, type SipResponse } from "../message/message.ts";
import { parseNameAddr } from "../message/name-addr.ts";
import { wholeNumber } from "../message/syntax.ts";
import { escapedUser, parseUri, uriText, type SipUri } from "../message/uri.ts";
import type { Hop } from "../transactions/wire.ts";
import type {
  RegistrationListener,
  RegistrationOptions,
  SipCredentials,
  SipHeader,
  SipRegistration,
} from "../user-agent.ts";
import { contactFor, newCallId, type AgentContext } from "./context.ts";
import { Exchange, failureOf } from "./exchange.ts";
import { proxyRoute } from "./outgoing-call.ts";

/** What we ask for; registrars give less where address translations forget sooner. */
const EXPIRES_S = 600;
const MAX_EXPIRES_S = 86_400;
/** After as many answers that ask for a longer time the registrar is asked again only after the wait for a failure. */
export const MAX_RAISES = 2;
/** The shortest time between two successful requests, whatever the registrar grants. */
const LEAST_REFRESH_MS = 15_000;
/** Part of the granted time after which it is refreshed. */
const REFRESH_PART = 0.5;
/** Every failure doubles the wait, also that of a wrong password, which an operator may correct. */
const BACKOFF = { firstMs: 30_000, longestMs: 600_000 };

/** Address translations forget a datagram's way after 30 s and more. */
const KEEP_ALIVE_MS = 25_000;
const KEEP_ALIVE = Buffer.from("\r\n\r\n");

export class Registration implements SipRegistration {
  readonly #context: AgentContext;
  readonly #options: RegistrationOptions;
  readonly #listener: RegistrationListener;
  readonly #authorizer: Authorizer;
  readonly #registrar: SipUri;
  readonly #proxy: string | null;
  readonly #callId: string;
  readonly #fromTag: string;
  readonly #forgotten: () => void;
  /** End of the user part of our Contact. */
  readonly #contactToken: string;
  readonly credentials: SipCredentials;
  #cseq = 0;
  #expiresS = EXPIRES_S;
  #failures = 0;
  /** Requests that were sent again at once, for a longer time. */
  #raises = 0;
  #isRegistered = false;
  #stopTimer: () => void = () => undefined;
  #stopKeepAlive: () => void = () => undefined;
  #closing: Promise<void> | null = null;
  #isAsking = false;

  constructor(
    context: AgentContext,
    options: RegistrationOptions,
    listener: RegistrationListener,
    forgotten: () => void,
  ) {
    const registrar = parseUri(
      /^sips?:/i.test(options.registrar) ? options.registrar : `sip:${options.registrar}`,
    );
    if (registrar === null || options.username === "") throw new Error("the registrar is not a SIP URI");
    this.#context = context;
    this.#options = options;
    this.#listener = listener;
    this.#forgotten = forgotten;
    this.#registrar = { ...registrar, user: null };
    this.#proxy = proxyRoute(options.outboundProxy ?? null);
    this.credentials = { username: options.authUser ?? options.username, password: options.password };
    this.#authorizer = new Authorizer(this.credentials, () => context.random.token());
    this.#callId = newCallId(context);
    this.#fromTag = context.random.token();
    this.#contactToken = `-${context.random.token()}`;
    context.log.begin(this.#logKey, { id: options.id, kind: "registration" });
    this.#register();
  }

  get id(): string {
    return this.#options.id;
  }

  get #logKey() {
    return { callId: this.#callId, tag: this.#fromTag };
  }

  get username(): string {
    return this.#options.username;
  }

  /** Nobody but the registrar knows our Contact, so an INVITE to it comes by the registration. */
  isContact(user: string | null): boolean {
    return user?.endsWith(this.#contactToken) === true;
  }

  close(): Promise<void> {
    this.#closing ??= this.#remove();
    return this.#closing;
  }

  async #remove(): Promise<void> {
    this.#stopTimer();
    this.#stopKeepAlive();
    if (this.#isRegistered || this.#isAsking) {
      await new Promise<void>((resolve) => {
        this.#ask(0, () => {
          resolve();
        });
      });
    }
    this.#context.log.end(this.#logKey, this.id);
    this.#forgotten();
  }

  #register(): void {
    this.#isAsking = true;
    this.#ask(this.#expiresS, (outcome) => {
      this.#isAsking = false;
      if (this.#closing === null) this.#settled(outcome);
    });
  }

  #settled(outcome: Outcome): void {
    const { status, reason, response, retryAfterMs, address } = outcome;
    const isSuccess = status >= 200 && status < 300;
    const least =
      response === null ? null : wholeNumber(headerOf(response, "min-expires") ?? "", MAX_EXPIRES_S);
    if (status === 423 && least !== null && least > this.#expiresS && this.#raises < MAX_RAISES) {
      this.#expiresS = least;
      this.#raises += 1;
      this.#register();
      return;
    }
    this.#raises = 0;
    this.#isRegistered = isSuccess;
    if (!isSuccess) this.#stopKeepAlive();
    let nextInMs = Math.max(backoffMs(BACKOFF, this.#failures), retryAfterMs ?? 0);
    this.#failures = isSuccess ? 0 : this.#failures + 1;
    if (isSuccess && response !== null) {
      nextInMs = Math.max(LEAST_REFRESH_MS, this.#granted(response) * REFRESH_PART * 1_000);
    }
    this.#stopTimer = this.#context.clock.after(nextInMs, () => {
      this.#register();
    });
    this.#listener.changed({ successful: isSuccess, status, reason, nextInMs, address });
  }

  /** Datagrams through which an address translation remembers us. */
  #keepAlive(hop: Hop): void {
    this.#stopKeepAlive();
    if (hop.transport !== "udp" || this.#closing !== null) return;
    this.#stopKeepAlive = this.#context.clock.after(KEEP_ALIVE_MS, () => {
      this.#context.network.send(KEEP_ALIVE, hop, () => undefined);
      this.#keepAlive(hop);
    });
  }

  /** Seconds: of our Contact, or else of the whole response. */
  #granted(response: SipResponse): number {
    const ours = (listOf(response, "contact") ?? [])
      .map(parseNameAddr)
      .find((contact) => this.isContact(parseUri(contact?.uri ?? "")?.user ?? null));
    const text = ours?.parameters.get("expires") ?? headerOf(response, "expires") ?? "";
    return Math.min(wholeNumber(text, 2 ** 32) ?? this.#expiresS, MAX_EXPIRES_S);
  }

  #ask(expiresS: number, settled: (outcome: Outcome) => void): void {
    const uri = uriText(this.#registrar);
    new Exchange(this.#context, {
      build: (authorization, hop) => this.#request(expiresS, authorization, hop),
      target: (this.#proxy === null ? null : parseNameAddr(this.#proxy)?.uri) ?? uri,
      method: "REGISTER",
      uri,
      authorizer: this.#authorizer,
      listener: {
        final: (response, { source }) => {
          if (response.status < 300 && expiresS > 0) this.#keepAlive(source);
          const { status, reason, retryAfterMs } = failureOf(response);
          settled({ status, reason, response, retryAfterMs, address: source.address });
        },
        failed: ({ status, reason, retryAfterMs }) => {
          settled({ status, reason, response: null, retryAfterMs, address: null });
        },
      },
    }).begin();
  }

  #request(expiresS: number, authorization: readonly SipHeader[], hop: Hop): RequestText {
    this.#cseq += 1;
    const own = uriText({
      ...this.#registrar,
      user: escapedUser(this.#options.username),
      port: null,
      parameters: new Map(),
    });
    const contact = contactFor(
      this.#context,
      hop,
      `${escapedUser(this.#options.username)}${this.#contactToken}`,
      this.#registrar.scheme === "sips",
    );
    return {
      kind: "request",
      method: "REGISTER",
      uri: uriText(this.#registrar),
      headers: [
        ...(this.#proxy === null ? [] : [{ name: "route", value: this.#proxy }]),
        { name: "max-forwards", value: "70" },
        { name: "from", value: `<${own}>;tag=${this.#fromTag}` },
        { name: "to", value: `<${own}>` },
        { name: "call-id", value: this.#callId },
        { name: "cseq", value: `${String(this.#cseq)} REGISTER` },
        { name: "contact", value: `${contact.value};expires=${String(expiresS)}` },
        { name: "expires", value: String(expiresS) },
        ...authorization,
      ],
      body: NO_BODY,
    };
  }
}

interface Outcome {
  readonly status: number;
  readonly reason: string;
  readonly response: SipResponse | null;
  readonly retryAfterMs: number | null;
  readonly address: string | null;
}
