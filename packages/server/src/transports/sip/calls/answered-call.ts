/** One answered call: what its signalling and its media tell each other. */

import type { SipTermination } from "@parley/schema";
import type { OpenSipTransport } from "../../../ports/sip-calls.ts";
import type { TransportListener } from "../../../ports/transport.ts";
import type { LegTransport } from "../../rtc/leg.ts";
import type { SipMedia } from "../media/sip-media.ts";
import { SdpError } from "../sdp/description.ts";
import type { IncomingRefer, SipCall, SipCallEnd, SipCallListener } from "../user-agent.ts";

/** The close code of a medium whose call was lost, not hung up. */
const CODE_LOST = 1006;

export class AnsweredCall implements SipCallListener {
  readonly #media: SipMedia;
  readonly #ended: (termination: SipTermination) => void;
  readonly #firstAnswer = Promise.withResolvers<boolean>();
  #call: SipCall | null = null;
  #listener: TransportListener | null = null;
  #transport: LegTransport | null = null;
  #isOver = false;

  /** @param ended called once, when the signalling is over */
  constructor(media: SipMedia, ended: (termination: SipTermination) => void) {
    this.#media = media;
    this.#ended = ended;
  }

  /** True once the other side has answered an offer of ours in the 200; false: the call has ended before. */
  get firstAnswer(): Promise<boolean> {
    return this.#firstAnswer.promise;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  begin(call: SipCall): void {
    this.#call = call;
  }

  /** Makes the media the medium of a call. */
  readonly open: OpenSipTransport = (listener) => {
    this.#listener = listener;
    this.#transport = this.#media.attach({
      audio: (samples) => listener.audio(samples),
      data: (text, tooLong) => listener.data(text, tooLong),
      problem: (problem) => listener.problem(problem),
      digit: (key) => listener.digit(key),
      played: (position) => listener.played(position),
      closed: (regular, code) => {
        listener.closed(regular, code);
        this.hangUp();
      },
    });
    if (this.#isOver) this.#transport.hangUp();
    return this.#transport;
  };

  hangUp(): void {
    this.#call?.hangUp();
    void this.#media.close();
  }

  offered(sdp: string): string | null {
    return orNull(() => this.#media.answer(sdp));
  }

  offerWanted(): string {
    return this.#media.offer();
  }

  answered(sdp: string): void {
    const accepted = orNull(() => {
      this.#media.accept(sdp);
      return true;
    });
    if (accepted === null) this.hangUp();
    else this.#firstAnswer.resolve(true);
  }

  digit(key: string): void {
    this.#listener?.digit(key);
  }

  referred(refer: IncomingRefer): void {
    refer.reject(603);
  }

  ended({ cause }: SipCallEnd): void {
    this.#isOver = true;
    this.#firstAnswer.resolve(false);
    if (cause === "remote" || cause === "local") this.#transport?.hangUp();
    else this.#transport?.close(CODE_LOST, cause);
    if (this.#transport === null) void this.#media.close();
    this.#ended(cause === "remote" || cause === "local" ? "NORMAL" : "UNKNOWN");
  }
}

/** Null: the description cannot be used. */
function orNull<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof SdpError) return null;
    throw error;
  }
}
