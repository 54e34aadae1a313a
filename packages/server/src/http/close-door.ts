/** The end of the door. */

import type { Server } from "node:http";
import type { JoinSockets } from "./join-sockets.ts";

/** Requests under way when closing get this long before their connections are cut. */
const CLOSE_LIMIT_MS = 5000;

interface Closing {
  readonly server: Server;
  readonly close: () => PromiseLike<unknown>;
}

/** Stops listening first, so that whoever is told to come back finds another process. */
export async function closeDoor(app: Closing, joins: Pick<JoinSockets, "close">): Promise<void> {
  const closed = app.close();
  await joins.close();
  const cut = setTimeout(() => app.server.closeAllConnections(), CLOSE_LIMIT_MS);
  try {
    await closed;
  } finally {
    clearTimeout(cut);
  }
}
