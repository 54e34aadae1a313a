/** Receiver of batches' webhooks in a separate thread, which detects scheduled calls that were made twice. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort } from "node:worker_threads";

export interface ReceiverTotals {
  /** Scheduled calls reported to it. */
  readonly calls: number;
  /** Those of them that were made more than once. */
  readonly twice: number;
}

let callIds = new Map<string, string>();
let twice = new Set<string>();
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { call } = JSON.parse(Buffer.concat(chunks).toString()) as {
      call: { readonly callId: string; readonly metadata: { readonly number: string } };
    };
    const { number } = call.metadata;
    if ((callIds.get(number) ?? call.callId) !== call.callId) twice.add(number);
    callIds.set(number, call.callId);
    response.writeHead(204).end();
  });
});
server.listen(0, "127.0.0.1", () => {
  parentPort?.postMessage((server.address() as AddressInfo).port, []);
});
/** Each question is answered with the reports since the last one. */
parentPort?.on("message", () => {
  const received: ReceiverTotals = { calls: callIds.size, twice: twice.size };
  callIds = new Map();
  twice = new Set();
  parentPort?.postMessage(received, []);
});
