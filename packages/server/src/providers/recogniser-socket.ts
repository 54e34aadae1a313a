/** A websocket to a streaming recogniser, whose opening can be waited for or given up. */

import { errorOf } from "../pacing/error-text.ts";
import { EngineFailure } from "../ports/engine-failure.ts";
import { dialSocket, type DialOptions, type VendorSocket } from "./sockets/dial-socket.ts";

/** Audio that may wait in the socket, in bytes: a minute at 24 kHz in base64. A server that reads less is stuck. */
export const UNSENT_MAX_BYTES = 4_000_000;
/** The longest message of a recogniser: the words of some seconds with their times have some KB. */
const MESSAGE_MAX_BYTES = 1_000_000;
/** The caller's words wait for this connection, so a server that is slower than this counts as unreachable. */
const HANDSHAKE_MS = 5_000;

export interface SocketListener {
  opened(): void;
  text(text: string): void;
  /** Also when it could not be opened. No other call follows. */
  closed(error: Error): void;
}

export interface RecogniserSocket {
  /** A failure is told by `closed`. Ignored before `opened` and after `close`. */
  send(message: string | Uint8Array): void;
  /** Shows a vendor that this side is there. Ignored before `opened` and after `close`. */
  ping(): void;
  /** No listener call follows. Idempotent. */
  close(): void;
}

export type SocketRequest = Pick<DialOptions, "vendor" | "url" | "headers" | "secrets">;

/** Calls no listener before it has returned. */
export function openRecogniserSocket(request: SocketRequest, listener: SocketListener): RecogniserSocket {
  const dialling = new AbortController();
  let socket: VendorSocket | null = null;
  let isOver = false;
  const over = (error: Error): void => {
    if (isOver) return;
    isOver = true;
    socket?.close();
    listener.closed(error);
  };
  const options: DialOptions = {
    ...request,
    handshakeLimitMs: HANDSHAKE_MS,
    maxMessageBytes: MESSAGE_MAX_BYTES,
    maxUnsentBytes: UNSENT_MAX_BYTES,
  };
  dialSocket(
    options,
    (opened) => {
      socket = opened;
      return {
        text: (text) => {
          if (!isOver) listener.text(text);
        },
        binary: () => {
          over(
            new EngineFailure(`${request.vendor} sent binary data, which has no meaning here`, {
              type: "invalid_answer",
            }),
          );
        },
        closed: over,
      };
    },
    dialling.signal,
  ).then(
    () => {
      if (!isOver) listener.opened();
    },
    (error: unknown) => {
      over(errorOf(error));
    },
  );
  return {
    send: (message) => {
      if (isOver || socket === null) return;
      try {
        socket.send(message);
      } catch (error) {
        const failure = errorOf(error);
        // The listener is not called from within the caller's own call.
        queueMicrotask(() => {
          over(failure);
        });
      }
    },
    ping: () => {
      if (!isOver) socket?.ping();
    },
    close: () => {
      if (isOver) return;
      isOver = true;
      dialling.abort();
      socket?.close();
    },
  };
}
