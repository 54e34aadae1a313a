/** One request of ours with its answer: addresses one after the other, and the password when it is asked for. */

import { errorOf } from "../../../pacing/error-text.ts";
import { TargetRefused } from "../../../net/target-url.ts";
import { failureText } from "../sockets/send-failure.ts";
import type { Authorizer, Tried } from "../digest/authorizer.ts";
import { nextHopOf } from "../dialogs/dialog.ts";
import { headerOf } from "../message/headers.ts";
import { MAX_REASON_CHARS } from "../message/parse.ts";
import type { RequestText, SipResponse } from "../message/message.ts";
import { serialize } from "../message/serialize.ts";
import { wholeNumber, withoutControls } from "../message/syntax.ts";
import type { ClientTransaction } from "../transactions/client-transaction.ts";
import { requestOnBranch } from "../transactions/on-branch.ts";
import { TRANSACTION_MS } from "../transactions/timers.ts";
import type { Hop } from "../transactions/wire.ts";
import type { SipFailure, SipHeader, SipSource } from "../user-agent.ts";
import { newVia, type AgentContext } from "./context.ts";
import { flowLeadsTo, sendOnce } from "./flow.ts";

export interface ExchangeOptions {
  /** A new request for each attempt, with the next number of CSeq and without Via. */
  readonly build: (authorization: readonly SipHeader[], hop: Hop) => RequestText;
  /** To find the address before there is a hop; its Request-URI and Route count. */
  readonly target: string;
  readonly method: string;
  readonly uri: string;
  readonly authorizer: Authorizer;
  /** The way that the peer's messages came, which is taken in place of an address that is looked up. */
  readonly flow?: Hop | null;
  readonly listener: ExchangeListener;
}

export interface ExchangeListener {
  provisional?(response: SipResponse, sent: Sent): void;
  /** Once; for an INVITE each further 200 as well. */
  final(response: SipResponse, sent: Sent): void;
  /** A 2xx to an INVITE after it was sent by another way: that call is to be ended. */
  late?(response: SipResponse, sent: Sent): void;
  failed(failure: SipFailure): void;
}

/** The request that a response belongs to. */
export interface Sent {
  readonly request: RequestText;
  readonly hop: Hop;
  /** Where the response came from. */
  readonly source: Hop;
}

/** Challenges and addresses of one request together. */
const MAX_ATTEMPTS = 8;
/**
 * Longer requests go over TCP first: datagrams that networks cut into pieces get lost (RFC 3261, 18.1.1). A peer that
 * cannot be reached over TCP gets them over UDP.
 */
export const MAX_DATAGRAM_REQUEST_BYTES = 1_300;
/** Wait for a first response over TCP where UDP is left: a firewall may drop what asks for a connection. */
const TCP_TRY_MS = 3_000;

export class Exchange {
  readonly #context: AgentContext;
  readonly #options: ExchangeOptions;
  readonly #tried: Tried = new Map();
  #hops: readonly Hop[] = [];
  #attempts = 0;
  #transaction: ClientTransaction | null = null;
  #hasProvisional = false;
  #isCanceled = false;
  #isOver = false;
  /** The addresses have their TCP ones before them. */
  #prefersTcp = false;
  #stopTcpTry: () => void = () => undefined;
  #stopCancel: () => void = () => undefined;
  /** INVITEs that may still arrive, by their number among the attempts; true: CANCEL was sent. */
  readonly #left = new Map<number, { readonly transaction: ClientTransaction; isCanceled: boolean }>();

  constructor(context: AgentContext, options: ExchangeOptions) {
    this.#context = context;
    this.#options = options;
  }

  begin(): this {
    this.#locate().catch((error: unknown) => {
      this.#context.listener.faulted(errorOf(error));
      this.#fail({ cause: "protocol", status: 488, reason: "The request could not be written" });
    });
    return this;
  }

  /** The address that is tried now; null: none is known yet. */
  get tried(): SipSource | null {
    const [hop] = this.#hops;
    return hop === undefined ? null : sourceOf(hop);
  }

  /** For an INVITE: CANCEL as soon as the peer has shown that it knows the INVITE (RFC 3261, 9.1). */
  cancel(): void {
    if (this.#isCanceled || this.#isOver) return;
    this.#isCanceled = true;
    if (this.#transaction === null) this.#fail({ cause: "canceled", status: 487, reason: "Canceled" });
    else if (this.#hasProvisional) this.#sendCancel(this.#transaction);
  }

  async #locate(): Promise<void> {
    const { flow = null, target } = this.#options;
    try {
      this.#hops = flow === null ? await this.#context.locate(target) : await Promise.resolve([flow]);
    } catch (error) {
      const refused = error instanceof TargetRefused;
      const reason = shown(errorOf(error).message);
      if (refused) this.#fail({ cause: "refused_target", status: 403, reason });
      else this.#fail({ cause: "unreachable", status: 503, reason, ...codeOf(error) });
      return;
    }
    if (!this.#isOver) this.#send();
  }

  #send(): void {
    const [hop] = this.#hops;
    const { build, authorizer, method, uri } = this.#options;
    if (hop === undefined || this.#attempts >= MAX_ATTEMPTS) {
      this.#fail({ cause: "unreachable", status: 503, reason: "No address answers" });
      return;
    }
    this.#attempts += 1;
    this.#hasProvisional = false;
    const { via, branch } = newVia(this.#context, hop);
    const built = build(authorizer.headersFor(method, uri), hop);
    const request = { ...built, headers: [{ name: "via", value: via }, ...built.headers] };
    if (this.#isTooLong(request, hop)) {
      this.#prefersTcp = true;
      this.#hops = this.#hops.flatMap((each) =>
        each.transport === "udp" ? [{ ...each, transport: "tcp" as const }, each] : [each],
      );
      this.#send();
      return;
    }
    const attempt = this.#attempts;
    const transaction = this.#context.transactions.request(request, branch, hop, {
      responded: (response, source) => {
        const sent = { request, hop, source };
        if (this.#left.has(attempt)) this.#late(attempt, response, sent);
        else if (response.status < 200) this.#provisional(response, sent);
        else this.#final(response, sent);
      },
      failed: (cause, error) => {
        if (!this.#left.delete(attempt)) this.#next(cause, error);
      },
    });
    this.#transaction = transaction;
    if (this.#prefersTcp && hop.transport === "tcp") this.#limitTcpTry(transaction);
    if (transaction === null)
      this.#fail({ cause: "unreachable", status: 503, reason: "Too many requests are open" });
  }

  #limitTcpTry(transaction: ClientTransaction | null): void {
    this.#stopTcpTry();
    this.#stopTcpTry = this.#context.clock.after(TCP_TRY_MS, () => {
      if (this.#isOver || this.#hasProvisional || this.#transaction !== transaction) return;
      // An INVITE that comes late must not ring on: a CANCEL has to wait for its first response (RFC 3261, 9.1).
      if (transaction !== null && this.#options.method === "INVITE")
        this.#left.set(this.#attempts, { transaction, isCanceled: false });
      else transaction?.drop();
      this.#next("unreachable", null);
    });
  }

  /** A response to an INVITE that was sent by another way meanwhile. */
  #late(attempt: number, response: SipResponse, sent: Sent): void {
    const left = this.#left.get(attempt);
    if (left === undefined) return;
    if (response.status < 200) {
      if (left.isCanceled) return;
      left.isCanceled = true;
      this.#requestCancel(left.transaction);
      this.#context.clock.after(TRANSACTION_MS, () => {
        left.transaction.drop();
        this.#left.delete(attempt);
      });
    } else if (response.status < 300) this.#options.listener.late?.(response, sent);
    else if (!left.isCanceled) this.#left.delete(attempt);
  }

  /** Within a call the way of the peer's messages is kept. */
  #isTooLong(request: RequestText, hop: Hop): boolean {
    const isFixed = this.#prefersTcp || (this.#options.flow ?? null) !== null;
    if (isFixed || hop.transport !== "udp" || !this.#hasTcp()) return false;
    return serialize(request).length > MAX_DATAGRAM_REQUEST_BYTES;
  }

  #hasTcp(): boolean {
    return this.#context.network.bound.some(({ transport }) => transport === "tcp");
  }

  #provisional(response: SipResponse, sent: Sent): void {
    const isFirst = !this.#hasProvisional;
    this.#hasProvisional = true;
    if (this.#isCanceled && isFirst && this.#transaction !== null) this.#sendCancel(this.#transaction);
    if (!this.#isOver) this.#options.listener.provisional?.(response, sent);
  }

  #final(response: SipResponse, sent: Sent): void {
    const { listener, authorizer } = this.#options;
    const isChallenge = response.status === 401 || response.status === 407;
    const isRepeatable = !this.#isCanceled && !this.#isOver;
    if (isRepeatable && isChallenge && authorizer.challenged(response, this.#tried)) {
      this.#send();
      return;
    }
    if (isRepeatable && response.status === 503 && this.#hops.length > 1) {
      this.#next("unreachable", null);
      return;
    }
    this.#isOver = true;
    this.#stopTcpTry();
    this.#stopCancel();
    listener.final(response, sent);
  }

  #next(cause: "timeout" | "unreachable", error: Error | null): void {
    const [hop] = this.#hops;
    this.#hops = this.#hops.slice(1);
    if (this.#isCanceled) this.#fail({ cause: "canceled", status: 487, reason: "Canceled" });
    else if (this.#hops.length > 0) this.#send();
    else {
      const tried = hop === undefined ? {} : { tried: sourceOf(hop) };
      if (cause === "timeout") {
        this.#fail({ cause, status: 408, reason: "No response", ...tried });
        return;
      }
      const reason = error === null ? "The message could not be sent" : failureText(error);
      this.#fail({ cause, status: 503, reason, ...tried, ...codeOf(error) });
    }
  }

  /** Without an answer: nothing of the listener is called any more. For a request that is no INVITE. */
  abandon(): void {
    this.#isOver = true;
    this.#transaction?.drop();
  }

  #fail(failure: Omit<SipFailure, "retryAfterMs">): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopTcpTry();
    this.#stopCancel();
    this.#options.listener.failed({ ...failure, retryAfterMs: null });
  }

  #requestCancel({ message, hop }: ClientTransaction): void {
    const request = requestOnBranch(message, "CANCEL", null);
    const branch = /;branch=([^;]+)/.exec(headerOf(request, "via") ?? "")?.[1] ?? "";
    // The answer to the CANCEL says nothing: what counts is the final response to the INVITE.
    const user = { responded: () => undefined, failed: () => undefined };
    this.#context.transactions.request(request, branch, hop, user);
  }

  #sendCancel(transaction: ClientTransaction): void {
    this.#requestCancel(transaction);
    // A peer that has not refused the INVITE by then is not going to (RFC 3261, 9.1).
    const stop = this.#context.clock.after(TRANSACTION_MS, () => {
      transaction.drop();
      this.#fail({ cause: "canceled", status: 487, reason: "Canceled" });
    });
    this.#stopCancel = stop;
  }
}

/** An ACK of a 200, which has no transaction and no answer. */
export async function sendAck(context: AgentContext, ack: RequestText, flow: Hop): Promise<void> {
  const target = nextHopOf(ack);
  // Where the address cannot be found, the way of the 200 is the best one left.
  const found = flowLeadsTo(context, target, flow)
    ? []
    : await context.locate(target).catch((): readonly Hop[] => []);
  const hop = found[0] ?? flow;
  const { via } = newVia(context, hop);
  sendOnce(context, { ...ack, headers: [{ name: "via", value: via }, ...ack.headers] }, hop);
}

function shown(reason: string): string {
  return withoutControls(reason).slice(0, MAX_REASON_CHARS);
}

function codeOf(error: unknown): Pick<SipFailure, "code"> {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" ? { code } : {};
}

function sourceOf({ transport, address, port }: Hop): SipSource {
  return { transport, address, port };
}

export function failureOf(response: SipResponse): SipFailure {
  const { status, reason } = response;
  const seconds = wholeNumber(/^\d+/.exec(headerOf(response, "retry-after") ?? "")?.[0] ?? "", 86_400);
  return { cause: "response", status, reason, retryAfterMs: seconds === null ? null : seconds * 1_000 };
}
