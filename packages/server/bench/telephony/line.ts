/** A caller at 8 kHz for the benchmark, over a carrier's stream or the plain websocket: as light as the other. */

import { WebSocket } from "ws";
import { encodeMulaw, MULAW_SILENCE } from "../../src/media/g711.ts";

export const LINE_RATE_HZ = 8_000;
const FRAME_MS = 20;
const FRAME_SAMPLES = 160;

/** Messages of the service that are no audio: marks and clears are short. */
const LONGEST_COMMAND_BYTES = 150;

export interface Line {
  /** When the stream began, by `performance.now()`. */
  readonly startedMs: number;
  /** Says this from now on, in real time. */
  say(clip: Int16Array): void;
  hangUp(): Promise<void>;
}

export type LineMedium = "telephony1" | "serverWebSocket";

/** @param onFrame a frame of the agent has arrived, at this time of `performance.now()` */
export async function openLine(
  medium: LineMedium,
  joinUrl: string,
  onFrame: (atMs: number) => void,
): Promise<Line> {
  const socket = new WebSocket(joinUrl, { perMessageDeflate: false });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => socket.terminate());
  const isCarrier = medium === "telephony1";
  socket.on("message", (data: Buffer, isBinary) => {
    if (isCarrier ? data.length > LONGEST_COMMAND_BYTES : isBinary) onFrame(performance.now());
    else if (isCarrier) echoMark(socket, data);
  });
  let clip = new Int16Array(0);
  let at = 0;
  const startedMs = performance.now();
  const frame = isCarrier ? carrierFrames(socket) : plainFrames();
  let sent = 0;
  // Frames are counted against the clock, so that a late timer sends two frames rather than losing one.
  const timer = setInterval(() => {
    for (; sent * FRAME_MS <= performance.now() - startedMs; sent += 1) {
      const samples = clip.subarray(at, at + FRAME_SAMPLES);
      at += FRAME_SAMPLES;
      if (socket.readyState === WebSocket.OPEN) socket.send(frame(samples));
    }
  }, FRAME_MS / 2);
  void closed.then(() => clearInterval(timer));
  return {
    startedMs,
    say: (next) => {
      clip = Int16Array.from(next);
      at = 0;
    },
    hangUp: () => {
      socket.close(1000);
      return closed;
    },
  };
}

/** Marks are echoed at once: the figures are about the service, and it asks for the same number of them. */
function echoMark(socket: WebSocket, data: Buffer): void {
  const message = JSON.parse(data.toString("utf8")) as { readonly event: string; readonly mark?: object };
  if (message.event === "mark") {
    socket.send(JSON.stringify({ event: "mark", sequenceNumber: "1", streamSid: "MZ1", mark: message.mark }));
  }
}

function carrierFrames(socket: WebSocket): (samples: Int16Array) => string {
  const mediaFormat = { encoding: "audio/x-mulaw", sampleRate: LINE_RATE_HZ, channels: 1 };
  socket.send(JSON.stringify({ event: "connected", protocol: "Call", version: "1.0.0" }));
  const start = { streamSid: "MZ1", callSid: "CA1", tracks: ["inbound"], mediaFormat };
  socket.send(JSON.stringify({ event: "start", sequenceNumber: "1", streamSid: "MZ1", start }));
  let chunk = 0;
  return (samples) => {
    chunk += 1;
    const bytes = Buffer.alloc(FRAME_SAMPLES, MULAW_SILENCE);
    bytes.set(encodeMulaw(samples));
    const timestamp = String(chunk * FRAME_MS);
    const media = { track: "inbound", chunk: String(chunk), timestamp, payload: bytes.toString("base64") };
    return JSON.stringify({ event: "media", sequenceNumber: String(chunk + 1), streamSid: "MZ1", media });
  };
}

function plainFrames(): (samples: Int16Array) => Uint8Array {
  return (samples) => {
    const frame = new Int16Array(FRAME_SAMPLES);
    frame.set(samples);
    return new Uint8Array(frame.buffer);
  };
}
