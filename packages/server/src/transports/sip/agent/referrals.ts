/** REFER in both directions, with NOTIFY (RFC 3515), or without it where the peer does not want it (RFC 4488). */

import { headerOf, listOf } from "../message/headers.ts";
import type { SipRequest } from "../message/message.ts";
import { parseNameAddr } from "../message/name-addr.ts";
import { parseParameters } from "../message/syntax.ts";
import { parseUri, schemeOf, uriText } from "../message/uri.ts";
import type { ServerTransaction } from "../transactions/server-transaction.ts";
import type { IncomingRefer, ReferListener, ReferOptions, SipHeader } from "../user-agent.ts";
import { reasonOf, type ResponseParts } from "../message/serialize.ts";
import type { CallParts } from "./call-parts.ts";
import { checkedHeaders } from "./given-headers.ts";

/** A new call rings for some minutes at most; without a final NOTIFY the transfer has failed. */
const TRANSFER_LIMIT_MS = 180_000;
/** Transfers of one call that are open. */
const MAX_TRANSFERS = 4;
/**
 * Wait for the application. The peer's transaction ends after 32 s (timer F), and an answer after that is lost; the
 * answer of 408 is not allowed to a request other than INVITE (RFC 4320).
 */
export const REFER_ANSWER_LIMIT_MS = 20_000;
/** REFERs of one call within `REFER_WINDOW_MS`. People transfer a call once; a loop of two phone systems does it always. */
export const MAX_REFERS = 3;
export const REFER_WINDOW_MS = 10_000;
const RETRY_AFTER_S = "10";

/** There is no subscription, so no NOTIFY follows. */
const NO_NOTIFY: SipHeader = { name: "refer-sub", value: "false" };

const TEL_URI = /^tel:[+0-9*#().-]{1,64}$/i;

interface Transfer {
  readonly listener: ReferListener;
  /** Of the REFER; NOTIFY names it. */
  readonly cseq: number;
  readonly stop: () => void;
}

export class Referrals {
  readonly #parts: CallParts;
  #transfers: Transfer[] = [];
  /** A REFER of the peer has no answer, or its new call has no final status. */
  #hasOpenRefer = false;
  #referTimesMs: number[] = [];
  #stopAnswerLimit: () => void = () => undefined;

  constructor(parts: CallParts) {
    this.#parts = parts;
  }

  refer(to: string, listener: ReferListener, options: ReferOptions = {}): void {
    const { line, contact, clock } = this.#parts;
    if (parseUri(to) === null && !TEL_URI.test(to))
      throw new Error("the target of a transfer is a SIP or tel URI");
    if (this.#transfers.length >= MAX_TRANSFERS) throw new Error("too many transfers are under way");
    const limitMs = Math.min(options.limitMs ?? TRANSFER_LIMIT_MS, TRANSFER_LIMIT_MS);
    const headers: readonly SipHeader[] = [
      ...checkedHeaders(options.headers ?? []),
      contact,
      { name: "refer-to", value: `<${to}>` },
      { name: "referred-by", value: `<${line.dialog.local.uri}>` },
    ];
    let transfer: Transfer | null = null;
    const begin = (cseq: number) => {
      const stop = clock.after(limitMs, () => {
        if (transfer !== null) this.#end(transfer, 408, reasonOf(408));
      });
      transfer = { listener, cseq, stop };
      this.#transfers.push(transfer);
    };
    // A NOTIFY may overtake the 202.
    begin(line.dialog.localCseq + 1);
    const refused = (status: number, reason: string) => {
      if (transfer !== null) this.#forget(transfer);
      listener.responded(status, reason);
    };
    line.request({
      method: "REFER",
      headers,
      final: ({ status, reason }) => {
        if (status >= 300) refused(status, reason);
        else listener.responded(status, reason);
      },
      failed: ({ status, reason }) => {
        refused(status, reason);
      },
    });
  }

  /** NOTIFY of the peer. */
  notified(request: SipRequest, transaction: ServerTransaction): void {
    const event = headerOf(request, "event") ?? "";
    if (!/^refer\s*(?:;|$)/i.test(event)) {
      transaction.answer({ status: 489 });
      return;
    }
    const id = parseParameters(event.slice("refer".length))?.get("id");
    const transfer = this.#transfers.find(({ cseq }) => String(cseq) === id) ?? this.#transfers.at(-1);
    if (transfer === undefined) {
      transaction.answer({ status: 481 });
      return;
    }
    transaction.answer({ status: 200 });
    const [, digits = "", reason = ""] =
      /^SIP\/2\.0 (\d{3}) ?([^\r\n]{0,200})/i.exec(request.body.toString("utf8")) ?? [];
    const status = Number(digits);
    const isTerminated = /^terminated\b/i.test(headerOf(request, "subscription-state") ?? "");
    if (status >= 200) this.#end(transfer, status, reason);
    else if (isTerminated) this.#end(transfer, 408, "The outcome is not known");
    else if (status >= 100) transfer.listener.progressed(status, reason, false);
  }

  /** REFER of the peer. */
  received(request: SipRequest, transaction: ServerTransaction): void {
    const target = readTarget(request);
    if ("problem" in target) {
      transaction.answer({ status: 400, reason: target.problem });
      return;
    }
    if (this.#hasOpenRefer) {
      transaction.answer({ status: 491 });
      return;
    }
    if (!this.#admits()) {
      transaction.answer({ status: 503, headers: [{ name: "retry-after", value: RETRY_AFTER_S }] });
      return;
    }
    this.#parts.listener().referred(this.#incoming(request, transaction, target));
  }

  stop(): void {
    this.#stopAnswerLimit();
    for (const transfer of this.#transfers) this.#end(transfer, 408, "The call is over");
  }

  #admits(): boolean {
    const nowMs = this.#parts.clock.nowMs();
    const recent = this.#referTimesMs.filter((atMs) => nowMs - atMs < REFER_WINDOW_MS);
    this.#referTimesMs = recent;
    if (recent.length >= MAX_REFERS) return false;
    recent.push(nowMs);
    return true;
  }

  #incoming(request: SipRequest, transaction: ServerTransaction, target: Target): IncomingRefer {
    const { contact, call } = this.#parts;
    const id = String(request.cseq.number);
    const wantsNoNotify = /^false\s*(?:;|$)/i.test(headerOf(request, "refer-sub")?.trim() ?? "");
    let isOpen = false;
    const notify = (status: number, reason: string) => {
      if (!isOpen || call.isOver) return;
      if (status >= 200) {
        isOpen = false;
        this.#hasOpenRefer = false;
      }
      if (!wantsNoNotify) this.#notify(id, status, reason);
    };
    const answer = (parts: ResponseParts): void => {
      if (!transaction.isOpen) throw new Error("the transfer was answered before");
      this.#stopAnswerLimit();
      transaction.answer(parts);
    };
    this.#hasOpenRefer = true;
    this.#stopAnswerLimit = this.#parts.clock.after(REFER_ANSWER_LIMIT_MS, () => {
      if (!transaction.isOpen) return;
      this.#hasOpenRefer = false;
      transaction.answer({ status: 480 });
    });
    return {
      ...target,
      get isOpen() {
        return transaction.isOpen && !call.isOver;
      },
      accept: () => {
        answer({ status: 202, headers: wantsNoNotify ? [contact, NO_NOTIFY] : [contact] });
        isOpen = true;
        notify(100, reasonOf(100));
      },
      reject: (status, reason) => {
        answer(reason === undefined ? { status } : { status, reason });
        this.#hasOpenRefer = false;
      },
      notify,
    };
  }

  #notify(id: string, status: number, reason: string): void {
    const state =
      status >= 200 ? "terminated;reason=noresource" : `active;expires=${String(TRANSFER_LIMIT_MS / 1_000)}`;
    this.#parts.line.request({
      method: "NOTIFY",
      headers: [
        this.#parts.contact,
        { name: "event", value: `refer;id=${id}` },
        { name: "subscription-state", value: state },
        { name: "content-type", value: "message/sipfrag;version=2.0" },
      ],
      body: Buffer.from(`SIP/2.0 ${String(status)} ${reason.replaceAll(/[\r\n]/g, " ")}\r\n`, "utf8"),
      // The peer may have ended the call as soon as the new one is connected.
      final: () => undefined,
      failed: () => undefined,
    });
  }

  #end(transfer: Transfer, status: number, reason: string): void {
    if (this.#forget(transfer)) transfer.listener.progressed(status, reason, true);
  }

  #forget(transfer: Transfer): boolean {
    transfer.stop();
    const isKnown = this.#transfers.includes(transfer);
    this.#transfers = this.#transfers.filter((other) => other !== transfer);
    return isKnown;
  }
}

type Target = Pick<IncomingRefer, "to" | "referredBy" | "hasReplaces">;

const MALFORMED = { problem: "Refer-To is not well-formed" } as const;

function readTarget(request: SipRequest): Target | { readonly problem: string } {
  const values = listOf(request, "refer-to");
  const address = values?.length === 1 ? parseNameAddr(values[0] ?? "") : null;
  if (address === null) return MALFORMED;
  const referredBy = parseNameAddr(headerOf(request, "referred-by") ?? "")?.uri ?? null;
  if (schemeOf(address.uri) === "tel") return { to: address.uri, referredBy, hasReplaces: false };
  const uri = parseUri(address.uri);
  if (uri === null) return MALFORMED;
  const method = uri.parameters.get("method")?.toUpperCase() ?? "INVITE";
  if (method !== "INVITE") return { problem: "Refer-To asks for a request that is not sent" };
  return { to: uriText(uri), referredBy, hasReplaces: hasReplaces(address.uri) };
}

/** Names of header fields in a URI may be escaped, as in `Repl%61ces`. */
function hasReplaces(uri: string): boolean {
  const [, ...headers] = uri.slice(uri.indexOf("@") + 1).split("?");
  return headers
    .join("?")
    .split("&")
    .some((field) => {
      const name = (field.split("=")[0] ?? "").replaceAll(/%([0-9a-f]{2})/gi, (_whole, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      );
      return name.trim().toLowerCase() === "replaces";
    });
}
