/**
 * All transactions of the user agent: runs the machines on the clock, finds the transaction of each message, answers
 * repeated requests, and limits how many there are.
 */

import type { Clock } from "../../../pacing/clock.ts";
import type { RequestText, ResponseText, SipRequest, SipResponse } from "../message/message.ts";
import { tagOf } from "../message/name-addr.ts";
import { responseTo } from "../message/serialize.ts";
import { ClientTransaction, type ClientUser } from "./client-transaction.ts";
import { clientKey, keyOfResponse, mergeKey, serverKey } from "./keys.ts";
import { ServerTransaction } from "./server-transaction.ts";
import type { Hop, SendFailed } from "./wire.ts";

export interface TransactionOptions {
  readonly clock: Clock;
  readonly send: (message: RequestText | ResponseText, hop: Hop, failed: SendFailed) => void;
  readonly listener: TransactionListener;
  readonly limits?: Partial<TransactionLimits>;
}

export interface TransactionListener {
  /** A new request, other than ACK. */
  requested(request: SipRequest, transaction: ServerTransaction): void;
  /** The ACK of a 200. */
  acknowledged(request: SipRequest): void;
  /** A 200 to an INVITE whose transaction is over: a fork that answers very late. */
  strayed(response: SipResponse, source: Hop): void;
}

export interface TransactionLimits {
  /** Of all sources. Each holds its last response, about 1 KB, for 32 s. */
  readonly server: number;
  /** Of one address that is not a known one. */
  readonly serverOfSource: number;
  readonly client: number;
}

export const TRANSACTION_LIMITS: TransactionLimits = {
  server: 20_000,
  serverOfSource: 1_000,
  client: 10_000,
};

export class Transactions {
  readonly #options: TransactionOptions;
  readonly #limits: TransactionLimits;
  readonly #clients = new Map<string, ClientTransaction>();
  readonly #servers = new Map<string, ServerTransaction>();
  /** Requests without a tag of ours, by what forked copies have in common. */
  readonly #merges = new Map<string, string>();
  readonly #ofSource = new Map<string, number>();

  constructor(options: TransactionOptions) {
    this.#options = options;
    this.#limits = { ...TRANSACTION_LIMITS, ...options.limits };
  }

  get count(): number {
    return this.#clients.size + this.#servers.size;
  }

  /** Null: there are too many transactions. @param branch of the topmost Via of the request */
  request(message: RequestText, branch: string, hop: Hop, user: ClientUser): ClientTransaction | null {
    if (this.#clients.size >= this.#limits.client) return null;
    const key = clientKey(branch, message.method);
    const { clock, send } = this.#options;
    const ended = () => void this.#clients.delete(key);
    const transaction = new ClientTransaction({ message, hop, user, clock, send, ended });
    this.#clients.set(key, transaction);
    transaction.begin();
    return transaction;
  }

  respond(response: SipResponse, source: Hop): void {
    const transaction = this.#clients.get(keyOfResponse(response));
    if (transaction !== undefined) transaction.responded(response, source);
    else if (response.cseq.method === "INVITE" && response.status >= 200 && response.status < 300) {
      this.#options.listener.strayed(response, source);
    }
  }

  /** @param hop the way back to the sender */
  receive(request: SipRequest, hop: Hop, isKnown: boolean): void {
    const key = serverKey(request);
    const transaction = this.#servers.get(key);
    if (request.method === "ACK") {
      if (transaction === undefined || isOfAnotherDialog(request, transaction)) {
        this.#options.listener.acknowledged(request);
      } else transaction.acknowledged(request);
    } else if (transaction === undefined) this.#begin(request, key, hop, isKnown);
    else transaction.repeated();
  }

  /** The open INVITE with this key. */
  find(key: string): ServerTransaction | null {
    return this.#servers.get(key) ?? null;
  }

  /** Ends all at once, without sending anything. */
  close(): void {
    for (const transaction of [...this.#clients.values(), ...this.#servers.values()]) transaction.drop();
  }

  #begin(request: SipRequest, key: string, hop: Hop, isKnown: boolean): void {
    const { address } = hop;
    const count = this.#ofSource.get(address) ?? 0;
    const isTooMany =
      this.#servers.size >= this.#limits.server || (!isKnown && count >= this.#limits.serverOfSource);
    if (isTooMany) {
      this.#sendOnce(request, hop, 503);
      return;
    }
    const merge = tagOf(request.to) === null && request.method !== "CANCEL" ? mergeKey(request) : null;
    if (merge !== null && this.#merges.has(merge)) {
      this.#sendOnce(request, hop, 482);
      return;
    }
    const { clock, send, listener } = this.#options;
    const ended = () => {
      this.#servers.delete(key);
      if (merge !== null) this.#merges.delete(merge);
      const left = (this.#ofSource.get(address) ?? 1) - 1;
      if (left === 0) this.#ofSource.delete(address);
      else this.#ofSource.set(address, left);
    };
    const transaction = new ServerTransaction({
      request,
      hop,
      isKnown,
      clock,
      send,
      ended,
      acknowledged: (ack) => {
        listener.acknowledged(ack);
      },
    });
    this.#servers.set(key, transaction);
    if (merge !== null) this.#merges.set(merge, key);
    this.#ofSource.set(address, count + 1);
    listener.requested(request, transaction);
  }

  /** Without a transaction: the answer is not repeated, and the ACK to it is ignored. */
  #sendOnce(request: SipRequest, hop: Hop, status: number): void {
    const headers = status === 503 ? [{ name: "retry-after", value: "10" }] : [];
    this.#options.send(responseTo(request, { status, toTag: "0", headers }), hop, () => undefined);
  }
}

/** Peers of RFC 2543 may give the ACK of a 200 the branch of the INVITE; the tag says which answer it means. */
function isOfAnotherDialog(ack: SipRequest, { toTag }: ServerTransaction): boolean {
  return toTag !== null && tagOf(ack.to) !== toTag;
}
