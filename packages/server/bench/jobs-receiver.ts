/** Receiver of webhooks in a separate thread: counts deliveries, and measures their delay after the event. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort } from "node:worker_threads";

const delays: number[] = [];
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const delivery = JSON.parse(Buffer.concat(chunks).toString()) as { timestamp: string };
    delays.push(Date.now() - Date.parse(delivery.timestamp));
    response.writeHead(204).end();
  });
});
server.listen(0, "127.0.0.1", () => {
  parentPort?.postMessage((server.address() as AddressInfo).port, []);
});
/** Each question is answered with the delays since the last one. */
parentPort?.on("message", () => parentPort?.postMessage(delays.splice(0), []));
