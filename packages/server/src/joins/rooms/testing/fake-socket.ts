/** As much of a websocket as rooms touch. */

import { EventEmitter } from "node:events";
import type { WebSocket } from "ws";

export class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readonly CLOSING = 2;
  readonly bufferedAmount = 0;
  readyState = 1;
  isPaused = false;
  readonly sent: (string | Uint8Array)[] = [];
  /** With which the service has closed it. */
  code: number | null = null;

  asSocket(): WebSocket {
    return this as unknown as WebSocket;
  }

  /** A message of the client. */
  receive(data: string | Uint8Array): void {
    this.emit("message", Buffer.from(data), typeof data !== "string");
  }

  send(data: string | Uint8Array): void {
    this.sent.push(data);
  }

  ping(): void {}

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  close(code: number): void {
    this.code = code;
    this.leave(code);
  }

  terminate(): void {
    this.leave(1006);
  }

  /** The other side closes it. */
  leave(code: number): void {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.emit("close", code);
  }
}
