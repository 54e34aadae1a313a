/** The medium of a call whose leg is in another thread. */

import type { ServerDataMessage } from "@parley/schema";
import type { TransportListener } from "../../ports/transport.ts";
import type { AttachOptions, FromLegThread, ToLegThread } from "./leg-protocol.ts";
import { type LegTransport, OPUS_RATE_HZ, WEBRTC_AHEAD_MS } from "./leg.ts";
import { RTP_AHEAD_MS } from "./rtp-media.ts";

/** Beyond the time that the thread has itself: a thread that hangs must not hold a call. */
export const THREAD_SLACK_MS = 1_000;
/** What the thread has for the end of a connection. */
export const CLOSE_LIMIT_MS = 2_000;

export const CODE_REGULAR = 1000;
export const CODE_ABNORMAL = 1006;

export type AboutLeg = Exclude<
  FromLegThread,
  { readonly type: "ready" | "audio" | "fault" | "faulty" | "pong" }
>;

/** What of a leg is for its transport. */
export type AboutTransport = Extract<
  AboutLeg,
  { readonly type: "data" | "problem" | "digit" | "played" | "closed" }
>;

export function isAboutTransport(message: AboutLeg): message is AboutTransport {
  return ["data", "problem", "digit", "played", "closed"].includes(message.type);
}

export interface LegLine {
  /** What it leads to: legs of one thread have the same. */
  readonly thread: object;
  /** After the frames that were sent before it. */
  send(message: ToLegThread): void;
  /** Copied. */
  sendAudio(frame: Int16Array): void;
  /** Messages of this leg are ignored from now on. */
  forget(): void;
}

interface RemoteTransportOptions {
  readonly medium: AttachOptions;
  readonly listener: TransportListener;
  ask(limitMs: number, request: (requestId: number) => ToLegThread): Promise<AboutLeg | null>;
  ended(): void;
}

export class RemoteTransport implements LegTransport {
  readonly inputSampleRateHz: number;
  readonly outputSampleRateHz: number;
  readonly outputEncoding: "pcm" | "mulaw";
  readonly aheadMs: number;
  readonly signalsDigits: boolean;
  readonly mark?: (position: number) => void;
  readonly clearAudio?: (tail: Int16Array) => void;
  readonly sendDigits?: (digits: string) => void;
  graceMs: number | null = null;
  readonly #legId: number;
  readonly #line: LegLine;
  readonly #options: RemoteTransportOptions;
  #closeTimer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(legId: number, line: LegLine, options: RemoteTransportOptions) {
    this.#legId = legId;
    this.#line = line;
    this.#options = options;
    const { medium } = options;
    const isRtp = medium.kind === "rtp";
    this.inputSampleRateHz = isRtp ? medium.sampleRateHz : OPUS_RATE_HZ;
    this.outputSampleRateHz = this.inputSampleRateHz;
    this.outputEncoding = isRtp ? medium.outputEncoding : "pcm";
    this.aheadMs = isRtp ? RTP_AHEAD_MS : WEBRTC_AHEAD_MS;
    this.signalsDigits = isRtp;
    if (!isRtp) {
      this.graceMs = medium.graceMs ?? null;
      return;
    }
    // A SIP peer does not come back to a call whose media it has lost.
    this.graceMs = 0;
    this.mark = (position) => this.#send({ type: "mark", legId, position });
    this.clearAudio = (tail) => this.#send({ type: "clearAudio", legId, tail });
    this.sendDigits = (digits) => this.#send({ type: "digits", legId, digits });
  }

  /** The call waits so long for its client when the thread is lost. */
  threadLost(graceMs: number): void {
    if (this.#options.medium.kind === "webRtc") this.graceMs = graceMs;
  }

  sendAudio(frame: Int16Array): boolean {
    if (this.#isOver()) return false;
    this.#line.sendAudio(frame);
    return true;
  }

  sendData(message: ServerDataMessage): void {
    this.#send({ type: "text", legId: this.#legId, text: JSON.stringify(message) });
  }

  async probe(limitMs: number): Promise<boolean> {
    if (this.#isOver()) return false;
    const answer = await this.#options.ask(limitMs, (requestId) => ({
      type: "probe",
      legId: this.#legId,
      requestId,
      limitMs,
    }));
    return answer?.type === "probed" && answer.alive;
  }

  close(code: number): void {
    if (this.#isOver()) return;
    this.#line.send({ type: "closeTransport", legId: this.#legId, code });
    const overdue = (): void => this.over(code === CODE_REGULAR, code);
    this.#closeTimer = setTimeout(overdue, CLOSE_LIMIT_MS + THREAD_SLACK_MS);
  }

  hangUp(): void {
    this.#line.send({ type: "hangUp", legId: this.#legId });
    this.over(true, CODE_REGULAR);
  }

  hear(samples: Int16Array): void {
    if (!this.#isOver()) this.#options.listener.audio(samples);
  }

  receive(message: AboutTransport): void {
    if (message.type === "closed") {
      this.over(message.regular, message.code);
      return;
    }
    if (this.#isOver()) return;
    const { listener } = this.#options;
    if (message.type === "data") listener.data(message.text, message.tooLong);
    else if (message.type === "problem") listener.problem(message.problem);
    else if (message.type === "digit") listener.digit(message.key);
    else listener.played(message.position);
  }

  over(regular: boolean, code: number): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#closeTimer !== null) clearTimeout(this.#closeTimer);
    this.#options.listener.closed(regular, code);
    this.#options.ended();
  }

  #send(message: ToLegThread): void {
    if (!this.#isOver()) this.#line.send(message);
  }

  #isOver(): boolean {
    return this.#closeTimer !== null || this.#isClosed;
  }
}
