/** One request of ours with its answer: addresses one after the other, and the password when it is asked for. */

import { errorOf } from "../../../pacing/error-text.ts";
import { TargetRefused } from "../../../net/target-url.ts";
import type { Authorizer, Tried } from "../digest/authorizer.ts";
import { nextHopOf } from "../dialogs/dialog.ts";
import { headerOf } from "../message/headers.ts";
import type { RequestText, SipResponse } from "../message/message.ts";
import { wholeNumber } from "../message/syntax.ts";
import type { ClientTransaction } from "../transactions/client-transaction.ts";
import { requestOnBranch } from "../transactions/on-branch.ts";
import { TRANSACTION_MS } from "../transactions/timers.ts";
import type { Hop } from "../transactions/wire.ts";
import type { SipFailure, SipHeader } from "../user-agent.ts";
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
  #stopCancel: () => void = () => undefined;

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
      const reason = errorOf(error).message;
      if (refused) this.#fail({ cause: "refused_target", status: 403, reason });
      else this.#fail({ cause: "unreachable", status: 503, reason });
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
    const { via, branch } = newVia(this.#context, hop.transport);
    const built = build(authorizer.headersFor(method, uri), hop);
    const request = { ...built, headers: [{ name: "via", value: via }, ...built.headers] };
    const transaction = this.#context.transactions.request(request, branch, hop, {
      responded: (response, source) => {
        if (response.status < 200) this.#provisional(response, { request, hop, source });
        else this.#final(response, { request, hop, source });
      },
      failed: (cause) => {
        this.#next(cause);
      },
    });
    this.#transaction = transaction;
    if (transaction === null)
      this.#fail({ cause: "unreachable", status: 503, reason: "Too many requests are open" });
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
      this.#next("unreachable");
      return;
    }
    this.#isOver = true;
    this.#stopCancel();
    listener.final(response, sent);
  }

  #next(cause: "timeout" | "unreachable"): void {
    this.#hops = this.#hops.slice(1);
    if (this.#isCanceled) this.#fail({ cause: "canceled", status: 487, reason: "Canceled" });
    else if (this.#hops.length > 0) this.#send();
    else if (cause === "timeout") this.#fail({ cause, status: 408, reason: "No response" });
    else this.#fail({ cause, status: 503, reason: "The message could not be sent" });
  }

  #fail(failure: Omit<SipFailure, "retryAfterMs">): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopCancel();
    this.#options.listener.failed({ ...failure, retryAfterMs: null });
  }

  #sendCancel(transaction: ClientTransaction): void {
    const { message, hop } = transaction;
    const request = requestOnBranch(message, "CANCEL", null);
    const branch = /;branch=([^;]+)/.exec(headerOf(request, "via") ?? "")?.[1] ?? "";
    // The answer to the CANCEL says nothing: what counts is the final response to the INVITE.
    const user = { responded: () => undefined, failed: () => undefined };
    this.#context.transactions.request(request, branch, hop, user);
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
  const { via } = newVia(context, hop.transport);
  sendOnce(context, { ...ack, headers: [{ name: "via", value: via }, ...ack.headers] }, hop);
}

export function failureOf(response: SipResponse): SipFailure {
  const { status, reason } = response;
  const seconds = wholeNumber(/^\d+/.exec(headerOf(response, "retry-after") ?? "")?.[0] ?? "", 86_400);
  return { cause: "response", status, reason, retryAfterMs: seconds === null ? null : seconds * 1_000 };
}
