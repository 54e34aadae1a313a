/** A leg in another thread, as the main thread has it. */

import type { TransportListener } from "../../ports/transport.ts";
import type { AttachOptions, ToLegThread } from "./leg-protocol.ts";
import type { LegOpening } from "./leg-request.ts";
import type { Leg, LegTransport, RtpLeg, RtpTransportOptions, WebRtcTransportOptions } from "./leg.ts";
import { NoLegError, NoPortError } from "./peer.ts";
import {
  type AboutLeg,
  CLOSE_LIMIT_MS,
  CODE_ABNORMAL,
  isAboutTransport,
  type LegLine,
  RemoteTransport,
  THREAD_SLACK_MS,
} from "./remote-transport.ts";
import type { MediaFigures, RtpMedia } from "./rtp-media.ts";

/** What the thread has for a restart, which waits for nobody. */
const RESTART_LIMIT_MS = 5_000;

/**
 * Wait for the client of a call whose thread is gone. Nothing tells the client: a page in Chromium was back 7 s after its
 * thread had stopped answering, others may notice the silence later, and the first ones wait for a new thread. Where the
 * client itself was lost, its silence lasted 10 s before, so the usual wait is shorter.
 */
export const LOST_THREAD_GRACE_MS = 15_000;

/** The part that all kinds of legs have. */
export class RemoteLeg {
  /** Null until it is open. */
  opening: LegOpening | null = null;
  figures: MediaFigures | null = null;
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

  attach(options: AttachOptions, listener: TransportListener): LegTransport {
    if (this.#transport !== null) throw new Error("the leg is already the medium of a call");
    this.#line.send({ type: "attach", legId: this.#legId, options });
    const transport = new RemoteTransport(this.#legId, this.#line, {
      medium: options,
      listener,
      ask: (limitMs, message) => this.#ask(limitMs, message),
      ended: () => void this.close(),
    });
    this.#transport = transport;
    // The thread may be gone already, but the listener is not called in here.
    if (this.#isThreadLost) transport.threadLost(LOST_THREAD_GRACE_MS);
    if (this.#isDropped) setImmediate(() => transport.over(false, CODE_ABNORMAL));
    return transport;
  }

  playMusic(samples: Int16Array | null): void {
    if (!this.#isDropped) this.#line.send({ type: "music", legId: this.#legId, samples });
  }

  bridge(other: RemoteLeg): boolean {
    const isPossible = !this.#isDropped && !other.#isDropped && this.#line.thread === other.#line.thread;
    if (isPossible) this.#line.send({ type: "bridge", legId: this.#legId, otherLegId: other.#legId });
    return isPossible;
  }

  agree(media: RtpMedia): void {
    if (!this.#isDropped) this.#line.send({ type: "agree", legId: this.#legId, media });
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
    if (isAboutTransport(message)) {
      this.#transport?.receive(message);
      return;
    }
    switch (message.type) {
      case "opened":
        this.opening = message.opening;
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
      case "figures":
        this.figures = message.figures;
        break;
      case "gone":
        this.#end();
        break;
    }
  }

  /** The thread is gone. */
  lost(reason: string): void {
    this.#isThreadLost = true;
    this.#transport?.threadLost(LOST_THREAD_GRACE_MS);
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

/** An open leg of WebRTC. */
export function webRtcLegOf(leg: RemoteLeg): Leg {
  if (leg.opening?.kind !== "webRtc") throw new Error("the thread has opened another kind of leg");
  return {
    answer: leg.opening.answer,
    connected: leg.connected,
    attach: (options: WebRtcTransportOptions, listener) =>
      leg.attach({ kind: "webRtc", ...options }, listener),
    restart: (offer) => leg.restart(offer),
    close: () => leg.close(),
  };
}

const remoteLegs = new WeakMap<RtpLeg, RemoteLeg>();

/** An open pair of RTP ports. */
export function rtpLegOf(leg: RemoteLeg): RtpLeg {
  if (leg.opening?.kind !== "rtp") throw new Error("the thread has opened another kind of leg");
  const rtpLeg: RtpLeg = {
    port: leg.opening.port,
    rtcpPort: leg.opening.rtcpPort,
    get figures() {
      return leg.figures;
    },
    agree: (media) => leg.agree(media),
    attach: (options: RtpTransportOptions, listener) => leg.attach({ kind: "rtp", ...options }, listener),
    playMusic: (samples) => leg.playMusic(samples),
    bridge: (other) => {
      const otherLeg = remoteLegs.get(other);
      return otherLeg !== undefined && leg.bridge(otherLeg);
    },
    close: () => leg.close(),
  };
  remoteLegs.set(rtpLeg, leg);
  return rtpLeg;
}
