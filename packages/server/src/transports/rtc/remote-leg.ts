/** A leg in another thread, as the main thread has it. */

import type { ServerDataMessage } from "@parley/schema";
import type { TransportListener } from "../../ports/transport.ts";
import type { FromLegThread, ToLegThread } from "./leg-protocol.ts";
import {
  type Leg,
  type LegTransport,
  OPUS_RATE_HZ,
  WEBRTC_AHEAD_MS,
  type WebRtcTransportOptions,
} from "./leg.ts";
import { NoLegError, NoPortError } from "./peer.ts";

/** Beyond the time that the thread has itself: a thread that hangs must not hold a call. */
const THREAD_SLACK_MS = 1_000;
/** What the thread has for a restart, which waits for nobody, and for the end of a connection. */
const RESTART_LIMIT_MS = 5_000;
const CLOSE_LIMIT_MS = 2_000;

/**
 * Wait for the client of a call whose thread is gone. Nothing tells the client: a page in Chromium was back 7 s after its
 * thread had stopped answering, others may notice the silence later, and the first ones wait for a new thread. Where the
 * client itself was lost, its silence lasted 10 s before, so the usual wait is shorter.
 */
export const LOST_THREAD_GRACE_MS = 15_000;

const CODE_REGULAR = 1000;
const CODE_ABNORMAL = 1006;

export interface LegLine {
  send(message: ToLegThread): void;
  /** Copied. */
  sendAudio(frame: Int16Array): void;
  /** Nothing is heard of this leg any more. */
  forget(): void;
}

type AboutLeg = Exclude<FromLegThread, { readonly type: "ready" | "audio" | "fault" | "faulty" | "pong" }>;

export class RemoteLeg implements Leg {
  answer = "";
  readonly connected: Promise<boolean>;
  readonly #legId: number;
  readonly #line: LegLine;
  readonly #opened = Promise.withResolvers<void>();
  readonly #connected = Promise.withResolvers<boolean>();
  readonly #gone = Promise.withResolvers<void>();
  readonly #waiting = new Map<number, (message: AboutLeg | null) => void>();
  #transport: RemoteTransport | null = null;
  #lastRequest = 0;
  #isDropped = false;
  #isThreadLost = false;

  constructor(legId: number, line: LegLine) {
    this.#legId = legId;
    this.#line = line;
    this.connected = this.#connected.promise;
    this.#opened.promise.catch(() => undefined);
  }

  /** @throws what prevented it */
  async opened(limitMs: number): Promise<void> {
    const late = setTimeout(() => {
      this.#opened.reject(new NoLegError("the thread did not answer in time"));
      void this.close();
    }, limitMs);
    try {
      await this.#opened.promise;
    } finally {
      clearTimeout(late);
    }
  }

  attach(options: WebRtcTransportOptions, listener: TransportListener): LegTransport {
    if (this.#transport !== null) throw new Error("the leg is already the medium of a call");
    this.#line.send({ type: "attach", legId: this.#legId, options });
    const transport = new RemoteTransport(this.#legId, this.#line, {
      listener,
      ask: (limitMs, message) => this.#ask(limitMs, message),
      ended: () => void this.close(),
    });
    this.#transport = transport;
    // The thread may be gone already, but the listener is not called in here.
    if (this.#isThreadLost) transport.graceMs = LOST_THREAD_GRACE_MS;
    if (this.#isDropped) setImmediate(() => transport.over(false, CODE_ABNORMAL));
    return transport;
  }

  async restart(offer: string): Promise<string> {
    const message = await this.#ask(RESTART_LIMIT_MS, (requestId) => ({
      type: "restart",
      legId: this.#legId,
      requestId,
      offer,
    }));
    if (message?.type !== "restarted" || message.answer === null) {
      throw new Error(message?.type === "restarted" ? message.detail : "the connection is gone");
    }
    return message.answer;
  }

  close(): Promise<void> {
    if (!this.#isDropped) {
      this.#isDropped = true;
      this.#line.send({ type: "drop", legId: this.#legId });
      // A thread that hangs says nothing of it; what it holds ends with it.
      const late = setTimeout(() => this.#end(), CLOSE_LIMIT_MS + THREAD_SLACK_MS);
      void this.#gone.promise.then(() => clearTimeout(late));
    }
    return this.#gone.promise;
  }

  hear(samples: Int16Array): void {
    this.#transport?.hear(samples);
  }

  receive(message: AboutLeg): void {
    switch (message.type) {
      case "opened":
        this.answer = message.answer;
        this.#opened.resolve();
        break;
      case "notOpened":
        this.#refuse(message.noPort ? new NoPortError(message.detail) : new Error(message.detail));
        break;
      case "connected":
        this.#connected.resolve(message.connected);
        break;
      case "restarted":
      case "probed":
        this.#waiting.get(message.requestId)?.(message);
        break;
      case "data":
      case "problem":
      case "closed":
        this.#transport?.receive(message);
        break;
      case "gone":
        this.#end();
        break;
    }
  }

  /** The thread is gone. */
  lost(reason: string): void {
    this.#isThreadLost = true;
    if (this.#transport !== null) this.#transport.graceMs = LOST_THREAD_GRACE_MS;
    this.#refuse(new NoLegError(reason));
  }

  #refuse(error: Error): void {
    this.#isDropped = true;
    this.#opened.reject(error);
    this.#end();
  }

  #end(): void {
    this.#line.forget();
    this.#connected.resolve(false);
    for (const settle of this.#waiting.values()) settle(null);
    this.#transport?.over(false, CODE_ABNORMAL);
    this.#gone.resolve();
  }

  /** The answer to a request, or null when there is none within the limit. */
  #ask(limitMs: number, request: (requestId: number) => ToLegThread): Promise<AboutLeg | null> {
    if (this.#isDropped) return Promise.resolve(null);
    this.#lastRequest += 1;
    const requestId = this.#lastRequest;
    return new Promise((resolve) => {
      const settle = (message: AboutLeg | null): void => {
        clearTimeout(late);
        this.#waiting.delete(requestId);
        resolve(message);
      };
      const late = setTimeout(() => settle(null), limitMs + THREAD_SLACK_MS);
      this.#waiting.set(requestId, settle);
      this.#line.send(request(requestId));
    });
  }
}

interface RemoteTransportOptions {
  readonly listener: TransportListener;
  ask(limitMs: number, request: (requestId: number) => ToLegThread): Promise<AboutLeg | null>;
  ended(): void;
}

class RemoteTransport implements LegTransport {
  readonly inputSampleRateHz = OPUS_RATE_HZ;
  readonly outputSampleRateHz = OPUS_RATE_HZ;
  readonly aheadMs = WEBRTC_AHEAD_MS;
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
  }

  sendAudio(frame: Int16Array): boolean {
    if (this.#closeTimer !== null || this.#isClosed) return false;
    this.#line.sendAudio(frame);
    return true;
  }

  sendData(message: ServerDataMessage): void {
    if (this.#closeTimer !== null || this.#isClosed) return;
    this.#line.send({ type: "text", legId: this.#legId, text: JSON.stringify(message) });
  }

  async probe(limitMs: number): Promise<boolean> {
    if (this.#closeTimer !== null || this.#isClosed) return false;
    const answer = await this.#options.ask(limitMs, (requestId) => ({
      type: "probe",
      legId: this.#legId,
      requestId,
      limitMs,
    }));
    return answer?.type === "probed" && answer.alive;
  }

  close(code: number): void {
    if (this.#closeTimer !== null || this.#isClosed) return;
    this.#line.send({ type: "closeTransport", legId: this.#legId, code });
    const overdue = (): void => this.over(code === CODE_REGULAR, code);
    this.#closeTimer = setTimeout(overdue, CLOSE_LIMIT_MS + THREAD_SLACK_MS);
  }

  hangUp(): void {
    this.#line.send({ type: "hangUp", legId: this.#legId });
    this.over(true, CODE_REGULAR);
  }

  hear(samples: Int16Array): void {
    if (this.#closeTimer === null && !this.#isClosed) this.#options.listener.audio(samples);
  }

  receive(message: Extract<AboutLeg, { readonly type: "data" | "problem" | "closed" }>): void {
    if (this.#isClosed) return;
    if (message.type === "closed") this.over(message.regular, message.code);
    else if (this.#closeTimer !== null) return;
    else if (message.type === "data") this.#options.listener.data(message.text, message.tooLong);
    else this.#options.listener.problem(message.problem);
  }

  over(regular: boolean, code: number): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#closeTimer !== null) clearTimeout(this.#closeTimer);
    this.#options.listener.closed(regular, code);
    this.#options.ended();
  }
}
