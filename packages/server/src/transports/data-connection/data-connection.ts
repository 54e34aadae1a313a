/**
 * A call's data connection over a websocket (D125): three attempts to open it, up to five more after losses, and a
 * close within a bounded time. Where it may go is the dialler's business; redirects are never followed.
 */

import type { ServerDataMessage, HeaderPrefix } from "@parley/schema";
import type {
  DataConnection,
  DataConnectionListener,
  DataConnectionRequest,
  OpenDataConnection,
} from "../../ports/data-connection.ts";
import { dial, type CreateConnection, type Link } from "./link.ts";
import { upgradeHeaders } from "./signature.ts";
import { errorOf } from "../../pacing/error-text.ts";

export interface DataConnectionOptions {
  /** Checks the URL and the addresses it leads to. Throws, or hands the callback an error, where it may not go. */
  readonly connectionTo: (url: string, signal: AbortSignal) => CreateConnection;
  /** The signature of the upgrade request is sent under each of them. */
  readonly prefixes: readonly HeaderPrefix[];
  /** ms since 1970. */
  readonly wallMs: () => number;
  /** Calls `fire` once, after `delayMs`; the returned function cancels it. */
  readonly after: (delayMs: number, fire: () => void) => () => void;
}

/** Attempts to open it first, and waits between them. */
const FIRST_WAITS_MS = [1_000, 2_000] as const;
/** Attempts after losses, in the whole call. */
const RECONNECTS = 5;
/** Wait before the first of them; each next one waits twice as long. */
const RECONNECT_WAIT_MS = 1_000;
/** Wait for the other side's close frame at the end of a call. */
const CLOSE_WAIT_MS = 1_000;
/** Of what the network or the other side says, as it goes into a call event. */
const DETAIL_MAX_CHARS = 200;
const CODE_REGULAR = 1000;

export function openDataConnections(options: DataConnectionOptions): OpenDataConnection {
  return (request, listener) => new WebSocketDataConnection(options, request, listener);
}

class WebSocketDataConnection implements DataConnection {
  readonly #options: DataConnectionOptions;
  readonly #request: DataConnectionRequest;
  readonly #listener: DataConnectionListener;
  readonly #abort = new AbortController();
  #link: Link | null = null;
  #open = false;
  #wasOpen = false;
  #failures = 0;
  #reconnects = 0;
  #cancelWait: (() => void) | null = null;
  #isAudioReported = false;
  #congested = false;
  #closing: Promise<void> | null = null;
  #settleClose: (() => void) | null = null;

  constructor(
    options: DataConnectionOptions,
    request: DataConnectionRequest,
    listener: DataConnectionListener,
  ) {
    this.#options = options;
    this.#request = request;
    this.#listener = listener;
    this.#dialAfter(0);
  }

  sendAudio(frame: Int16Array): boolean {
    if (!this.#open || this.#link === null || this.#closing !== null) return false;
    const sent = this.#link.sendAudio(frame);
    if (!sent && !this.#congested) this.#listener.problem("data_connection_congested");
    this.#congested = !sent;
    return sent;
  }

  send(message: ServerDataMessage): void {
    if (this.#open && this.#closing === null) this.#link?.sendText(JSON.stringify(message));
  }

  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#cancelWait?.();
      this.#cancelWait = null;
      const link = this.#link;
      if (link === null) {
        resolve();
        return;
      }
      const cancel = this.#options.after(CLOSE_WAIT_MS, () => {
        link.cut();
        resolve();
      });
      this.#settleClose = () => {
        cancel();
        resolve();
      };
      if (this.#open) link.close(CODE_REGULAR);
      else {
        this.#abort.abort();
        link.cut();
      }
    });
    return this.#closing;
  }

  #dialAfter(delayMs: number): void {
    this.#cancelWait = this.#options.after(delayMs, () => {
      this.#cancelWait = null;
      this.#dial();
    });
  }

  #dial(): void {
    const { connectionTo, prefixes, wallMs, after } = this.#options;
    const { websocketUrl, callId, headers, sharedSecrets } = this.#request;
    try {
      this.#link = dial({
        url: websocketUrl,
        headers: upgradeHeaders({ callId, headers, sharedSecrets, nowMs: wallMs(), prefixes }),
        createConnection: connectionTo(websocketUrl, this.#abort.signal),
        after,
        opened: this.#onOpened,
        text: (text, tooLong) => {
          if (this.#closing === null) this.#listener.data(text, tooLong);
        },
        binary: this.#onBinary,
        closed: this.#onClosed,
      });
    } catch (error) {
      this.#onClosed(errorOf(error));
    }
  }

  readonly #onOpened = (): void => {
    if (this.#closing !== null) return;
    this.#open = true;
    this.#wasOpen = true;
    this.#congested = false;
    this.#listener.opened();
  };

  readonly #onBinary = (): void => {
    if (this.#isAudioReported || this.#closing !== null) return;
    this.#isAudioReported = true;
    this.#listener.problem("data_connection_audio_ignored");
  };

  readonly #onClosed = (cause: Error): void => {
    const wasOpen = this.#open;
    this.#link = null;
    this.#open = false;
    this.#settleClose?.();
    if (this.#closing !== null) return;
    const detail = cause.message.slice(0, DETAIL_MAX_CHARS);
    if (!wasOpen) this.#failures += 1;
    // Where we may not go we may not go a second later either.
    const waitMs = cause.name === "TargetRefused" ? null : this.#nextWaitMs();
    if (wasOpen) this.#listener.lost(detail, waitMs !== null);
    if (waitMs === null) this.#listener.failed(this.#wasOpen ? `no more attempts: ${detail}` : detail);
    else this.#dialAfter(waitMs);
  };

  /** Null: no attempt is left. */
  #nextWaitMs(): number | null {
    if (!this.#wasOpen) return FIRST_WAITS_MS[this.#failures - 1] ?? null;
    if (this.#reconnects >= RECONNECTS) return null;
    const waitMs = RECONNECT_WAIT_MS * 2 ** this.#reconnects;
    this.#reconnects += 1;
    return waitMs;
  }
}
