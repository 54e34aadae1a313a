/**
 * Splits the bytes of a JSON object at the entries of one long list, without parsing any. The cut text is valid JSON
 * exactly if each piece is: every entry, and the rest with an empty list in their place.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Bytes scanned before it yields: some 0.2 ms. */
const STEP_BYTES = 65_536;

export interface SplitLimits {
  readonly maxDepth: number;
  readonly maxEntries: number;
}

/** `nested`, `entries`: more than the limit. `repeated`: the list occurs twice. `open`: the text ends within it. */
export type SplitFault = "nested" | "entries" | "repeated" | "open";

/** Depths: 0 outside, 1 in the object, 2 in the list, 3 and more in an entry. */
export class ListSplitter {
  readonly #bytes: Uint8Array;
  readonly #field: string;
  readonly #limits: SplitLimits;
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  #at = 0;
  #depth = 0;
  #inText = false;
  /** Start of the text that is being read, or that was read last. */
  #textStart = 0;
  /** The text read last in the object itself is one of its keys. */
  #expectsKey = false;
  #isObject = false;
  #isField = false;
  #inList = false;
  /** The bytes between the brackets of the list; null: there is no list. */
  #list: { readonly from: number; to: number } | null = null;
  #fault: SplitFault | null = null;

  constructor(bytes: Uint8Array, field: string, limits: SplitLimits) {
    this.#bytes = bytes;
    this.#field = field;
    this.#limits = limits;
  }

  /** Works step by step. */
  *steps(): Generator<void> {
    while (this.#at < this.#bytes.length && this.#fault === null) {
      this.#scan(Math.min(this.#bytes.length, this.#at + STEP_BYTES));
      yield;
    }
    if (this.#inList) this.#fault ??= "open";
  }

  get fault(): SplitFault | null {
    return this.#fault;
  }

  /** Number of entries found; null where the object has no such list. */
  get count(): number | null {
    return this.#list === null ? null : this.#starts.length;
  }

  entry(index: number): Uint8Array {
    return this.#bytes.subarray(this.#starts[index], this.#ends[index]);
  }

  /** Everything but the entries. */
  rest(): Uint8Array {
    if (this.#list === null) return this.#bytes;
    return Buffer.concat([this.#bytes.subarray(0, this.#list.from), this.#bytes.subarray(this.#list.to)]);
  }

  #scan(until: number): void {
    const bytes = this.#bytes;
    for (; this.#at < until; this.#at += 1) {
      const byte = bytes[this.#at];
      if (this.#inText) {
        if (byte === BACKSLASH) this.#at += 1;
        else if (byte === QUOTE) this.#endText();
      } else if (byte === QUOTE) {
        this.#inText = true;
        this.#textStart = this.#at;
      } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        this.#open(byte);
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        this.#close();
      } else if (byte === COMMA) {
        this.#comma();
      } else if (byte === COLON && this.#depth === 1) {
        this.#expectsKey = false;
      }
      if (this.#fault !== null) return;
    }
  }

  #endText(): void {
    this.#inText = false;
    if (this.#depth === 1 && this.#expectsKey) this.#isField = this.#spellsField();
  }

  /** A key may be written with escapes. */
  #spellsField(): boolean {
    // Each character of the name takes at most six.
    if (this.#at - this.#textStart > 6 * this.#field.length + 2) return false;
    const text = Buffer.from(this.#bytes.subarray(this.#textStart, this.#at + 1)).toString("latin1");
    if (!text.includes("\\")) return text === `"${this.#field}"`;
    try {
      return JSON.parse(text) === this.#field;
    } catch {
      // This is not JSON, so the rest is not scanned.
      return false;
    }
  }

  #open(byte: number): void {
    this.#depth += 1;
    if (this.#depth > this.#limits.maxDepth) {
      this.#fault = "nested";
    } else if (this.#depth === 1) {
      this.#isObject = byte === OPEN_OBJECT;
      this.#expectsKey = true;
    } else if (
      this.#depth === 2 &&
      byte === OPEN_LIST &&
      this.#isObject &&
      this.#isField &&
      !this.#expectsKey
    ) {
      if (this.#list !== null) {
        this.#fault = "repeated";
        return;
      }
      this.#inList = true;
      this.#list = { from: this.#at + 1, to: this.#at + 1 };
    }
  }

  #close(): void {
    if (this.#depth === 2 && this.#inList && this.#list !== null) {
      this.#list.to = this.#at;
      this.#inList = false;
      // An empty list has no entry, not even an empty one.
      const from = this.#entryStart();
      if (this.#starts.length > 0 || !isBlank(this.#bytes, from, this.#at)) this.#push(from);
    }
    this.#depth -= 1;
  }

  #comma(): void {
    if (this.#depth === 1) {
      this.#expectsKey = true;
      this.#isField = false;
    } else if (this.#depth === 2 && this.#inList) {
      this.#push(this.#entryStart());
    }
  }

  #entryStart(): number {
    const before = this.#ends.at(-1);
    return before === undefined ? (this.#list?.from ?? 0) : before + 1;
  }

  #push(from: number): void {
    if (this.#starts.length === this.#limits.maxEntries) {
      this.#fault = "entries";
      return;
    }
    this.#starts.push(from);
    this.#ends.push(this.#at);
  }
}

/** Whether there is only white space between two positions. */
export function isBlank(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (!BLANKS.has(bytes[at] ?? 0)) return false;
  return true;
}

/** RFC 8259 section 2: space, tab, line feed, carriage return. */
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
