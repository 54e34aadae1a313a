/** What a process of callers requests from the process with the service's side. */

import type { WebRtcAnswer, WebRtcPatched } from "../../src/joins/api.ts";
import type { FromCallers, Purpose, ToCallers } from "./messages.ts";

/** The service answers within 6 s, or says that it cannot. */
const ANSWER_LIMIT_MS = 30_000;

export interface CallEvents {
  /** Media flow. */
  joined(): void;
  /** The service has ended the connection. */
  ended(): void;
}

export function tell(message: FromCallers): void {
  process.send?.(message);
}

export class ServiceRequests {
  readonly #waiting = new Map<number, (message: ToCallers) => void>();
  readonly #events = new Map<string, CallEvents>();
  #last = 0;

  /** @returns whether the message belongs to a request or to a call */
  take(message: ToCallers): boolean {
    if (message.type === "joined") this.#events.get(message.callId)?.joined();
    else if (message.type === "ended") this.#events.get(message.callId)?.ended();
    else if ("request" in message) this.#waiting.get(message.request)?.(message);
    else return false;
    return true;
  }

  async offer(callId: string, purpose: Purpose, sdp: string): Promise<WebRtcAnswer> {
    const message = await this.#ask((request) => ({ type: "offer", request, callId, purpose, sdp }));
    if (message.type === "answer") return message.answer;
    throw new Error(message.type === "failed" ? message.detail : "an offer got another answer");
  }

  async patch(callId: string, connectionId: string, fragment: string): Promise<WebRtcPatched> {
    const message = await this.#ask((request) => ({
      type: "patch",
      request,
      callId,
      connectionId,
      fragment,
    }));
    if (message.type === "patched") return message.patched;
    throw new Error(message.type === "failed" ? message.detail : "a fragment got another answer");
  }

  /** The client must wait for this before it closes its connection: the service would see that first. */
  async hangUp(callId: string, connectionId: string): Promise<void> {
    await this.#ask((request) => ({ type: "hangUp", request, callId, connectionId }));
    this.#events.delete(callId);
  }

  listen(callId: string, events: CallEvents): void {
    this.#events.set(callId, events);
  }

  #ask(message: (request: number) => FromCallers): Promise<ToCallers> {
    this.#last += 1;
    const request = this.#last;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#waiting.delete(request);
        reject(new Error("the service has not answered an offer"));
      }, ANSWER_LIMIT_MS);
      this.#waiting.set(request, (answer) => {
        clearTimeout(late);
        this.#waiting.delete(request);
        resolve(answer);
      });
      tell(message(request));
    });
  }
}
