/** Re-INVITE and UPDATE of ours within a call. */

import { descriptionIn, withTargetOf } from "../dialogs/dialog.ts";
import { MIN_REFRESH_S, minOf, readRefresh, REFRESH_S, refreshOffer } from "../dialogs/refresh-timer.ts";
import type { SipResponse } from "../message/message.ts";
import type { OfferOutcome, SipFailure, SipHeader } from "../user-agent.ts";
import type { CallParts } from "./call-parts.ts";
import { ABILITIES, SDP_TYPE } from "./context.ts";
import type { Sent } from "./exchange.ts";

/** Tries of one offer that the peer's own offers cross. */
const MAX_GLARES = 4;
/** After a glare the side that began the call waits longer, so that they do not cross again (RFC 3261, 14.1). */
const CALLER_WAIT_MS = { least: 2_100, most: 4_000 };
const CALLEE_WAIT_MS = { least: 0, most: 2_000 };
const GRID_MS = 10;
/** Tries of one offer after a 422, each of which may ask for longer intervals again. */
const MAX_RAISES = 2;
/** A refresh that would cross an offer is put off for so long. */
const PUT_OFF_MS = 2_000;

interface Pending {
  readonly sdp: string;
  readonly resolve: (outcome: OfferOutcome) => void;
  glares: number;
  minS: number;
  /** Times that `minS` was raised. */
  raises: number;
  isSent: boolean;
}

export class OwnOffers {
  readonly #parts: CallParts;
  #pending: Pending | null = null;
  #stopWait: (() => void) | null = null;

  constructor(parts: CallParts) {
    this.#parts = parts;
  }

  /** An INVITE of ours has no final response. */
  get isSent(): boolean {
    return this.#pending?.isSent === true;
  }

  offer(sdp: string): Promise<OfferOutcome> {
    if (this.#pending !== null) throw new Error("an offer is under way");
    return new Promise((resolve) => {
      this.#pending = { sdp, resolve, glares: 0, minS: MIN_REFRESH_S, raises: 0, isSent: false };
      this.#try(this.#pending);
    });
  }

  refresh(): void {
    const { clock, localSdp, peerAllowsUpdate, listener, isPeerBusy } = this.#parts;
    if (this.#pending !== null || isPeerBusy()) {
      this.#stopWait?.();
      this.#stopWait = clock.after(PUT_OFF_MS, () => {
        this.refresh();
      });
      return;
    }
    if (peerAllowsUpdate) {
      this.#update();
      return;
    }
    void this.offer(localSdp).then((outcome) => {
      if (outcome.kind === "answered") listener().answered(outcome.sdp);
    });
  }

  stop(): void {
    this.#stopWait?.();
    this.#settle({ kind: "refused", status: 487, reason: "The call is over" });
  }

  #try(pending: Pending): void {
    if (this.#parts.isPeerBusy()) {
      this.#retryLater(pending);
      return;
    }
    pending.isSent = true;
    this.#parts.line.request({
      method: "INVITE",
      headers: [this.#parts.contact, ...ABILITIES, ...this.#refreshHeaders(pending.minS), SDP_TYPE],
      body: Buffer.from(pending.sdp, "utf8"),
      final: (response, sent) => {
        this.#final(pending, response, sent);
      },
      failed: (failure) => {
        this.#failed(failure);
      },
    });
  }

  #final(pending: Pending, response: SipResponse, sent: Sent): void {
    const { line } = this.#parts;
    const { status, reason } = response;
    if (status < 300) {
      if (this.#pending === pending) this.#refreshed(response);
      line.acknowledge(sent.request);
      const sdp = descriptionIn(response);
      if (this.#pending !== pending) return;
      if (sdp !== null) this.#parts.localSdp = pending.sdp;
      this.#settle(
        sdp === null ? { kind: "refused", status: 488, reason: "No answer" } : { kind: "answered", sdp },
      );
      return;
    }
    if (this.#pending !== pending) return;
    pending.isSent = false;
    const minS = status === 422 ? minOf(response) : null;
    if (minS !== null && minS > pending.minS && pending.raises < MAX_RAISES) {
      pending.minS = minS;
      pending.raises += 1;
      this.#try(pending);
    } else if (status === 491 && pending.glares < MAX_GLARES) this.#retryLater(pending);
    else {
      this.#settle({ kind: "refused", status, reason });
      if (status === 408 || status === 481) this.#parts.call.finish("failed", `${String(status)} ${reason}`);
    }
  }

  #failed({ status, reason }: SipFailure): void {
    this.#settle({ kind: "refused", status, reason });
    this.#parts.call.finish("failed", reason);
  }

  #retryLater(pending: Pending): void {
    const { isCaller, random, clock } = this.#parts;
    pending.glares += 1;
    if (pending.glares > MAX_GLARES) {
      this.#settle({ kind: "refused", status: 491, reason: "Request Pending" });
      return;
    }
    const { least, most } = isCaller ? CALLER_WAIT_MS : CALLEE_WAIT_MS;
    const steps = Math.floor((random.fraction() * (most - least)) / GRID_MS);
    this.#stopWait?.();
    this.#stopWait = clock.after(least + steps * GRID_MS, () => {
      if (this.#pending === pending) this.#try(pending);
    });
  }

  #update(): void {
    this.#parts.line.request({
      method: "UPDATE",
      headers: [this.#parts.contact, ...ABILITIES, ...this.#refreshHeaders(MIN_REFRESH_S)],
      final: (response) => {
        const { status, reason } = response;
        if (status < 300) this.#refreshed(response);
        else if (status === 408 || status === 481)
          this.#parts.call.finish("failed", `${String(status)} ${reason}`);
        // Another way of refreshing is left, and else the call expires.
        else if (status === 405 || status === 501) {
          this.#parts.peerAllowsUpdate = false;
          this.refresh();
        }
      },
      failed: ({ reason }) => {
        this.#parts.call.finish("failed", reason);
      },
    });
  }

  #refreshed(response: SipResponse): void {
    const { line, watch } = this.#parts;
    line.dialog = withTargetOf(line.dialog, response);
    watch.restart(readRefresh(response));
  }

  #refreshHeaders(minS: number): readonly SipHeader[] {
    const { timer } = this.#parts.watch;
    const refresher = timer === null ? null : timer.isOurs ? "uac" : "uas";
    return refreshOffer(timer?.everyS ?? REFRESH_S, minS, refresher);
  }

  #settle(outcome: OfferOutcome): void {
    const pending = this.#pending;
    this.#pending = null;
    pending?.resolve(outcome);
  }
}
