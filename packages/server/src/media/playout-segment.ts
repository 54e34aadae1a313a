/** The audio of one segment of a reply on its way to the caller, and which of its words have been heard. */

import { samplesToMs } from "./frame.ts";
import { SPOKEN_CHARS_PER_SECOND } from "./silence.ts";
import { wordSpans, wordSpanAt, type WordSpan } from "./words.ts";

export class PlayoutSegment {
  readonly segmentId: number;
  readonly text: string;
  readonly #rate: number;
  /** Chunks not yet wholly heard. */
  #chunks: Int16Array[] = [];
  /** Position of the first sample of `#chunks` in the segment. */
  #chunksFrom = 0;
  /** Where the next frame is cut: index into `#chunks` and that chunk's position in the segment. */
  #cursorChunk = 0;
  #cursorFrom = 0;
  received = 0;
  /** How many samples there will be in all, once that is known; 0 before. */
  expected = 0;
  /** Samples handed out; goes back when playout is paused. */
  sent = 0;
  heard = 0;
  /** All its audio has arrived. */
  complete = false;
  /** It ended before the whole text was rendered. */
  broken = false;
  started = false;
  /** Word starts given by the voice, ascending. */
  #timed: { readonly span: WordSpan; readonly atMs: number }[] = [];
  #spans: readonly WordSpan[] | null = null;
  #heardChars = 0;

  constructor(segmentId: number, text: string, sampleRateHz: number) {
    this.segmentId = segmentId;
    this.text = text;
    this.#rate = sampleRateHz;
  }

  /** UTF-16 units of `text` up to the end of the last word that has begun. Never goes back. */
  get heardChars(): number {
    return this.#heardChars;
  }

  get done(): boolean {
    return this.complete && this.heard >= this.received;
  }

  /** @param whole false when the voice failed before the end of the text */
  end(whole: boolean): void {
    if (this.complete) return;
    this.complete = true;
    this.broken = !whole;
    if (this.done && this.heard > 0) this.#heardChars = Math.max(this.#heardChars, this.#charsAt(this.heard));
  }

  append(samples: Int16Array): void {
    if (samples.length === 0 || this.complete) return;
    this.#chunks.push(samples);
    this.received += samples.length;
  }

  /** Times that come out of order are left out. */
  addWord(textOffset: number, atMs: number): void {
    const last = this.#timed.at(-1);
    if (last !== undefined && (textOffset <= last.span.start || atMs < last.atMs)) return;
    if (textOffset < 0 || textOffset >= this.text.length) return;
    this.#timed.push({ span: wordSpanAt(this.text, textOffset), atMs });
  }

  /** Hands out the next `count` samples, fewer at the end; a view where they lie in one chunk. */
  cut(count: number): Int16Array {
    const taken = Math.min(count, this.received - this.sent);
    let chunk = this.#chunks[this.#cursorChunk]!;
    if (this.sent === this.#cursorFrom + chunk.length) chunk = this.#nextChunk();
    const offset = this.sent - this.#cursorFrom;
    if (offset + taken <= chunk.length) {
      this.sent += taken;
      return chunk.subarray(offset, offset + taken);
    }
    const samples = new Int16Array(taken);
    let filled = 0;
    while (filled < taken) {
      if (this.sent === this.#cursorFrom + chunk.length) chunk = this.#nextChunk();
      const from = this.sent - this.#cursorFrom;
      const part = chunk.subarray(from, from + taken - filled);
      samples.set(part, filled);
      filled += part.length;
      this.sent += part.length;
    }
    return samples;
  }

  /** What was sent beyond `heard` will be sent again. */
  rewind(): void {
    this.sent = this.heard;
    this.#cursorChunk = 0;
    this.#cursorFrom = this.#chunksFrom;
    while (this.#cursorChunk < this.#chunks.length - 1) {
      const end = this.#cursorFrom + this.#chunks[this.#cursorChunk]!.length;
      if (this.sent < end) return;
      this.#cursorFrom = end;
      this.#cursorChunk += 1;
    }
  }

  /** Everything before `position` was heard: its memory is freed. Returns true when another word has begun. */
  advance(position: number): boolean {
    this.heard = Math.max(this.heard, Math.min(position, this.received));
    while (this.#cursorChunk > 0 && this.#chunksFrom + this.#chunks[0]!.length <= this.heard) {
      this.#chunksFrom += this.#chunks.shift()!.length;
      this.#cursorChunk -= 1;
    }
    const chars = this.#charsAt(this.heard);
    if (chars <= this.#heardChars) return false;
    this.#heardChars = chars;
    return true;
  }

  #nextChunk(): Int16Array {
    this.#cursorFrom += this.#chunks[this.#cursorChunk]!.length;
    this.#cursorChunk += 1;
    return this.#chunks[this.#cursorChunk]!;
  }

  #charsAt(position: number): number {
    if (position === 0) return 0;
    if (this.done && !this.broken) return this.text.length;
    const atMs = samplesToMs(position, this.#rate);
    if (this.#timed.length > 0) return timedChars(this.#timed, atMs);
    this.#spans ??= wordSpans(this.text);
    // Without word times a word begins where its share of the characters says. While audio is still to come, its
    // length is taken from the usual pace of speech.
    const receivedMs = samplesToMs(Math.max(this.received, this.expected), this.#rate);
    const spokenMs = (this.text.length * 1_000) / SPOKEN_CHARS_PER_SECOND;
    const isWhole = this.complete ? !this.broken : this.expected > 0;
    const totalMs = isWhole ? receivedMs : Math.max(receivedMs, spokenMs);
    let chars = 0;
    for (const span of this.#spans) {
      if ((span.start / this.text.length) * totalMs >= atMs) break;
      chars = span.end;
    }
    return chars;
  }
}

function timedChars(words: readonly { span: WordSpan; atMs: number }[], atMs: number): number {
  let chars = 0;
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i]!;
    if (word.atMs >= atMs) break;
    const next = words[i + 1]?.span.start ?? Number.POSITIVE_INFINITY;
    chars = Math.min(word.span.end, next);
  }
  return chars;
}
