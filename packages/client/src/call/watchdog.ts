/** Notices a websocket whose other side is gone: browsers do so after minutes only. */

/** How often the other side is asked, where nothing comes from it. */
const ASK_MS = 2_500;
/** Silence that counts as a loss. The service waits ten seconds for a return, so there is time for one. */
const SILENCE_LIMIT_MS = 7_500;

export interface WatchdogOptions {
  readonly send: (text: string) => boolean;
  readonly silent: () => void;
}

export class Watchdog {
  readonly #options: WatchdogOptions;
  readonly #asked = new Set<number>();
  #timer: ReturnType<typeof setInterval> | undefined;
  /** When the first question was put that nothing has come after; null: there is none. Timers of hidden pages are late. */
  #waitsSinceMs: number | null = null;
  /** A call may have its pongs turned off: silence tells something only where one has come. */
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

  /** Whether a message was the answer to a question of the watchdog's own. */
  read(text: string): boolean {
    this.heard();
    if (!text.startsWith('{"type":"pong"')) return false;
    const [, timestamp = ""] = /"timestamp":([\d.e+-]+)/.exec(text) ?? [];
    const isOwn = this.#asked.delete(Number(timestamp));
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
    this.#asked.add(timestamp);
    // Where pongs are turned off, questions must not pile up.
    for (const oldest of this.#asked) {
      if (this.#asked.size <= 8) break;
      this.#asked.delete(oldest);
    }
    this.#options.send(JSON.stringify({ type: "ping", timestamp }));
  }
}
