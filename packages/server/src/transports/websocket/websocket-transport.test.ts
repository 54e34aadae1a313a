/** What takes a quarter of a minute on a real connection: keepalive, on timers that a test moves. */

import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { WebSocket } from "ws";
import { TransportRecord } from "../../ports/testing/transport-conformance.ts";
import { openWebSocketTransport } from "./websocket-transport.ts";

/** As much of a socket as the transport touches. */
class StillSocket extends EventEmitter {
  readonly OPEN = 1;
  readonly CLOSING = 2;
  readyState = 1;
  bufferedAmount = 0;
  isPaused = false;
  pings = 0;
  terminated = 0;
  closedWith: [number, string] | null = null;

  ping(): void {
    this.pings += 1;
  }

  send(): void {}

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  close(code: number, reason: string): void {
    this.closedWith = [code, reason];
  }

  terminate(): void {
    this.terminated += 1;
    this.readyState = 3;
    this.emit("close", 1006);
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function open() {
  const socket = new StillSocket();
  const record = new TransportRecord();
  const transport = openWebSocketTransport(
    socket as unknown as WebSocket,
    { inputSampleRateHz: 16_000, outputSampleRateHz: 16_000, clientBufferSizeMs: 60 },
    record,
  );
  return { socket, record, transport };
}

test("a quiet connection is pinged and lives as long as it answers", () => {
  const { socket, record } = open();
  for (let i = 0; i < 20; i += 1) {
    vi.advanceTimersByTime(15_000);
    socket.emit("pong");
  }
  expect(socket.pings).toBe(20);
  expect(record.closings).toEqual([]);
});

test("a connection without any sign for two pings is lost, and its timers are gone", () => {
  const { socket, record } = open();
  vi.advanceTimersByTime(14_000);
  socket.emit("message", Buffer.from("{}"), false);
  vi.advanceTimersByTime(31_000);
  expect(record.closings).toEqual([{ regular: false, code: 1006 }]);
  expect(socket.terminated).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
});

test("a side that does not answer the close is cut off", () => {
  const { socket, record, transport } = open();
  transport.close(1000, "ü".repeat(100));
  expect(socket.closedWith).toEqual([1000, "ü".repeat(61)]);
  vi.advanceTimersByTime(1_900);
  expect(socket.terminated).toBe(0);
  vi.advanceTimersByTime(200);
  expect(record.closings.length).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
});

test("an error is followed by the close, and is not thrown", () => {
  const { socket, record } = open();
  socket.emit("error", new Error("reset"));
  socket.emit("close", 1006);
  socket.emit("error", new Error("late"));
  expect(record.closings).toEqual([{ regular: false, code: 1006 }]);
});

test("a socket that is closed already is reported as lost", () => {
  const { record } = (() => {
    const socket = new StillSocket();
    socket.readyState = 3;
    const record = new TransportRecord();
    openWebSocketTransport(
      socket as unknown as WebSocket,
      { inputSampleRateHz: 16_000, outputSampleRateHz: 16_000, clientBufferSizeMs: 60 },
      record,
    );
    return { record };
  })();
  expect(record.closings).toEqual([]);
  vi.runAllTimers();
  expect(record.closings).toEqual([{ regular: false, code: 1006 }]);
});
