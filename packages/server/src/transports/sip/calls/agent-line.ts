/**
 * The medium of a call as the agent has it. While the other side is held, the agent hears silence and is not heard. A
 * call that goes on without its agent keeps its media, and the agent's end ends only this line.
 */

import type { Transport, TransportListener } from "../../../ports/transport.ts";
import type { LegTransport } from "../../rtc/leg.ts";

const CODE_REGULAR = 1000;

export class AgentLine {
  readonly #listener: TransportListener;
  readonly #closed = Promise.withResolvers<void>();
  #isHeld = false;
  #isKept = false;
  #isClosed = false;

  constructor(listener: TransportListener) {
    this.#listener = listener;
  }

  /** The agent has left. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
  }

  /** The agent's end does not end the media any more. */
  keep(): void {
    this.#isKept = true;
  }

  /** The medium is gone. */
  close(regular: boolean, code: number): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#closed.resolve();
    this.#listener.closed(regular, code);
  }

  /** What the medium gives to the agent. */
  readonly heard: Omit<TransportListener, "closed"> = {
    // The agent's time goes on with the samples that it gets.
    audio: (samples) => this.#give(() => this.#listener.audio(this.#isHeld ? silent(samples) : samples)),
    data: (text, tooLong) => this.#give(() => this.#listener.data(text, tooLong)),
    problem: (problem) => this.#give(() => this.#listener.problem(problem)),
    digit: (key) => this.#give(() => (this.#isHeld ? undefined : this.#listener.digit(key))),
    played: (position) => this.#give(() => this.#listener.played(position)),
  };

  /** The medium as the agent uses it. */
  transportOf(leg: LegTransport): Transport {
    const isSilent = (): boolean => this.#isHeld || this.#isClosed;
    return {
      inputSampleRateHz: leg.inputSampleRateHz,
      outputSampleRateHz: leg.outputSampleRateHz,
      ...(leg.outputEncoding === undefined ? {} : { outputEncoding: leg.outputEncoding }),
      aheadMs: leg.aheadMs,
      get graceMs() {
        return leg.graceMs ?? null;
      },
      ...(leg.signalsDigits === undefined ? {} : { signalsDigits: leg.signalsDigits }),
      // What the other side is not to hear counts as sent, so that the agent's time goes on.
      sendAudio: (frame) => (isSilent() ? !this.#isClosed : leg.sendAudio(frame)),
      ...(leg.mark === undefined
        ? {}
        : { mark: (position: number) => void (this.#isClosed || leg.mark?.(position)) }),
      ...(leg.clearAudio === undefined
        ? {}
        : { clearAudio: (tail: Int16Array) => void (isSilent() || leg.clearAudio?.(tail)) }),
      ...(leg.sendDigits === undefined
        ? {}
        : { sendDigits: (digits: string) => void (isSilent() || leg.sendDigits?.(digits)) }),
      sendData: (message) => leg.sendData(message),
      probe: (limitMs) => (this.#isClosed ? Promise.resolve(false) : leg.probe(limitMs)),
      close: (code, reason) => {
        if (!this.#isKept) leg.close(code, reason);
        // The listener is not called before `close` has returned.
        else setImmediate(() => this.close(true, CODE_REGULAR));
      },
    };
  }

  #give(give: () => void): void {
    if (!this.#isClosed) give();
  }
}

function silent(samples: Int16Array): Int16Array {
  return new Int16Array(samples.length);
}
