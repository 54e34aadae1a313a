/**
 * The socket through which commands on the same machine reach the embedded database of a running service. It speaks the
 * PostgreSQL protocol and lies in a folder of DATA_DIR that only the user of the service can open. This user could read the
 * files of the database as well.
 */

import { chmod, mkdir, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { EmbeddedEngine } from "./embedded-engine.ts";

/** Not a listening port: PostgreSQL clients derive the name of the socket from it. */
export const ADMIN_SOCKET_PORT = 5432;
/** Two commands at once, each with a pool, and some connections for inspection. */
const MAXIMUM_CONNECTIONS = 40;
/** Limit of a socket's path on macOS; on Linux it is four bytes longer. */
const MAXIMUM_PATH_BYTES = 103;
const OWNER_ONLY = 0o700;

export interface AdminSocket {
  /** Closes all connections. Idempotent. */
  readonly close: () => Promise<void>;
}

/** The path of the socket in `dir`; null when it is too long for a socket. */
export function adminSocketPath(dir: string): string | null {
  const path = join(dir, `.s.PGSQL.${ADMIN_SOCKET_PORT}`);
  return Buffer.byteLength(path) > MAXIMUM_PATH_BYTES ? null : path;
}

/**
 * DATA_DIR must be locked by this process, so an existing socket is stale. Null: the path is too long.
 * @param onError of the open socket, such as no file descriptor for one more connection; it stays open
 */
export async function openAdminSocket(
  dir: string,
  engine: EmbeddedEngine,
  onError: (error: Error) => void,
): Promise<AdminSocket | null> {
  const path = adminSocketPath(dir);
  if (path === null) return null;
  await mkdir(dir, { recursive: true, mode: OWNER_ONLY });
  await chmod(dir, OWNER_ONLY);
  await rm(path, { force: true });
  const connected = new Set<Socket>();
  const server = createServer((socket) => {
    connected.add(socket);
    const connection = engine.connect(true);
    // When one side closes, the other is closed as well.
    socket.on("error", () => connection.destroy());
    socket.on("close", () => {
      connected.delete(socket);
      connection.destroy();
    });
    connection.on("error", () => socket.destroy());
    connection.on("close", () => socket.destroy());
    socket.pipe(connection);
    connection.pipe(socket);
  });
  server.maxConnections = MAXIMUM_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      server.on("error", onError);
      resolve();
    });
  });
  let closed: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    closed ??= new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of connected) socket.destroy();
    });
    return closed;
  };
  return { close };
}
