/** One client transaction on the clock. */

import type { Clock } from "../../../pacing/clock.ts";
import { headerOf } from "../message/headers.ts";
import type { RequestText, ResponseText, SipResponse } from "../message/message.ts";
import {
  newClient,
  stepClient,
  type ClientEffect,
  type ClientEvent,
  type ClientState,
} from "./client-machine.ts";
import { requestOnBranch } from "./on-branch.ts";
import type { TimerName } from "./timers.ts";
import { isReliable, type Hop, type SendFailed } from "./wire.ts";

export interface ClientUser {
  /** Every provisional response, and the final one; for an INVITE each 200 that comes. */
  responded(response: SipResponse, source: Hop): void;
  /** Once, instead of a final response. @param error of the socket, where there is one */
  failed(cause: "timeout" | "unreachable", error: Error | null): void;
}

interface ClientOptions {
  readonly message: RequestText;
  readonly hop: Hop;
  readonly user: ClientUser;
  readonly clock: Clock;
  readonly send: (message: RequestText | ResponseText, hop: Hop, failed: SendFailed) => void;
  readonly ended: () => void;
}

export class ClientTransaction {
  readonly #options: ClientOptions;
  readonly #timers = new Map<TimerName, () => void>();
  #state: ClientState;
  #fault: Error | null = null;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#state = newClient(options.message.method === "INVITE", isReliable(options.hop));
  }

  get message(): RequestText {
    return this.#options.message;
  }

  get hop(): Hop {
    return this.#options.hop;
  }

  begin(): void {
    this.#step({ type: "begun" });
  }

  responded(response: SipResponse, source: Hop): void {
    this.#step({ type: "responded", status: response.status }, { response, source });
  }

  drop(): void {
    this.#state = { ...this.#state, phase: "ended" };
    this.#run({ type: "end" });
  }

  #step(event: ClientEvent, given?: { readonly response: SipResponse; readonly source: Hop }): void {
    const { state, effects } = stepClient(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#run(effect, given);
  }

  #run(effect: ClientEffect, given?: { readonly response: SipResponse; readonly source: Hop }): void {
    const { message, user } = this.#options;
    switch (effect.type) {
      case "sendRequest":
        this.#send(message);
        return;
      case "sendAck":
        if (given !== undefined) this.#send(requestOnBranch(message, "ACK", headerOf(given.response, "to")));
        return;
      case "setTimer":
        this.#set(effect.timer, effect.afterMs);
        return;
      case "deliver":
        if (given !== undefined) user.responded(given.response, given.source);
        return;
      case "reportTimeout":
        user.failed("timeout", null);
        return;
      case "reportUnreachable":
        user.failed("unreachable", this.#fault);
        return;
      case "end":
        for (const cancel of this.#timers.values()) cancel();
        this.#timers.clear();
        this.#options.ended();
    }
  }

  #send(message: RequestText): void {
    this.#options.send(message, this.#options.hop, (error) => {
      this.#fault = error ?? null;
      this.#step({ type: "transportFailed" });
    });
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
