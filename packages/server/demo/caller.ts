/**
 * A caller for demonstrations and benchmarks: joins a call by its join URL, sends 16-bit audio at real-time pace
 * (silence when it has nothing to say, as a telephone would) and passes on the audio that it receives.
 */

import { WebSocket } from "ws";

export const FRAME_MS = 20;

export interface CallerOptions {
  readonly joinUrl: string;
  readonly sampleRateHz: number;
  onMessage?(message: CallerMessage): void;
  /** Each audio frame (s16le) as it arrives, with the arrival time of `performance.now()`. */
  onAudio?(frame: Buffer, atMs: number): void;
}

/** A data message of the service; fields depend on `type`. */
export interface CallerMessage {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface Caller {
  /** Resolves when the last sample has been sent, or dropped by the end of the call. Sayings queue up. */
  say(samples: Int16Array): Promise<void>;
  send(message: Readonly<Record<string, unknown>>): void;
  /** The close code, once the call is over. */
  readonly closed: Promise<number>;
  hangUp(): void;
}

interface Saying {
  readonly samples: Int16Array;
  offset: number;
  done(): void;
}

/** @throws when the service refuses the join; the message carries the HTTP status. */
export async function openCaller(options: CallerOptions): Promise<Caller> {
  const socket = new WebSocket(options.joinUrl, { perMessageDeflate: false });
  const closed = new Promise<number>((resolve) => socket.once("close", (code) => resolve(code)));
  socket.on("message", (data: Buffer, isBinary) => {
    if (isBinary) options.onAudio?.(data, performance.now());
    else options.onMessage?.(JSON.parse(data.toString("utf8")) as CallerMessage);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => socket.terminate());
  const frameSamples = (options.sampleRateHz * FRAME_MS) / 1000;
  return startTalking(socket, frameSamples, closed);
}

function startTalking(socket: WebSocket, frameSamples: number, closed: Promise<number>): Caller {
  const sayings: Saying[] = [];
  const startedMs = performance.now();
  let sentFrames = 0;
  // Frames are counted against the clock, so that a late timer sends two frames rather than losing one.
  const pump = (): void => {
    const dueFrames = Math.floor((performance.now() - startedMs) / FRAME_MS) + 1;
    for (; sentFrames < dueFrames; sentFrames++) {
      const frame = nextFrame(sayings, frameSamples);
      if (socket.readyState === WebSocket.OPEN) socket.send(frame);
    }
  };
  const timer = setInterval(pump, FRAME_MS / 2);
  void closed.then(() => {
    clearInterval(timer);
    for (const saying of sayings.splice(0)) saying.done();
  });
  return {
    say: (samples) =>
      new Promise((done) => {
        sayings.push({ samples, offset: 0, done });
      }),
    send: (message) => socket.send(JSON.stringify(message)),
    closed,
    hangUp: () => socket.close(1000),
  };
}

function nextFrame(sayings: Saying[], frameSamples: number): Buffer {
  const frame = new Int16Array(frameSamples);
  let filled = 0;
  while (filled < frameSamples) {
    const saying = sayings[0];
    if (saying === undefined) break;
    const part = saying.samples.subarray(saying.offset, saying.offset + frameSamples - filled);
    frame.set(part, filled);
    filled += part.length;
    saying.offset += part.length;
    if (saying.offset < saying.samples.length) continue;
    sayings.shift();
    saying.done();
  }
  return Buffer.from(frame.buffer);
}
