/** INVITE and UPDATE of the peer within a call: hold, resume, other codecs, refreshes; and the ACK of our 200s. */

import { descriptionIn, withTargetOf } from "../dialogs/dialog.ts";
import { answerRefresh, isTooShort, MIN_REFRESH_S } from "../dialogs/refresh-timer.ts";
import type { SipRequest } from "../message/message.ts";
import { NO_BODY } from "../message/message.ts";
import { hasKeys } from "../sdp/crypto.ts";
import type { ServerTransaction } from "../transactions/server-transaction.ts";
import type { Hop } from "../transactions/wire.ts";
import type { CallParts } from "./call-parts.ts";
import { ABILITIES, SDP_TYPE } from "./context.ts";
import { repeatUntil } from "./repeats.ts";

interface AwaitedAck {
  readonly cseq: number;
  /** Our offer was in the 200, and the answer is in the ACK. */
  readonly hasOffer: boolean;
  readonly stop: () => void;
}

/** For the answer of the application; a media thread takes some milliseconds. */
const OFFER_LIMIT_MS = 10_000;
/** Seconds that a peer waits at most with an offer that came too early (RFC 3261, 14.2). */
const MOST_RETRY_AFTER_S = 10;

export class PeerOffers {
  readonly #parts: CallParts;
  #asked: ServerTransaction | null = null;
  #ack: AwaitedAck | null = null;

  constructor(parts: CallParts) {
    this.#parts = parts;
  }

  /** The peer's offer has no answer yet, or our 200 no ACK. */
  get isBusy(): boolean {
    return this.#asked !== null || this.#ack !== null;
  }

  get awaitsAck(): boolean {
    return this.#ack !== null;
  }

  async receive(request: SipRequest, transaction: ServerTransaction): Promise<void> {
    const refusal = this.#refusal(request, transaction.hop);
    if (refusal !== null) {
      transaction.answer(refusal);
      return;
    }
    const { line, listener, watch, contact, call } = this.#parts;
    const offer = descriptionIn(request);
    const isInvite = request.method === "INVITE";
    this.#asked = transaction;
    let sdp: string | null = null;
    // Else the peer repeats its INVITE until the application has answered.
    if (isInvite) transaction.answer({ status: 100 });
    if (offer !== null) sdp = await this.#inTime(listener().offered(offer));
    else if (isInvite) sdp = await this.#inTime(listener().offerWanted());
    this.#asked = null;
    if (call.isOver) {
      transaction.answer({ status: 487 });
      return;
    }
    const isExposed = sdp !== null && hasKeys(sdp) && transaction.hop.transport !== "tls";
    if (isExposed || (sdp === null && (offer !== null || isInvite))) {
      transaction.answer({ status: 488 });
      return;
    }
    line.dialog = withTargetOf(line.dialog, request);
    const refresh = answerRefresh(request);
    watch.restart(refresh.timer);
    const typed = sdp === null ? [] : [SDP_TYPE];
    const body = sdp === null ? NO_BODY : Buffer.from(sdp, "utf8");
    if (sdp !== null) this.#parts.localSdp = sdp;
    const headers = [contact, ...ABILITIES, ...refresh.headers, ...typed];
    transaction.answer({ status: 200, headers, body });
    if (isInvite) this.expectAck(transaction, offer === null);
  }

  /** The 200 is repeated until the ACK. Without one the call ends. */
  expectAck(transaction: ServerTransaction, hasOffer: boolean): void {
    const repeat = () => {
      transaction.repeatAnswer();
    };
    const stop = repeatUntil(this.#parts.clock, repeat, () => {
      this.#ack = null;
      const { call } = this.#parts;
      if (call.isOver) call.sendDeferredBye();
      else call.finish("unanswered", null);
    });
    this.#ack = { cseq: transaction.request.cseq.number, hasOffer, stop };
  }

  acknowledged(ack: SipRequest): void {
    const awaited = this.#ack;
    if (awaited?.cseq !== ack.cseq.number) return;
    awaited.stop();
    this.#ack = null;
    const { call, listener } = this.#parts;
    const sdp = awaited.hasOffer ? descriptionIn(ack) : null;
    if (call.isOver) call.sendDeferredBye();
    else if (sdp !== null) listener().answered(sdp);
    else if (awaited.hasOffer) call.finish("failed", "The ACK had no description");
  }

  stop(): void {
    this.#asked?.answer({ status: 487 });
    this.#asked = null;
  }

  /** After a BYE of the peer, which will send no ACK any more. */
  forgetAck(): void {
    this.#ack?.stop();
    this.#ack = null;
  }

  #inTime(answer: Promise<string | null> | string | null): Promise<string | null> {
    return new Promise((resolve, reject) => {
      const stop = this.#parts.clock.after(OFFER_LIMIT_MS, () => {
        reject(new Error("the application has not answered an offer in time"));
      });
      Promise.resolve(answer).then(resolve, reject).finally(stop);
    });
  }

  #refusal(request: SipRequest, { transport }: Hop): Parameters<ServerTransaction["answer"]>[0] | null {
    if (isTooShort(request)) {
      return { status: 422, headers: [{ name: "min-se", value: String(MIN_REFRESH_S) }] };
    }
    const hasOffer = descriptionIn(request) !== null;
    if (request.body.length > 0 && !hasOffer) {
      return { status: 415, headers: [{ name: "accept", value: "application/sdp" }] };
    }
    // The other side has shown its keys; ours would follow in the answer.
    if (transport !== "tls" && hasKeys(request.body)) return { status: 488 };
    // A refresh without a description crosses nothing.
    if (request.method === "UPDATE" && !hasOffer) return null;
    if (this.#parts.isOffering()) return { status: 491 };
    if (!this.isBusy) return null;
    const seconds = Math.floor(this.#parts.random.fraction() * MOST_RETRY_AFTER_S);
    return { status: 500, headers: [{ name: "retry-after", value: String(seconds) }] };
  }
}
