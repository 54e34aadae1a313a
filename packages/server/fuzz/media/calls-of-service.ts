/** The service's side of the attacked calls: its signalling and its threads, with calls that send back what they hear. */

import { pino } from "pino";
import { RoomSockets } from "../../src/joins/rooms/room-sockets.ts";
import { openWebRtcJoins, type WebRtcJoins } from "../../src/joins/webrtc-joins.ts";
import { frameSamples } from "../../src/media/frame.ts";
import { OPUS_RATE_HZ } from "../../src/transports/rtc/leg.ts";
import type { LegThread, StartLegThread } from "../../src/transports/rtc/leg-thread.ts";
import { type LegThreads, openLegThreads } from "../../src/transports/rtc/leg-threads.ts";
import type { MemoryUse } from "../../src/transports/rtc/memory-watch.ts";
import type { FromCallers, Purpose, ToCallers } from "./messages.ts";
import type { Oracle } from "./oracle.ts";

const FRAME = frameSamples(OPUS_RATE_HZ);
const MEDIUM = {
  kind: "webRtc",
  inputSampleRateHz: OPUS_RATE_HZ,
  outputSampleRateHz: OPUS_RATE_HZ,
  clientBufferSizeMs: 60,
  mediaIdleTimeoutMs: null,
} as const;
const QUERY = { clientVersion: null, apiVersion: null, experimentalMessages: [] };
/**
 * The log's line for what is thrown before a connection is encrypted. It ends no connection, because anybody could
 * cause it, and a caller who breaks its own handshake does.
 */
const FAULTS_LINE = /^\d+ faults in a thread for WebRTC/;

export interface ServedCall {
  readonly purpose: Purpose;
  /** Frames of 20 ms. */
  heard: number;
  sent: number;
  isEnded: boolean;
}

export interface CallsOfServiceOptions {
  readonly start: StartLegThread;
  readonly oracle: Oracle;
  /** Lines that a caller may cause by its own handshake are told here, all others to the oracle. */
  readonly expected: (line: string) => void;
}

export class CallsOfService {
  readonly calls = new Map<string, ServedCall>();
  readonly #oracle: Oracle;
  readonly #threads: LegThreads;
  readonly #joins: WebRtcJoins;
  /** The thread that was started last; there is one at a time. */
  #thread: LegThread | null = null;
  #hasHandshakeAttack = false;
  readonly #tell = new Map<string, (message: ToCallers) => void>();

  constructor({ start, oracle, expected }: CallsOfServiceOptions) {
    this.#oracle = oracle;
    this.#threads = openLegThreads({
      start: (listener) => {
        this.#thread = start(listener);
        return this.#thread;
      },
      maxThreads: 1,
      listener: {
        log: (line) => {
          if (this.#hasHandshakeAttack && FAULTS_LINE.test(line)) expected(line);
          else oracle.fault(`the service has logged: ${line}`);
        },
        threadLost: (kind) => oracle.fault(`a thread was lost: ${kind}`),
        legFaulty: ({ callId }, { detail }) => {
          // It may have ended already, so its id tells what it was for.
          if (!callId.startsWith("caller")) {
            oracle.fault(`${callId} was ended for faults that are not its caller's: ${detail}`);
          }
        },
      },
    });
    this.#joins = openWebRtcJoins({
      host: "127.0.0.1",
      settings: { iceServers: [], portRange: null, announcedAddress: null },
      liveCalls: {
        accountOf: () => "account",
        awaitsJoin: () => Promise.resolve("joinable"),
        connectCall: (callId, open) => this.#connect(callId, open),
      },
      openLeg: this.#threads.open,
      roomSockets: new RoomSockets({ endCall: () => undefined }),
      logger: pino({ level: "error" }, { write: (line) => oracle.fault(`the service has logged: ${line}`) }),
    });
  }

  /** The lines of handshakes that their own callers break are expected from now on. */
  expectBrokenHandshakes(): void {
    this.#hasHandshakeAttack = true;
  }

  warm(): Promise<void> {
    return this.#threads.warm();
  }

  async memoryUse(): Promise<MemoryUse> {
    if (this.#thread === null) throw new Error("there is no thread");
    return this.#thread.memoryUse();
  }

  /** Calls that end from now on are not lost. */
  finish(): void {
    this.calls.clear();
  }

  async close(): Promise<void> {
    await this.#joins.close();
    await this.#threads.close();
  }

  /** Carries out a request of a process of callers; false: it is none. */
  take(message: FromCallers, tell: (message: ToCallers) => void): boolean {
    if (message.type === "offer") void this.#offer(message, tell);
    else if (message.type === "patch") void this.#patch(message, tell);
    else if (message.type === "hangUp") {
      this.#hangUp(message.callId, message.connectionId);
      tell({ type: "hungUp", request: message.request });
    } else return false;
    return true;
  }

  async #offer(message: FromCallers & { type: "offer" }, tell: (message: ToCallers) => void): Promise<void> {
    const { request, callId, purpose, sdp } = message;
    if (purpose !== "offer") {
      this.calls.set(callId, { purpose, heard: 0, sent: 0, isEnded: false });
      this.#tell.set(callId, tell);
    }
    try {
      const answer = await this.#joins.offer({ callId, sdp, query: QUERY });
      tell({ type: "answer", request, answer });
    } catch (error) {
      this.#oracle.fault(`an offer was answered by an error: ${String(error)}`);
      tell({ type: "failed", request, detail: String(error) });
    }
  }

  async #patch(message: FromCallers & { type: "patch" }, tell: (message: ToCallers) => void): Promise<void> {
    const { request, callId, connectionId, fragment } = message;
    try {
      const patched = await this.#joins.patch({ callId, connectionId }, fragment);
      tell({ type: "patched", request, patched });
    } catch (error) {
      this.#oracle.fault(`a fragment was answered by an error: ${String(error)}`);
      tell({ type: "failed", request, detail: String(error) });
    }
  }

  #hangUp(callId: string, connectionId: string): void {
    const call = this.calls.get(callId);
    if (call !== undefined) call.isEnded = true;
    void this.#joins.hangUp({ callId, connectionId });
    this.#forget(callId);
  }

  #connect(
    callId: string,
    open: Parameters<NonNullable<Parameters<typeof openWebRtcJoins>[0]["liveCalls"]["connectCall"]>>[1],
  ): Promise<"connected" | "gone"> {
    const call = this.calls.get(callId);
    if (call === undefined) return Promise.resolve("gone");
    const transport = open(MEDIUM, {
      audio: (samples) => {
        call.heard += 1;
        if (samples.length === FRAME && transport.sendAudio(samples)) call.sent += 1;
      },
      data: () => undefined,
      problem: () => undefined,
      digit: () => undefined,
      played: () => undefined,
      closed: (isRegular, code) =>
        this.#ended(callId, call, `${isRegular ? "hung up" : "lost"}, ${String(code)}`),
    });
    this.#tell.get(callId)?.({ type: "joined", callId });
    return Promise.resolve("connected");
  }

  #ended(callId: string, call: ServedCall, how: string): void {
    if (call.isEnded || this.calls.get(callId) !== call) return;
    call.isEnded = true;
    if (call.purpose !== "caller") this.#oracle.fault(`${callId} was ended (${how})`);
    this.#tell.get(callId)?.({ type: "ended", callId });
    this.#forget(callId);
  }

  #forget(callId: string): void {
    this.#tell.delete(callId);
    this.calls.delete(callId);
  }
}
