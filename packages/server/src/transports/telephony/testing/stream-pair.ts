/** A fake carrier and the stream that the service makes of its websocket, over 127.0.0.1. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { CarrierKind } from "@parley/schema";
import { WebSocketServer, type WebSocket } from "ws";
import { awaitCarrierStream, type CarrierOpening } from "../carrier-stream.ts";
import { carrierCodecs } from "../codecs.ts";
import { FakeCarrier, type FakeCarrierOptions } from "./fake-carrier.ts";

export interface StreamPair {
  readonly carrier: FakeCarrier;
  /** Of the service's side. */
  readonly socket: WebSocket;
  readonly opening: Promise<CarrierOpening>;
  readonly dispose: () => Promise<void>;
}

/** The carrier has not begun its stream yet. */
export async function openStreamPair(
  kind: CarrierKind,
  options: Partial<FakeCarrierOptions> = {},
  startLimitMs?: number,
): Promise<StreamPair> {
  const http = createServer();
  const server = new WebSocketServer({ server: http, maxPayload: 1024 * 1024, perMessageDeflate: false });
  await new Promise<void>((resolve) => {
    http.listen(0, "127.0.0.1", resolve);
  });
  const accepted = new Promise<WebSocket>((resolve) => {
    server.once("connection", resolve);
  });
  const { port } = http.address() as AddressInfo;
  const carrier = new FakeCarrier({ ...options, kind, url: `ws://127.0.0.1:${String(port)}` });
  const socket = await accepted;
  socket.pause();
  return {
    carrier,
    socket,
    opening: awaitCarrierStream(socket, carrierCodecs()[kind], startLimitMs),
    dispose: async () => {
      carrier.rest();
      carrier.socket.terminate();
      socket.terminate();
      await new Promise<void>((resolve) => {
        http.close(() => {
          resolve();
        });
      });
    },
  };
}
