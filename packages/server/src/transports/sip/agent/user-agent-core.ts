/** The user agent: finds out whom each message concerns, and begins calls, registrations and pings. */

import { errorOf } from "../../../pacing/error-text.ts";
import type { Clock } from "../../../pacing/clock.ts";
import type { AllowedTargets } from "../../../net/address-filter.ts";
import { callerKey, keyOfRequest } from "../dialogs/dialog.ts";
import type { SipRequest } from "../message/message.ts";
import { tagOf } from "../message/name-addr.ts";
import { parseMessage, type Parsed } from "../message/parse.ts";
import { parseUri } from "../message/uri.ts";
import { viaFrom, viaText } from "../message/via.ts";
import { locate, type SipDns } from "../routing/locate.ts";
import type { SipNetwork } from "../sockets/sockets.ts";
import type { ResponseParts } from "../message/serialize.ts";
import { canceledKey, serverKey } from "../transactions/keys.ts";
import type { ServerTransaction } from "../transactions/server-transaction.ts";
import { Transactions, type TransactionLimits } from "../transactions/transactions.ts";
import type { Hop, SendFailed } from "../transactions/wire.ts";
import type {
  OutgoingInvite,
  OutgoingInviteListener,
  OutgoingInviteOptions,
  PingOptions,
  PingOutcome,
  RegistrationListener,
  RegistrationOptions,
  SipRegistration,
  SipSource,
  SipTransportName,
  SipUserAgent,
  UserAgentListener,
} from "../user-agent.ts";
import { ABILITIES, ALLOW, contactFor, OTHER_METHODS, type AgentContext, type SipRandom } from "./context.ts";
import { sendOnce } from "./flow.ts";
import { guardedClock } from "./guarded-clock.ts";
import { sendGuarded } from "../sockets/key-guard.ts";
import { IncomingCall } from "./incoming-call.ts";
import { MessageLog } from "./message-log.ts";
import { OutgoingCall } from "./outgoing-call.ts";
import { ping } from "./ping.ts";
import { addressTowards, type OwnAddresses } from "../sockets/own-addresses.ts";
import { Registration } from "./registration.ts";
import { refusalOf, unsupported } from "./requests.ts";

interface AgentOptions {
  readonly clock: Clock;
  readonly network: SipNetwork;
  readonly listener: UserAgentListener;
  readonly isKnown: (address: string) => boolean;
  /** A request is sent there. */
  readonly asked: (address: string) => void;
  readonly dns: SipDns;
  readonly random: SipRandom;
  readonly allowed: AllowedTargets;
  readonly addresses: OwnAddresses;
  readonly transports: readonly SipTransportName[];
  readonly families: readonly (4 | 6)[];
  readonly isRefused: (host: string) => boolean;
  readonly limits?: Partial<TransactionLimits>;
}

/** INVITEs that no application has answered yet. */
const MAX_OPEN_INVITES = 2_000;
/** What peers may take for their answers when the user agent is closed. */
export const CLOSE_LIMIT_MS = 3_000;
const CLOSE_CHECK_MS = 20;
/** Seconds that a peer waits at most with a request for a call that still rings (RFC 3311, 5.2). */
const MOST_RETRY_AFTER_S = 10;
/** Requests that belong to a dialog and came without one. */
const WITHIN_DIALOGS: ReadonlySet<string> = new Set(["BYE", "INFO", "UPDATE", "PRACK", "REFER", "NOTIFY"]);

export class UserAgent implements SipUserAgent {
  readonly #options: AgentOptions;
  readonly #context: AgentContext;
  /** Open INVITEs of peers, by the key of their transaction. */
  readonly #incoming = new Map<string, IncomingCall>();
  readonly #outgoing = new Set<OutgoingCall>();
  readonly #registrations = new Set<Registration>();
  #isClosed = false;

  constructor(options: AgentOptions) {
    this.#options = options;
    const { network, listener, random, addresses, dns, allowed, transports, families } = options;
    const clock = guardedClock(options.clock, (error) => {
      listener.faulted(error);
    });
    const log = new MessageLog(
      clock,
      {
        logged: (entry) => {
          listener.logged(entry);
        },
        logEnded: (owner) => listener.logEnded?.(owner),
      },
      ({ transport, address }) => ({
        address: addressTowards(address, addresses),
        port: network.bound.find((bound) => bound.transport === transport)?.port ?? null,
      }),
    );
    const transactions = new Transactions({
      clock,
      send: (message, hop, failed) => {
        if (message.kind === "request") options.asked(hop.address);
        sendGuarded({ network, log }, message, hop, this.#guardedFailure(failed));
      },
      listener: {
        requested: (request, transaction) => {
          this.#requested(request, transaction);
        },
        acknowledged: (request) => this.#context.calls.get(keyOfRequest(request))?.acknowledged(request),
        // A 200 of a transaction that is long over: its peer ends that call by itself.
        strayed: () => undefined,
      },
      ...(options.limits === undefined ? {} : { limits: options.limits }),
    });
    this.#context = {
      clock,
      random,
      network,
      transactions,
      log,
      listener,
      announcedAddress: addressTowards("", addresses),
      announcedTowards: (peer) => addressTowards(peer, addresses),
      isRefused: options.isRefused,
      calls: new Map(),
      callers: new Set(),
      locate: async (text) => {
        const uri = parseUri(text);
        if (uri === null) throw new Error("the address is not a SIP URI");
        return locate(uri, { dns, allowed, transports, families, random: () => random.fraction() });
      },
    };
  }

  get bound(): readonly SipSource[] {
    return this.#options.network.bound;
  }

  /** Live transactions and calls, for the checks of memory in tests. */
  get load(): {
    readonly transactions: number;
    readonly calls: number;
    readonly callers: number;
    readonly invites: number;
  } {
    const { transactions, calls, callers } = this.#context;
    return {
      transactions: transactions.count,
      calls: calls.size,
      callers: callers.size,
      invites: this.#incoming.size,
    };
  }

  /** From the network: one message that was not parsed yet. */
  received(bytes: Buffer, hop: Hop): void {
    this.#guarded(() => {
      this.#read(parseMessage(bytes), hop);
    })();
  }

  invite(options: OutgoingInviteOptions, listener: OutgoingInviteListener): OutgoingInvite {
    this.#checkOpen();
    const call: OutgoingCall = new OutgoingCall(this.#context, options, listener, () =>
      this.#outgoing.delete(call),
    );
    this.#outgoing.add(call);
    return call;
  }

  register(options: RegistrationOptions, listener: RegistrationListener): SipRegistration {
    this.#checkOpen();
    const registration: Registration = new Registration(this.#context, options, listener, () =>
      this.#registrations.delete(registration),
    );
    this.#registrations.add(registration);
    return registration;
  }

  ping(options: PingOptions): Promise<PingOutcome> {
    this.#checkOpen();
    return ping(this.#context, options);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { calls, clock, transactions } = this.#context;
    for (const call of calls.values()) call.hangUp();
    for (const invite of this.#outgoing) invite.cancel();
    for (const invite of this.#incoming.values()) invite.cancelBy(480);
    let registered = this.#registrations.size;
    for (const registration of this.#registrations)
      void registration.close().finally(() => (registered -= 1));
    for (let waitedMs = 0; waitedMs < CLOSE_LIMIT_MS; waitedMs += CLOSE_CHECK_MS) {
      if (calls.size === 0 && registered === 0) break;
      await new Promise<void>((resolve) => void clock.after(CLOSE_CHECK_MS, resolve));
    }
    transactions.close();
    await this.#options.network.close();
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new Error("the user agent is closed");
  }

  #guardedFailure(failed: SendFailed): SendFailed {
    return (error) => {
      this.#guarded(() => {
        failed(error);
      })();
    };
  }

  #guarded(act: () => void): () => void {
    return () => {
      try {
        act();
      } catch (error) {
        this.#options.listener.faulted(errorOf(error));
      }
    };
  }

  #read(parsed: Parsed, hop: Hop): void {
    const { log, transactions, announcedTowards } = this.#context;
    switch (parsed.kind) {
      case "dropped":
        return;
      case "refused":
        this.#refuse(parsed, hop);
        return;
      case "response":
        // Not for us: another agent's branch, or a reflection (RFC 3261, 18.1.2).
        if (parsed.response.via.host !== announcedTowards(hop.address).toLowerCase()) return;
        log.add("received", parsed.response, hop);
        transactions.respond(parsed.response, hop);
        return;
      case "request": {
        const { request, back } = withSource(parsed.request, hop);
        log.add("received", request, hop);
        transactions.receive(request, back, this.#options.isKnown(hop.address));
      }
    }
  }

  /** An answer to what could not be read: without a transaction, and only when it says which way it came. */
  #refuse({ status, reason, headers, method }: Extract<Parsed, { kind: "refused" }>, hop: Hop): void {
    const hasWay = ["via", "cseq"].every((name) => headers.some((header) => header.name === name));
    if (method === "ACK" || !hasWay || this.#isClosed) return;
    sendOnce(this.#context, { kind: "response", status, reason, headers, body: Buffer.alloc(0) }, hop);
  }

  #requested(request: SipRequest, transaction: ServerTransaction): void {
    if (request.method === "CANCEL") {
      this.#cancel(request, transaction);
      return;
    }
    const call = this.#context.calls.get(keyOfRequest(request));
    const fault = unsupported(request);
    const toTag = this.#context.random.token();
    if (fault !== null) transaction.answer({ ...fault, toTag });
    else if (call !== undefined) call.receive(request, transaction);
    else if (tagOf(request.to) !== null) this.#early(request, transaction);
    else if (request.method === "INVITE") this.#invited(request, transaction);
    else if (request.method === "OPTIONS") {
      const accept = { name: "accept", value: "application/sdp" };
      transaction.answer({ status: 200, toTag, headers: [...ABILITIES, accept] });
    } else {
      const isOther = OTHER_METHODS.has(request.method);
      const status = WITHIN_DIALOGS.has(request.method) ? 481 : isOther ? 405 : 501;
      transaction.answer({ status, toTag, headers: [{ name: "allow", value: ALLOW }] });
    }
  }

  #invited(request: SipRequest, transaction: ServerTransaction): void {
    const toTag = this.#context.random.token();
    const refusal = refusalOf(request);
    if (refusal !== null) {
      transaction.answer({ ...refusal, toTag });
      return;
    }
    if (this.#isClosed || this.#incoming.size >= MAX_OPEN_INVITES) {
      transaction.answer({ status: 503, toTag, headers: [{ name: "retry-after", value: "10" }] });
      return;
    }
    // A call with this Call-ID and this tag goes on: it came by another way, or its caller counts on it to be one call.
    if (this.#context.callers.has(callerKey(request))) {
      transaction.answer({ status: 482, toTag });
      return;
    }
    const user = parseUri(request.uri)?.user ?? null;
    const registration = [...this.#registrations].find((one) => one.isContact(user)) ?? null;
    const key = serverKey(request);
    const invite = new IncomingCall(this.#context, transaction, registration, () =>
      this.#incoming.delete(key),
    );
    this.#incoming.set(key, invite);
    this.#options.listener.invited(invite);
  }

  #cancel(request: SipRequest, transaction: ServerTransaction): void {
    const key = canceledKey(request);
    const invite = this.#context.transactions.find(key);
    if (invite === null) {
      transaction.answer({ status: 481, toTag: this.#context.random.token() });
      return;
    }
    transaction.answer({ status: 200, toTag: invite.toTag ?? this.#context.random.token() });
    this.#incoming.get(key)?.cancelBy(487);
  }

  /** A request in a dialog that has no answer yet, or in none. */
  #early(request: SipRequest, transaction: ServerTransaction): void {
    const tag = tagOf(request.to) ?? "";
    const invite = [...this.#incoming.values()].find(
      ({ callId, localTag }) => callId === request.callId && localTag === tag,
    );
    const outgoing = [...this.#outgoing].find(
      ({ callId, localTag }) => callId === request.callId && localTag === tag,
    );
    if (invite === undefined && outgoing === undefined) transaction.answer({ status: 481 });
    else if (request.method === "UPDATE")
      transaction.answer(this.#updateAnswer(request, transaction, invite, outgoing));
    else if (invite === undefined) transaction.answer(this.#later());
    else if (request.method === "PRACK")
      transaction.answer({ status: invite.acknowledged(request) ? 200 : 481 });
    else if (request.method === "BYE") {
      transaction.answer({ status: 200 });
      invite.cancelBy(487);
    } else transaction.answer(this.#later());
  }

  /** RFC 3311, 5.2. The media of a call are opened for its answer, so nothing can be agreed on before. */
  #updateAnswer(
    request: SipRequest,
    transaction: ServerTransaction,
    invite: IncomingCall | undefined,
    outgoing: OutgoingCall | undefined,
  ): ResponseParts {
    // It changes no media, such as a refresh, or the name of the other side.
    if (request.body.length === 0) {
      const contact = contactFor(this.#context, transaction.hop, null);
      return { status: 200, headers: [contact, ...ABILITIES] };
    }
    // Our offer, or that of the peer, has no answer yet.
    if (outgoing !== undefined && !outgoing.isAnsweredEarly(tagOf(request.from))) return { status: 491 };
    if (invite !== undefined && invite.offer !== null) return this.#later();
    return { status: 504 };
  }

  #later(): ResponseParts {
    const seconds = Math.floor(this.#context.random.fraction() * (MOST_RETRY_AFTER_S + 1));
    return { status: 500, headers: [{ name: "retry-after", value: String(seconds) }] };
  }
}

/** With the address that it came from in Via, and the way back (RFC 3261, 18.2; RFC 3581). */
function withSource(request: SipRequest, hop: Hop): { readonly request: SipRequest; readonly back: Hop } {
  const via = viaFrom(request.via, hop.address, hop.port);
  const first = request.headers.findIndex(({ name }) => name === "via");
  const headers = request.headers.map((header, index) => {
    if (index !== first) return header;
    // More values may follow on the same line.
    const rest = header.value.indexOf(",");
    return { name: "via", value: `${viaText(via)}${rest === -1 ? "" : header.value.slice(rest)}` };
  });
  const isDatagram = hop.transport === "udp";
  const port = !isDatagram || via.parameters.has("rport") ? hop.port : (via.port ?? 5060);
  return { request: { ...request, via, headers }, back: { ...hop, port } };
}
