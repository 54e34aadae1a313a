/**
 * Connections to what users name. A name is resolved here, once for each connection; every address it has must be
 * allowed, and the socket is opened to those very addresses, so that a second answer of the resolver changes nothing.
 */

import { connect as connectPlain, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectSecure } from "node:tls";
import { addressAllowed, portAllowed, type AllowedTargets } from "./address-filter.ts";
import { resolveName } from "./resolve-name.ts";
import { ADDRESS_NOT_ALLOWED, hostAllowed, TargetRefused, type Target } from "./target-url.ts";
import { errorOf } from "../pacing/error-text.ts";

export type Resolve = (host: string) => Promise<readonly string[]>;
/** Opens a socket to the first of the addresses that answers, and resolves when it is ready for use. */
export type Connect = (target: Target, addresses: readonly string[], signal: AbortSignal) => Promise<Socket>;

export interface GuardOptions {
  readonly allowed: AllowedTargets;
  /** The machine's resolver unless given. */
  readonly resolve?: Resolve;
  readonly connect?: Connect;
}

export type GuardedDial = (target: Target, signal?: AbortSignal) => Promise<Socket>;

/** Resolving, connecting and TLS together; nobody who is there takes longer. */
const CONNECT_LIMIT_MS = 10_000;

/** Resolves with a connected socket to an allowed address. @throws TargetRefused, or why there is no connection */
export function openGuardedDial(options: GuardOptions): GuardedDial {
  const { allowed, resolve = resolveName, connect = openSocket } = options;
  const dial = async (target: Target, signal: AbortSignal): Promise<Socket> => {
    if (!portAllowed(target.port) || !hostAllowed(target.host, allowed))
      throw new TargetRefused(ADDRESS_NOT_ALLOWED);
    const addresses = isIP(target.host) === 0 ? await orAborted(resolve(target.host), signal) : [target.host];
    if (addresses.length === 0) throw new Error("the name has no address");
    if (!addresses.every((address) => addressAllowed(address, allowed)))
      throw new TargetRefused(ADDRESS_NOT_ALLOWED);
    const socket = await connect(target, addresses, signal);
    const { remoteAddress } = socket;
    // The last fence: whatever happened on the way, nothing is sent to an address that was not allowed.
    if (remoteAddress === undefined || !addressAllowed(remoteAddress, allowed)) {
      socket.destroy();
      throw remoteAddress === undefined
        ? new Error("the connection was lost at once")
        : new TargetRefused(ADDRESS_NOT_ALLOWED);
    }
    return socket;
  };
  return async (target, outer) => {
    const limit = new AbortController();
    const timer = setTimeout(() => {
      limit.abort(new Error("connecting took too long"));
    }, CONNECT_LIMIT_MS);
    try {
      return await dial(target, outer === undefined ? limit.signal : AbortSignal.any([outer, limit.signal]));
    } finally {
      clearTimeout(timer);
    }
  };
}

/** As `createConnection` of `node:http` and so of a websocket client; the socket comes by the callback. */
export type CreateConnection = (
  options: object,
  created: (error: Error | null, socket: Socket) => void,
) => undefined;

/**
 * For a websocket to a URL that passed `checkedUrl(url, allowed, "websocket")`; the client must not follow redirects,
 * because the connection goes to this target alone.
 */
export function connectionTo(dial: GuardedDial, target: Target, signal?: AbortSignal): CreateConnection {
  return (_options, created) => {
    const failed = created as (error: Error) => void;
    dial(target, signal).then(
      (socket) => {
        created(null, socket);
      },
      (error: unknown) => {
        failed(errorOf(error));
      },
    );
    return undefined;
  };
}

function openSocket(target: Target, addresses: readonly string[], signal: AbortSignal): Promise<Socket> {
  const { host, port, secure } = target;
  const fixed: LookupFunction = (_host, options, found) => {
    const all = addresses.map((address) => ({ address, family: isIP(address) }));
    const [first] = all;
    if (options.all === true) found(null, all);
    else if (first !== undefined) found(null, first.address, first.family);
  };
  const place = { host, port, lookup: fixed, autoSelectFamily: true };
  // A certificate is checked against the name; an address has no name to ask for (SNI).
  const named = isIP(host) === 0 ? { servername: host } : {};
  const socket = secure
    ? connectSecure({ ...place, ...named, ALPNProtocols: ["http/1.1"] })
    : connectPlain(place);
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      socket.destroy();
      reject(errorOf(signal.reason));
    };
    const failed = (error: Error): void => {
      signal.removeEventListener("abort", abort);
      reject(error);
    };
    socket.once("error", failed);
    socket.once(secure ? "secureConnect" : "connect", () => {
      signal.removeEventListener("abort", abort);
      socket.removeListener("error", failed);
      socket.setNoDelay(true);
      resolve(socket);
    });
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}

/** The result, or the abort if that is first: resolving itself cannot be stopped. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(errorOf(signal.reason));
    };
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener("abort", abort);
    });
  });
}
