/** One server transaction on the clock. */

import type { Clock } from "../../../pacing/clock.ts";
import { headerOf } from "../message/headers.ts";
import type { RequestText, ResponseText, SipRequest } from "../message/message.ts";
import { parseNameAddr, tagOf } from "../message/name-addr.ts";
import { responseTo, type ResponseParts } from "../message/serialize.ts";
import {
  newServer,
  stepServer,
  type ServerEffect,
  type ServerEvent,
  type ServerState,
} from "./server-machine.ts";
import type { TimerName } from "./timers.ts";
import { isReliable, type Hop, type SendFailed } from "./wire.ts";

interface ServerOptions {
  readonly request: SipRequest;
  readonly hop: Hop;
  readonly isKnown: boolean;
  readonly clock: Clock;
  readonly send: (message: RequestText | ResponseText, hop: Hop, failed: SendFailed) => void;
  readonly ended: () => void;
  readonly acknowledged: (ack: SipRequest) => void;
}

export class ServerTransaction {
  readonly #options: ServerOptions;
  readonly #timers = new Map<TimerName, () => void>();
  #state: ServerState;
  #response: ResponseText | null = null;

  constructor(options: ServerOptions) {
    const { hop, isKnown } = options;
    const { method } = options.request;
    this.#options = options;
    this.#state = newServer(method === "INVITE", isReliable(hop), isKnown);
  }

  get request(): SipRequest {
    return this.#options.request;
  }

  /** The source is a trunk or registrar of an account. */
  get isKnown(): boolean {
    return this.#options.isKnown;
  }

  get hop(): Hop {
    return this.#options.hop;
  }

  /** Of the response that was given last. */
  get toTag(): string | null {
    const to = this.#response === null ? null : parseNameAddr(headerOf(this.#response, "to") ?? "");
    return to === null ? null : tagOf(to);
  }

  /** False as soon as a final response was given. */
  get isOpen(): boolean {
    return this.#state.phase === "proceeding";
  }

  /** A response with the fields of the request. After a final one, only a repeated 200 to an INVITE is sent. */
  answer(parts: ResponseParts): void {
    const { phase } = this.#state;
    if (phase !== "proceeding" && phase !== "accepted") return;
    this.#response = responseTo(this.#options.request, parts);
    this.#step({ type: "answered", status: parts.status });
  }

  /** The 200 once more. */
  repeatAnswer(): void {
    if (this.#response !== null) this.#step({ type: "answered", status: this.#response.status });
  }

  repeated(): void {
    this.#step({ type: "repeated" });
  }

  acknowledged(ack: SipRequest): void {
    this.#step({ type: "acknowledged" }, ack);
  }

  drop(): void {
    this.#state = { ...this.#state, phase: "ended" };
    this.#run({ type: "end" });
  }

  #step(event: ServerEvent, ack?: SipRequest): void {
    const { state, effects } = stepServer(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#run(effect, ack);
  }

  #run(effect: ServerEffect, ack?: SipRequest): void {
    switch (effect.type) {
      case "sendResponse":
        // Lost or not: the peer repeats its request, or the timers of this transaction end it.
        if (this.#response !== null) this.#options.send(this.#response, this.#options.hop, () => undefined);
        return;
      case "setTimer":
        this.#set(effect.timer, effect.afterMs);
        return;
      case "clearTimer":
        this.#timers.get(effect.timer)?.();
        this.#timers.delete(effect.timer);
        return;
      case "deliverAck":
        if (ack !== undefined) this.#options.acknowledged(ack);
        return;
      case "end":
        for (const cancel of this.#timers.values()) cancel();
        this.#timers.clear();
        this.#options.ended();
    }
  }

  #set(timer: TimerName, afterMs: number): void {
    this.#timers.get(timer)?.();
    const fire = () => {
      this.#timers.delete(timer);
      this.#step({ type: "fired", timer });
    };
    this.#timers.set(timer, this.#options.clock.after(afterMs, fire));
  }
}
