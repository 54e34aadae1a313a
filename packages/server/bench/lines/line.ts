/**
 * A caller at 8 kHz over a websocket, written on the socket itself: with a library for websockets, the callers of a
 * benchmark take as much CPU as the service does for their calls.
 */

import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { clientFrame, OPCODE } from "./client-frames.ts";
import { onPace } from "./pacer.ts";
import { PeerFrames } from "./peer-frames.ts";
import { FRAME_MS, type Recorded } from "./recorded.ts";

/** From the connection to the answer of the upgrade. */
const OPEN_LIMIT_MS = 30_000;
/** Longer than any answer of the service to an upgrade. */
const LONGEST_HEAD_BYTES = 16 * 1024;
const HEAD_END = "\r\n\r\n";
const CODE_REGULAR = Buffer.from([0x03, 0xe8]);

/** Every read is worked on before the next one, so all sockets share this memory. */
const received = Buffer.alloc(64 * 1024);

export interface LineListener {
  /** A frame of the agent's audio has arrived, at this time of `performance.now()`. */
  audio(atMs: number): void;
}

export class Line {
  /** When the stream began, by `performance.now()`. */
  readonly startedMs = performance.now();
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #recorded: Recorded;
  #sent = 0;
  /** The next frame of the speech. */
  #at: number;

  constructor(socket: Socket, recorded: Recorded) {
    this.#socket = socket;
    this.#recorded = recorded;
    this.#at = recorded.speech.length;
    const stopPacing = onPace((nowMs) => this.#pace(nowMs));
    this.closed = new Promise((resolve) => {
      socket.once("close", () => {
        stopPacing();
        resolve();
      });
    });
    for (const message of recorded.greeting) socket.write(message);
  }

  /** Says its speech from the beginning, in real time. It is silent before and after. */
  say(): void {
    this.#at = 0;
  }

  hangUp(): Promise<void> {
    if (this.#socket.writable) this.#socket.write(clientFrame(OPCODE.close, CODE_REGULAR).bytes);
    return this.closed;
  }

  take(opcode: number, payload: Buffer, listener: LineListener): void {
    if (opcode === OPCODE.ping) this.#socket.write(clientFrame(OPCODE.pong, payload).bytes);
    else if (opcode === OPCODE.close) this.#socket.end(clientFrame(OPCODE.close, CODE_REGULAR).bytes);
    else if (this.#recorded.isAudio(opcode, payload.length)) listener.audio(performance.now());
    else {
      const answer = this.#recorded.answer(payload);
      if (answer !== null) this.#socket.write(answer);
    }
  }

  /** Frames are counted against the clock, so that a late timer sends two frames rather than losing one. */
  #pace(nowMs: number): void {
    const { speech, silence } = this.#recorded;
    while (this.startedMs + this.#sent * FRAME_MS <= nowMs) {
      const frame = this.#recorded.numbered(speech[this.#at] ?? silence, this.#sent);
      this.#at += 1;
      this.#sent += 1;
      if (this.#socket.writable) this.#socket.write(frame);
    }
  }
}

/** Joins a call by its `ws:` URL. @throws with the status when the service refuses */
export function openLine(joinUrl: string, recorded: Recorded, listener: LineListener): Promise<Line> {
  const url = new URL(joinUrl);
  const frames = new PeerFrames();
  let head = "";
  let line: Line | null = null;
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => {
      clearTimeout(late);
      socket.destroy();
      reject(new Error(reason));
    };
    const late = setTimeout(() => fail("the upgrade was not answered in time"), OPEN_LIMIT_MS);
    const read = (bytes: Buffer): void => {
      if (line !== null) {
        const opened = line;
        frames.push(bytes, (opcode, payload) => opened.take(opcode, payload, listener));
        return;
      }
      head += bytes.toString("latin1");
      const end = head.indexOf(HEAD_END);
      if (end < 0 && head.length <= LONGEST_HEAD_BYTES) return;
      if (!head.startsWith("HTTP/1.1 101 ")) {
        fail(head.slice(0, 200));
        return;
      }
      clearTimeout(late);
      line = new Line(socket, recorded);
      resolve(line);
      const rest = Buffer.from(head.slice(end + HEAD_END.length), "latin1");
      if (rest.length > 0) read(rest);
    };
    const socket: Socket = connect({
      host: url.hostname,
      port: Number(url.port),
      onread: {
        buffer: received,
        callback: (count) => {
          read(received.subarray(0, count));
          return true;
        },
      },
    });
    socket.setNoDelay(true);
    socket.on("error", (error) => fail(error.message));
    socket.once("connect", () => socket.write(upgradeOf(url)));
  });
}

function upgradeOf({ host, pathname, search }: URL): string {
  const lines = [
    `GET ${pathname}${search} HTTP/1.1`,
    `Host: ${host}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
    "Sec-WebSocket-Version: 13",
  ];
  return lines.join("\r\n") + HEAD_END;
}
