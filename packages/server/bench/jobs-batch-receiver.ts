/** A receiver of batches' webhooks in a thread of its own, which notices scheduled calls of which two calls were made. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort } from "node:worker_threads";

export interface Told {
  /** Scheduled calls that it was told of. */
  readonly calls: number;
  /** Of these, the ones of which more than one call was made. */
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
/** Each question is answered with what was told since the last one. */
parentPort?.on("message", () => {
  const told: Told = { calls: callIds.size, twice: twice.size };
  callIds = new Map();
  twice = new Set();
  parentPort?.postMessage(told, []);
});
