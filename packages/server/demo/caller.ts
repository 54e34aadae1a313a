/**
 * A caller for demonstrations and benchmarks: joins a call by its join URL, sends 16-bit audio at real-time pace
 * (silence when it has nothing to say, as a telephone would) and passes on the audio that it receives.
 */

import { WebSocket } from "ws";

export const FRAME_MS = 20;

/** Close codes after which the same URL can be opened again: a lost network, a fault, a service that restarts. */
const PASSING_CODES: ReadonlySet<number> = new Set([1006, 1011, 1012, 1013]);
/** Longer than the service waits for the client of a process that is gone. */
const RETURN_LIMIT_MS = 40_000;
const RETURN_PAUSE_MS = 300;
/** Calls of a service that stops are lost at the same time. */
const RETURN_JITTER_MS = 200;

export interface CallerOptions {
  /** A function is asked again for each connection, as a client behind a balancer reaches another node each time. */
  readonly joinUrl: string | (() => string);
  readonly sampleRateHz: number;
  /** Opens the URL again when the connection is lost. Unset: a lost connection is the end. */
  readonly returns?: boolean;
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

/** The connection of the caller at the time. */
interface Line {
  socket: WebSocket;
}

/** @throws when the service refuses the join; the message carries the HTTP status. */
export async function openCaller(options: CallerOptions): Promise<Caller> {
  const line: Line = { socket: await openSocket(options) };
  const frameSamples = (options.sampleRateHz * FRAME_MS) / 1000;
  return startTalking(line, frameSamples, lastClose(options, line));
}

async function openSocket(options: CallerOptions): Promise<WebSocket> {
  const { joinUrl } = options;
  const url = new URL(typeof joinUrl === "string" ? joinUrl : joinUrl());
  if (options.returns === true) {
    const asked = url.searchParams.get("experimentalMessages");
    url.searchParams.set("experimentalMessages", asked === null ? "reconnect" : `${asked},reconnect`);
  }
  const socket = new WebSocket(url, { perMessageDeflate: false });
  socket.on("message", (data: Buffer, isBinary) => {
    if (isBinary) options.onAudio?.(data, performance.now());
    else options.onMessage?.(JSON.parse(data.toString("utf8")) as CallerMessage);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => socket.terminate());
  return socket;
}

/** The close code of the last connection; those in between are replaced. */
async function lastClose(options: CallerOptions, line: Line): Promise<number> {
  for (;;) {
    const code = await closeOf(line.socket);
    if (options.returns !== true || !PASSING_CODES.has(code)) return code;
    const next = await comeBack(options);
    if (next === null) return code;
    line.socket = next;
  }
}

function closeOf(socket: WebSocket): Promise<number> {
  return new Promise((resolve) => {
    if (socket.readyState === WebSocket.CLOSED) resolve(1006);
    else socket.once("close", (code) => resolve(code));
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Null: the call is over, or the service did not come back in time. */
async function comeBack(options: CallerOptions): Promise<WebSocket | null> {
  const untilMs = performance.now() + RETURN_LIMIT_MS;
  await pause(Math.random() * RETURN_JITTER_MS);
  while (performance.now() < untilMs) {
    try {
      return await openSocket(options);
    } catch (error) {
      if (error instanceof Error && /\b(?:404|410)\b/.test(error.message)) return null;
    }
    await pause(RETURN_PAUSE_MS + Math.random() * RETURN_JITTER_MS);
  }
  return null;
}

function startTalking(line: Line, frameSamples: number, closed: Promise<number>): Caller {
  const sayings: Saying[] = [];
  const startedMs = performance.now();
  let sentFrames = 0;
  // Frames are counted against the clock, so that a late timer sends two frames rather than losing one.
  const pump = (): void => {
    const dueFrames = Math.floor((performance.now() - startedMs) / FRAME_MS) + 1;
    for (; sentFrames < dueFrames; sentFrames++) {
      // What is said while nobody listens is said when the call is back.
      if (line.socket.readyState === WebSocket.OPEN) line.socket.send(nextFrame(sayings, frameSamples));
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
    send: (message) => line.socket.send(JSON.stringify(message)),
    closed,
    hangUp: () => line.socket.close(1000),
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
