/**
 * The common part of fakes of vendors that speak over a websocket: an HTTP server on 127.0.0.1 that accepts upgrades,
 * records what it receives and what it refuses, and breaks in the ways that every vendor can.
 */

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { WebSocketServer, type WebSocket } from "ws";

/** How the vendor breaks. Each stays until it is set back to null. */
export type VendorFault =
  /** The upgrade is refused. */
  | { readonly type: "refused"; readonly status: number; readonly body: string }
  /** The upgrade is not answered. */
  | { readonly type: "unanswered" }
  /** Everything is taken, and nothing more is answered on the socket, whatever the fault is later. */
  | { readonly type: "silent" }
  /** Half of the audio, and nothing more. */
  | { readonly type: "stalled" }
  /** Half of the audio, then the connection breaks. */
  | { readonly type: "dropped" }
  /** Half of the audio, then the vendor closes. */
  | { readonly type: "closed"; readonly code: number; readonly reason: string }
  /** Frames of other content in place of audio. */
  | { readonly type: "garbage"; readonly frame: string | Uint8Array }
  /** A pause before each frame. */
  | { readonly type: "slow"; readonly delayMs: number };

export interface FakeSocket {
  /** Counts from 0 in the order of the connections. */
  readonly index: number;
  send(message: object): void;
  sendBinary(bytes: Uint8Array): void;
  close(code: number, reason: string): void;
  /** Records that the client broke a rule of the vendor. */
  refused(problem: string): void;
  /** Sends frames one after the other, in turn with those of other requests, with the fault that is set. */
  deliver(
    frames: readonly (() => void)[],
    isCancelled: () => boolean,
  ): Promise<"sent" | "cancelled" | "broken">;
}

export interface VendorRules {
  /** The refusal of an upgrade, or null. */
  readonly upgrade: (
    request: IncomingMessage,
    url: URL,
  ) => { readonly status: number; readonly body: string } | null;
  /** Called for each connection; the result gets each message of the client, parsed. */
  readonly open: (socket: FakeSocket, url: URL) => (message: unknown) => void;
}

export interface Received {
  readonly socket: number;
  readonly message: unknown;
}

export interface FakeVoiceVendor {
  readonly baseUrl: string;
  readonly port: number;
  /** Upgrades that were asked for, refused ones as well. */
  readonly upgrades: readonly URL[];
  /** Rules of the vendor that the client broke. */
  readonly problems: readonly string[];
  readonly received: readonly Received[];
  /** Sockets that are open now. */
  readonly openSockets: number;
  /** Most at once so far. */
  readonly mostSockets: number;
  fault: VendorFault | null;
  /** The vendor's idle limit has passed: it closes all sockets. */
  expire(): void;
  /** Resolves when a message has been received for which it is true. */
  got(holds: (message: unknown) => boolean): Promise<void>;
  close(): Promise<void>;
}

/** Longest message that a vendor takes. */
const MAX_MESSAGE_BYTES = 65_536;

/** Resolves when it listens. */
export async function openFakeVoiceVendor(rules: VendorRules): Promise<FakeVoiceVendor> {
  const vendor = new VendorServer(rules);
  await vendor.listen();
  return vendor;
}

class VendorServer implements FakeVoiceVendor {
  readonly upgrades: URL[] = [];
  readonly problems: string[] = [];
  readonly received: Received[] = [];
  mostSockets = 0;
  fault: VendorFault | null = null;
  readonly #rules: VendorRules;
  readonly #open = new Set<WebSocket>();
  readonly #unanswered = new Set<Duplex>();
  readonly #http = createServer((_request, response) => response.writeHead(404).end());
  readonly #accepting = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
  #count = 0;
  #waiters: { readonly holds: (message: unknown) => boolean; readonly resolve: () => void }[] = [];

  constructor(rules: VendorRules) {
    this.#rules = rules;
    this.#http.on("upgrade", (request, socket, head) => {
      this.#upgrade(request, socket, head);
    });
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#http.once("error", reject);
      this.#http.listen(0, "127.0.0.1", resolve);
    });
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${String(this.port)}`;
  }

  get openSockets(): number {
    return this.#open.size;
  }

  expire(): void {
    for (const ws of this.#open) ws.close(1000, "idle");
  }

  got(holds: (message: unknown) => boolean): Promise<void> {
    if (this.received.some(({ message }) => holds(message))) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ holds, resolve }));
  }

  async close(): Promise<void> {
    for (const socket of this.#unanswered) socket.destroy();
    for (const ws of this.#open) ws.terminate();
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  #note(received: Received): void {
    this.received.push(received);
    const met = this.#waiters.filter(({ holds }) => holds(received.message));
    this.#waiters = this.#waiters.filter((waiter) => !met.includes(waiter));
    for (const { resolve } of met) resolve();
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    this.upgrades.push(url);
    // A client may leave while its upgrade is not answered.
    socket.on("error", () => undefined);
    if (this.fault?.type === "unanswered") {
      this.#unanswered.add(socket);
      return;
    }
    const refusal = this.fault?.type === "refused" ? this.fault : this.#rules.upgrade(request, url);
    if (refusal !== null) {
      const length = String(Buffer.byteLength(refusal.body));
      const head = `HTTP/1.1 ${String(refusal.status)} Refused\r\ncontent-length: ${length}\r\nconnection: close`;
      socket.end(`${head}\r\n\r\n${refusal.body}`);
      return;
    }
    this.#accepting.handleUpgrade(request, socket, head, (ws) => {
      this.#open.add(ws);
      this.mostSockets = Math.max(this.mostSockets, this.#open.size);
      this.#serve(ws, url);
    });
  }

  #serve(ws: WebSocket, url: URL): void {
    const index = this.#count++;
    const fake = openFakeSocket(ws, index, this);
    const take = this.#rules.open(fake, url);
    ws.on("error", () => undefined);
    ws.on("close", () => {
      this.#open.delete(ws);
    });
    let isSilent = false;
    ws.on("message", (data: Buffer, isBinary) => {
      isSilent ||= this.fault?.type === "silent";
      const message = isBinary ? null : parsed(data.toString("utf8"));
      this.#note({ socket: index, message });
      if (message === null) {
        fake.refused("a message is not a JSON object");
        ws.close(1003, "not JSON");
      } else if (!isSilent) take(message);
    });
  }
}

function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

function openFakeSocket(ws: WebSocket, index: number, vendor: VendorServer): FakeSocket {
  const isOpen = (): boolean => ws.readyState === ws.OPEN;
  return {
    index,
    send: (message) => {
      if (isOpen()) ws.send(JSON.stringify(message));
    },
    sendBinary: (bytes) => {
      if (isOpen()) ws.send(bytes);
    },
    close: (code, reason) => {
      ws.close(code, reason);
    },
    refused: (problem) => vendor.problems.push(problem),
    deliver: (frames, isCancelled) => deliver(ws, vendor.fault, frames, isCancelled),
  };
}

async function deliver(
  ws: WebSocket,
  fault: VendorFault | null,
  frames: readonly (() => void)[],
  isCancelled: () => boolean,
): Promise<"sent" | "cancelled" | "broken"> {
  const breaksAt = fault === null || fault.type === "slow" ? Infinity : Math.ceil(frames.length / 2);
  for (const [at, frame] of frames.entries()) {
    if (fault?.type === "slow") await pause(fault.delayMs);
    else await nextTurn();
    if (ws.readyState !== ws.OPEN) return "broken";
    if (isCancelled()) return "cancelled";
    if (fault?.type === "garbage") ws.send(fault.frame);
    else if (at < breaksAt) frame();
  }
  if (fault === null || fault.type === "slow") return "sent";
  if (fault.type === "dropped") ws.terminate();
  if (fault.type === "closed") ws.close(fault.code, fault.reason);
  return "broken";
}
