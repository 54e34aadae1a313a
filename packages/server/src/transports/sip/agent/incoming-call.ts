/** An INVITE of a peer, until its answer. */

import { Authorizer } from "../digest/authorizer.ts";
import { callerKey, descriptionIn, dialogOfRequest } from "../dialogs/dialog.ts";
import { answerRefresh } from "../dialogs/refresh-timer.ts";
import { headerOf, listOf, tokensOf } from "../message/headers.ts";
import { NO_BODY, type SipRequest } from "../message/message.ts";
import { tagOf } from "../message/name-addr.ts";
import { checkedValue } from "../message/syntax.ts";
import { parseUri, userOf } from "../message/uri.ts";
import type { ServerTransaction } from "../transactions/server-transaction.ts";
import type {
  IncomingInvite,
  SipCall,
  SipCredentials,
  SipCallListener,
  SipHeader,
  SipSource,
} from "../user-agent.ts";
import { Call } from "./call.ts";
import { ABILITIES, contactFor, SDP_TYPE, type AgentContext } from "./context.ts";
import { checkedHeaders } from "./given-headers.ts";
import type { Registration } from "./registration.ts";
import { repeatUntil } from "./repeats.ts";

/** Longest time that an application takes for its answer. */
export const ANSWER_LIMIT_MS = 180_000;
/** A callee that takes longer for its answer sends 100 (RFC 3261, 17.2.1). */
const TRYING_MS = 200;
/** The first number of a reliable response (RFC 3262, 3). */
const FIRST_RSEQ_MOST = 2 ** 31 - 1;

interface Reliable {
  readonly rseq: number;
  readonly stop: () => void;
}

export class IncomingCall implements IncomingInvite {
  readonly #context: AgentContext;
  readonly #transaction: ServerTransaction;
  readonly #toTag: string;
  /** The proxy of a registration may ask for its password within calls too. */
  readonly #credentials: SipCredentials | null;
  readonly #forgotten: () => void;
  readonly #stopLimit: () => void;
  #stopTrying: () => void = () => undefined;
  readonly id: string;
  readonly registrationId: string | null;
  readonly user: string;
  #canceled: (() => void) | null = null;
  #isOver = false;
  #wasCanceled = false;
  #rseq: number | null = null;
  #reliable: Reliable | null = null;

  constructor(
    context: AgentContext,
    transaction: ServerTransaction,
    registration: Pick<Registration, "id" | "username" | "credentials"> | null,
    forgotten: () => void,
  ) {
    this.#context = context;
    this.#transaction = transaction;
    this.#forgotten = forgotten;
    this.#toTag = context.random.token();
    this.#credentials = registration?.credentials ?? null;
    this.id = context.random.token();
    this.registrationId = registration?.id ?? null;
    this.user = registration?.username ?? userOf(parseUri(transaction.request.uri));
    this.#stopLimit = context.clock.after(ANSWER_LIMIT_MS, () => {
      this.#cancel(480);
    });
    context.callers.add(callerKey(transaction.request));
    context.log.begin(this.#logKey, { id: this.id, kind: "invite" });
    context.log.add("received", transaction.request, transaction.hop);
    // 100 ends the repeats of the INVITE, by which a caller that is not known gets a refusal that was lost.
    if (transaction.isKnown) transaction.answer({ status: 100 });
    else
      this.#stopTrying = context.clock.after(TRYING_MS, () => {
        transaction.answer({ status: 100 });
      });
  }

  get request(): SipRequest {
    return this.#transaction.request;
  }

  get callId(): string {
    return this.request.callId;
  }

  get localTag(): string {
    return this.#toTag;
  }

  get source(): SipSource {
    const { transport, address, port } = this.#transaction.hop;
    return { transport, address, port };
  }

  get requestUri(): string {
    return this.request.uri;
  }

  get host(): string {
    return parseUri(this.request.uri)?.host ?? "";
  }

  get toUri(): string {
    return this.request.to.uri;
  }

  get fromUri(): string {
    return this.request.from.uri;
  }

  get callerId(): string {
    return userOf(parseUri(this.fromUri)) || (/^tel:([^;]+)/i.exec(this.fromUri)?.[1] ?? "");
  }

  get fromDisplayName(): string | null {
    return this.request.from.displayName;
  }

  get headers(): readonly SipHeader[] {
    return this.request.headers;
  }

  get offer(): string | null {
    return descriptionIn(this.request);
  }

  progress(status: 180 | 183, sdp?: string): void {
    this.#checkOpen();
    const body = sdp === undefined ? NO_BODY : Buffer.from(sdp, "utf8");
    const typed = sdp === undefined ? [] : [SDP_TYPE];
    const headers = [...this.#routes(), this.#contact(), ...ABILITIES, ...typed];
    if (!tokensOf(this.request, "require").includes("100rel")) {
      this.#transaction.answer({ status, toTag: this.#toTag, headers, body });
      return;
    }
    // One at a time: the next one waits for the PRACK, and a call has few of them.
    if (this.#reliable !== null) return;
    const { random, clock } = this.#context;
    this.#rseq = this.#rseq === null ? 1 + Math.floor(random.fraction() * FIRST_RSEQ_MOST) : this.#rseq + 1;
    const rseq = this.#rseq;
    const extra = [
      { name: "require", value: "100rel" },
      { name: "rseq", value: String(rseq) },
    ];
    const send = () => {
      this.#transaction.answer({ status, toTag: this.#toTag, headers: [...headers, ...extra], body });
    };
    send();
    const stop = repeatUntil(clock, send, () => {
      this.#cancel(504);
    });
    this.#reliable = { rseq, stop };
  }

  accept(sdp: string, listener: SipCallListener): SipCall {
    this.#checkOpen();
    const { request } = this;
    const dialog = dialogOfRequest(request, this.#toTag);
    // `refusalOf` has read the same fields before the application was asked.
    if (dialog === null) throw new Error("the INVITE has no Contact");
    this.#close();
    const refresh = answerRefresh(request);
    const contact = this.#contact();
    const call = new Call(this.#context, {
      id: this.id,
      dialog,
      flow: this.#transaction.hop,
      authorizer: new Authorizer(this.#credentials, () => this.#context.random.token()),
      contact,
      isCaller: false,
      localSdp: sdp,
      refresh: refresh.timer,
      peerMessage: request,
      forgotten: () => this.#context.callers.delete(callerKey(request)),
    });
    call.listen(listener);
    const headers = [...this.#routes(), contact, ...ABILITIES, ...refresh.headers, SDP_TYPE];
    this.#transaction.answer({ status: 200, toTag: this.#toTag, headers, body: Buffer.from(sdp, "utf8") });
    call.expectAck(this.#transaction, this.offer === null);
    return call;
  }

  reject(status: number, reason?: string, headers: readonly SipHeader[] = []): void {
    this.#checkOpen();
    if (!Number.isInteger(status) || status < 300 || status > 699) throw new Error("a refusal is 300 to 699");
    this.#refuse(status, reason === undefined ? reason : checkedValue(reason), checkedHeaders(headers));
  }

  onCanceled(canceled: () => void): void {
    this.#canceled = canceled;
    if (this.#wasCanceled) canceled();
  }

  /** CANCEL or BYE of the caller, or the end of our patience. */
  cancelBy(status: 487 | 480): void {
    this.#cancel(status);
  }

  /** PRACK. False: it is for none of our responses. */
  acknowledged(request: SipRequest): boolean {
    const [rseq, cseq, method] = (headerOf(request, "rack") ?? "").split(/\s+/);
    const isOurs = rseq === String(this.#reliable?.rseq) && cseq === String(this.request.cseq.number);
    if (!isOurs || method !== "INVITE") return false;
    this.#reliable?.stop();
    this.#reliable = null;
    return true;
  }

  #cancel(status: number): void {
    if (this.#isOver) return;
    this.#wasCanceled = true;
    this.#refuse(status);
    this.#canceled?.();
  }

  #refuse(status: number, reason?: string, headers: readonly SipHeader[] = []): void {
    this.#close();
    this.#context.callers.delete(callerKey(this.request));
    this.#context.log.end(this.#logKey, this.id);
    this.#transaction.answer({
      status,
      toTag: this.#toTag,
      headers,
      ...(reason === undefined ? {} : { reason }),
    });
  }

  #close(): void {
    this.#isOver = true;
    this.#stopLimit();
    this.#stopTrying();
    this.#reliable?.stop();
    this.#forgotten();
  }

  #checkOpen(): void {
    if (this.#isOver) throw new Error("the INVITE is over");
  }

  get #logKey() {
    return { callId: this.callId, tag: tagOf(this.request.from) };
  }

  #contact(): SipHeader {
    const uri = parseUri(this.request.uri);
    const [route = ""] = listOf(this.request, "record-route") ?? [];
    const isSips = uri?.scheme === "sips" || /^[^<]*<sips:/i.test(route);
    return contactFor(this.#context, this.#transaction.hop, uri?.user ?? null, isSips);
  }

  #routes(): readonly SipHeader[] {
    return (listOf(this.request, "record-route") ?? []).map((value) => ({ name: "record-route", value }));
  }
}
