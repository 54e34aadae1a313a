/** Shutdown of the HTTP server. */

import type { Server } from "node:http";
import type { JoinSockets } from "./joins/join-sockets.ts";

/** Running requests get this long at shutdown before their connections are cut. */
const CLOSE_LIMIT_MS = 5000;

interface Closing {
  readonly server: Server;
  readonly close: () => PromiseLike<unknown>;
}

/** Stops listening first, so that a client that retries reaches another process. */
export async function closeHttpServer(app: Closing, joins: Pick<JoinSockets, "close">): Promise<void> {
  const closed = app.close();
  await joins.close();
  const cut = setTimeout(() => app.server.closeAllConnections(), CLOSE_LIMIT_MS);
  try {
    await closed;
  } finally {
    clearTimeout(cut);
  }
}
