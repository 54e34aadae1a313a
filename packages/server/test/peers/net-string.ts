/** Netstrings (`5:hello,`), by which baresip takes commands and reports. */

/** Longest text that is read: reports of baresip have some hundred characters, lists of calls some thousand. */
const MAX_TEXT_BYTES = 65_536;

export function netString(text: string): string {
  return `${String(Buffer.byteLength(text))}:${text},`;
}

export class NetStringReader {
  readonly #heard: (text: string) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(heard: (text: string) => void) {
    this.#heard = heard;
  }

  /** @throws for bytes that are no netstrings */
  push(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const colon = this.#rest.indexOf(":");
      if (colon === -1) return;
      const length = Number(this.#rest.toString("latin1", 0, colon));
      if (!Number.isInteger(length) || length < 0 || length > MAX_TEXT_BYTES) {
        throw new Error("not a netstring");
      }
      const end = colon + 1 + length;
      if (this.#rest.length < end + 1) return;
      const text = this.#rest.toString("utf8", colon + 1, end);
      this.#rest = this.#rest.subarray(end + 1);
      this.#heard(text);
    }
  }
}
