/** Detects a dead websocket, which browsers notice only after minutes. */

/** Interval of pings while nothing is received. */
const ASK_MS = 2_500;
/** Silence that counts as a lost connection. The service waits ten seconds, so there is time to reconnect. */
const SILENCE_LIMIT_MS = 7_500;

export interface WatchdogOptions {
  readonly send: (text: string) => boolean;
  readonly silent: () => void;
}

export class Watchdog {
  readonly #options: WatchdogOptions;
  readonly #requested = new Set<number>();
  #timer: ReturnType<typeof setInterval> | undefined;
  /** Time of the first unanswered ping; null without one. Timers of hidden pages are late. */
  #waitsSinceMs: number | null = null;
  /** A call can have pongs turned off, so silence only counts after a first pong. */
  #answers = false;

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), ASK_MS);
    this.#ask();
  }

  heard(): void {
    this.#waitsSinceMs = null;
  }

  /** Whether a message was the pong to a ping of the watchdog. */
  read(text: string): boolean {
    this.heard();
    if (!text.startsWith('{"type":"pong"')) return false;
    const [, timestamp = ""] = /"timestamp":([\d.e+-]+)/.exec(text) ?? [];
    const isOwn = this.#requested.delete(Number(timestamp));
    this.#answers ||= isOwn;
    return isOwn;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const silenceMs = this.#waitsSinceMs === null ? 0 : performance.now() - this.#waitsSinceMs;
    if (!this.#answers || silenceMs < SILENCE_LIMIT_MS) this.#ask();
    else {
      this.stop();
      this.#options.silent();
    }
  }

  #ask(): void {
    const timestamp = performance.now();
    this.#waitsSinceMs ??= timestamp;
    this.#requested.add(timestamp);
    // With pongs turned off, pings must not accumulate.
    for (const oldest of this.#requested) {
      if (this.#requested.size <= 8) break;
      this.#requested.delete(oldest);
    }
    this.#options.send(JSON.stringify({ type: "ping", timestamp }));
  }
}
