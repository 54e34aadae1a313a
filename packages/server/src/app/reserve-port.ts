/** Takes the address of HOST and PORT before anything is stored, so that a port in use changes nothing. */

import { createServer } from "node:net";
import { ConfigError } from "../config/config-error.ts";
import { messageOf } from "../pacing/error-text.ts";

export interface ListenAddress {
  readonly host: string;
  /** 0: a free one, which needs no reservation. */
  readonly port: number;
}

const HIGHEST_PORT = 65_535;

/**
 * @returns a function that gives the address up again, for the server that listens there. Idempotent.
 * @throws ConfigError with a sentence that says what to do.
 */
export async function reservePort(address: ListenAddress): Promise<() => Promise<void>> {
  // Clients that come meanwhile see a service that is not there yet.
  const server = createServer((socket) => socket.destroy());
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen({ ...address, exclusive: true }, resolve);
  await promise.catch((error: unknown) => {
    throw listenError(error, address);
  });
  let released: Promise<void> | null = null;
  return () => (released ??= new Promise((done) => server.close(() => done())));
}

/** A sentence for the errors that HOST and PORT can cause; every other error as it is. */
export function listenError(error: unknown, { host, port }: ListenAddress): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE") {
    const other = port < HIGHEST_PORT ? port + 1 : port - 1;
    const advice = `Choose another port: PORT=${String(other)} npm start`;
    return new ConfigError(`Another program listens on port ${String(port)} of ${host}. ${advice}`, {
      cause: error,
    });
  }
  if (code === "EACCES") {
    const reason = `PORT (${String(port)}) may not be used by this user. Choose one from 1024 on: PORT=8080 npm start`;
    return new ConfigError(reason, { cause: error });
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN" || code === "EINVAL") {
    const advice = "Use 127.0.0.1 for this machine only, or 0.0.0.0 for all of its addresses.";
    return new ConfigError(
      `HOST (${host}) is not an address of this machine (${messageOf(error)}). ${advice}`,
      { cause: error },
    );
  }
  return error;
}
