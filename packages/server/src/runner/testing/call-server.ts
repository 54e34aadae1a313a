/** Live calls behind real websockets on 127.0.0.1, without the HTTP server, for tests and benchmarks. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import nodeProcess from "node:process";
import { WebSocketServer, type WebSocket } from "ws";
import type { CallPlan } from "../../plan/plan.ts";
import { initResampler } from "../../media/resample.ts";
import type { OpenDataConnection } from "../../ports/data-connection.ts";
import { openFakeDataConnections } from "../../ports/testing/fake-data-connection.ts";
import type { Recordings } from "../../ports/recordings.ts";
import { openFakeVoices } from "../../ports/testing/fake-voices.ts";
import { openFakeToolInvoker } from "../../ports/testing/fake-tool-invoker.ts";
import type { ToolInvoker } from "../../ports/tool-invoker.ts";
import { openWebSocketTransport } from "../../transports/websocket/websocket-transport.ts";
import type { CallEngines, CallLogger } from "../call-deps.ts";
import { openClock } from "../../pacing/clock.ts";
import { openLiveCalls, type LiveCalls, type StartOutcome } from "../live-calls.ts";
import { CallClient } from "./call-client.ts";
import { openFakeEngines } from "./fakes.ts";
import { noStages } from "./no-stages.ts";
import { openMemoryJournal } from "./memory-journal.ts";
import { openMemoryRecordings, type MemoryRecordings } from "./memory-recordings.ts";
import { openMemoryRecords, type MemoryRecords } from "./memory-records.ts";

export interface CallServerOptions {
  readonly engines?: CallEngines;
  readonly maxLiveCalls?: number;
  readonly recordings?: Recordings;
  readonly openDataConnection?: OpenDataConnection;
  readonly toolInvoker?: ToolInvoker;
}

export interface CallServer {
  readonly calls: LiveCalls;
  readonly records: MemoryRecords;
  readonly recordings: MemoryRecordings;
  /** What was logged, without fields. */
  readonly logged: string[];
  start(plan: CallPlan): StartOutcome;
  connect(callId: string, sampleRateHz?: number): CallClient;
  /** Sockets that are open on this side. */
  sockets(): number;
  /** Ends every call and stops. */
  close(): Promise<void>;
}

/** The same value as in the HTTP server. */
const MAX_FRAME_BYTES = 1024 * 1024;

export async function openCallServer(options: CallServerOptions = {}): Promise<CallServer> {
  await initResampler(nodeProcess);
  const records = openMemoryRecords();
  const recordings = openMemoryRecordings();
  const logged: string[] = [];
  const log: CallLogger["warn"] = (_fields, message) => {
    logged.push(message);
  };
  const calls = openLiveCalls({
    engines: options.engines ?? openFakeEngines(),
    voices: openFakeVoices(),
    records,
    journal: openMemoryJournal(),
    recordings: options.recordings ?? recordings,
    storeEventLogs: true,
    openDataConnection: options.openDataConnection ?? openFakeDataConnections().open,
    toolInvoker: options.toolInvoker ?? openFakeToolInvoker(),
    checkArguments: async () => null,
    prepareStage: noStages,
    clock: openClock(),
    traces: null,
    logger: { info: () => undefined, warn: log, error: log },
    maxLiveCalls: options.maxLiveCalls ?? 1_000,
  });
  const http = createServer();
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
  });
  http.on("upgrade", (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      void join(calls, (request.url ?? "/").slice(1), webSocket);
    });
  });
  await new Promise<void>((resolve) => {
    http.listen(0, "127.0.0.1", resolve);
  });
  const { port } = http.address() as AddressInfo;
  return {
    calls,
    records,
    recordings,
    logged,
    start: (plan) => calls.startCall(plan, { createdAt: new Date() }),
    connect: (callId, sampleRateHz) =>
      new CallClient(`ws://127.0.0.1:${String(port)}/${callId}`, sampleRateHz),
    sockets: () => sockets.clients.size,
    close: async () => {
      await calls.drain(0);
      for (const socket of sockets.clients) socket.terminate();
      await new Promise<void>((resolve) => {
        http.close(() => {
          resolve();
        });
      });
    },
  };
}

async function join(calls: LiveCalls, target: string, socket: WebSocket): Promise<void> {
  const [callId = "", query = ""] = target.split("?");
  socket.pause();
  const outcome = await calls.connectCall(
    callId,
    (medium, listener) => openWebSocketTransport(socket, medium, listener),
    { clientVersion: "test", experimentalMessages: query === "debug" ? ["debug"] : [] },
  );
  socket.resume();
  if (outcome === "joined") socket.close(4409, "joined");
  if (outcome === "gone") socket.close(4410, "gone");
}
