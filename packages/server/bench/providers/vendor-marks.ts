/** The times at a fake vendor, which come from its process by another way than the audio. */

import type { FromVendor } from "./vendor-protocol.ts";

/** A message between processes takes less than a millisecond. Reached only when something is wrong. */
const MARKS_LIMIT_MS = 5_000;

/** Of one sentence, on the shared clock. */
export interface SentenceMarks {
  readonly textAtMs: number;
  readonly audioAtMs: number;
}

export class VendorMarks {
  readonly #text = new Map<string, number>();
  readonly #audio = new Map<string, number>();
  readonly #waiting = new Map<string, () => void>();

  take(message: FromVendor): void {
    if (message.type === "text") this.#text.set(message.text, message.atMs);
    else if (message.type === "audio") this.#audio.set(message.text, message.atMs);
    else return;
    if (this.#text.has(message.text) && this.#audio.has(message.text)) this.#waiting.get(message.text)?.();
  }

  /** Waits for both, and forgets them. Null: they have not come in time. */
  async of(text: string): Promise<SentenceMarks | null> {
    if (!this.#text.has(text) || !this.#audio.has(text)) await this.#both(text);
    const [textAtMs, audioAtMs] = [this.#text.get(text), this.#audio.get(text)];
    this.#text.delete(text);
    this.#audio.delete(text);
    return textAtMs === undefined || audioAtMs === undefined ? null : { textAtMs, audioAtMs };
  }

  #both(text: string): Promise<void> {
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(late);
        this.#waiting.delete(text);
        resolve();
      };
      const late = setTimeout(settle, MARKS_LIMIT_MS);
      this.#waiting.set(text, settle);
    });
  }
}
