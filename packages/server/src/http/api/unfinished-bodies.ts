/** Ends connections whose request was answered before its body had come. */

import type { IncomingMessage } from "node:http";
import { announcesBody } from "./headers.ts";

/** Time for the rest of a body on its way, after which the connection could serve another request. */
const REST_LIMIT_MS = 2_000;

/**
 * To be called when a request was answered. Without it a client that never finishes its body, of a request that was
 * refused, keeps its connection for minutes.
 */
export function closeIfUnfinished(request: IncomingMessage): void {
  if (request.complete || request.destroyed || !announcesBody(request.headers)) return;
  const cut = setTimeout(() => {
    // The connection with it.
    if (!request.complete) request.destroy();
  }, REST_LIMIT_MS);
  // The connection itself keeps the process alive while it may.
  cut.unref();
  request.once("close", () => clearTimeout(cut));
}
