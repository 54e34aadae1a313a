/**
 * One live transcription of Deepgram, which carries the utterances of a call one after the other. Deepgram counts the
 * seconds of audio that it got, so the position of a result says to which utterance it belongs.
 */

import { EngineFailure } from "../../ports/engine-failure.ts";
import { STT_SAMPLE_RATE_HZ } from "../../ports/stt.ts";
import { bytesOfSamples } from "../../media/pcm.ts";
import type { Clock } from "../../pacing/clock.ts";
import type { LinkListener, RecogniserLink } from "../recogniser-link.ts";
import type { RecogniserSocket } from "../recogniser-socket.ts";
import { Flushes } from "./flushes.ts";
import { openInLanguage, type DeepgramLinkOptions } from "./language-socket.ts";
import { readMessage, type Result } from "./messages.ts";

/** Deepgram closes a socket after 10 s without audio or this message, and advises one every 3 to 5 s. */
const KEEP_ALIVE_MS = 4_000;
/** Positions are sums of fractions of seconds. */
const ROUNDING_S = 0.02;
/**
 * How sure a silence of the length that was asked for makes: as sure as a detector must be that listens, to overrule
 * words that leave it open. Words that clearly go on still get more time.
 */
const FINISHED = 0.9;
/** The end of a word moves between an interim result and the final one by less; new words come later than this. */
const SAME_WORD_S = 0.5;
/** Characters kept of one utterance: a minute of fast speech has 1,500. */
const TEXT_MAX_CHARS = 20_000;

export class DeepgramLink implements RecogniserLink {
  readonly #listener: LinkListener;
  readonly #clock: Pick<Clock, "nowMs" | "after">;
  readonly #socket: RecogniserSocket;
  /** Samples that were sent. */
  #sent = 0;
  #lastSentAtMs = 0;
  #cancelKeepAlive: (() => void) | null = null;
  #isReady = false;
  #closed = false;
  /** Where the utterance begins, in seconds of the audio of the connection; null: there is none. */
  #startS: number | null = null;
  #finals: string[] = [];
  #finalChars = 0;
  #interim = "";
  /** End of the latest result. */
  #heardS: number | null = null;
  /** End of what is final: of results, or of the latest flush that was answered. */
  #finalS: number | null = null;
  readonly #flushes = new Flushes();
  /** End of the last word of the utterance; null: it has none. */
  #lastWordS: number | null = null;
  /** The last word after which Deepgram has told the end of the speech. */
  #endedS: number | null = null;
  /** Where the latest `Finalize` was sent. */
  #finalizedS = 0;

  constructor(options: DeepgramLinkOptions) {
    this.#listener = options.listener;
    this.#clock = options.clock;
    this.#socket = openInLanguage(options, {
      opened: () => {
        this.#isReady = true;
        this.#lastSentAtMs = this.#clock.nowMs();
        this.#keepAlive();
        this.#listener.ready();
      },
      text: (text) => {
        this.#read(text);
      },
      closed: (error) => {
        this.#end(error);
      },
    });
  }

  get #sentS(): number {
    return this.#sent / STT_SAMPLE_RATE_HZ;
  }

  begin(): void {
    this.#startS = this.#sentS;
    this.#finals = [];
    this.#finalChars = 0;
    this.#interim = "";
    this.#heardS = null;
    this.#finalS = null;
    this.#flushes.clear();
    this.#lastWordS = null;
    this.#endedS = null;
  }

  push(samples: Int16Array): void {
    // Older servers read an empty message as the end of the stream.
    if (samples.length === 0 || this.#closed) return;
    this.#sent += samples.length;
    this.#send(bytesOfSamples(samples));
  }

  flush(flushId: number): void {
    const atS = this.#sentS;
    if (this.#finalS !== null && atS <= this.#finalS + ROUNDING_S) {
      queueMicrotask(() => {
        if (!this.#closed) this.#listener.answered(flushId, this.#text());
      });
      return;
    }
    const isAsked = this.#flushes.latest?.atS === atS;
    this.#flushes.add({ flushId, atS });
    if (!isAsked) this.#finalize();
  }

  settle(flushId: number): string | null {
    return this.#flushes.settle(flushId, this.#heardS) ? this.#text() : null;
  }

  end(): void {
    this.#startS = null;
    this.#flushes.clear();
    // What is still unrecognised must not run into the next utterance.
    if (this.#sentS > this.#finalizedS) this.#finalize();
  }

  close(): void {
    if (this.#closed) return;
    if (this.#isReady) this.#send('{"type":"CloseStream"}');
    this.#drop();
  }

  #send(message: string | Uint8Array): void {
    this.#lastSentAtMs = this.#clock.nowMs();
    this.#socket.send(message);
  }

  #finalize(): void {
    if (this.#closed) return;
    this.#finalizedS = this.#sentS;
    this.#send('{"type":"Finalize"}');
  }

  #keepAlive(): void {
    const idleMs = this.#clock.nowMs() - this.#lastSentAtMs;
    if (idleMs >= KEEP_ALIVE_MS) this.#send('{"type":"KeepAlive"}');
    const nextMs = idleMs >= KEEP_ALIVE_MS ? KEEP_ALIVE_MS : KEEP_ALIVE_MS - idleMs;
    this.#cancelKeepAlive = this.#clock.after(nextMs, () => {
      this.#keepAlive();
    });
  }

  #read(text: string): void {
    const message = readMessage(text);
    if (message === null) {
      this.#end(new EngineFailure("Deepgram sent something that is no result", { type: "invalid_answer" }));
    } else if (message.kind === "error") {
      this.#end(new EngineFailure(`Deepgram failed: ${message.text.slice(0, 200)}`));
    } else if (message.kind === "result") this.#take(message);
    else if (message.kind === "utteranceEnd") this.#ended(message.lastWordS);
  }

  #take(result: Result): void {
    const startS = this.#startS;
    // Of an earlier utterance, or of the end of one.
    if (startS === null || result.endS <= startS + ROUNDING_S) return;
    const text = result.startS < startS - ROUNDING_S ? result.textFrom(startS) : result.text;
    this.#heardS = Math.max(this.#heardS ?? 0, result.endS);
    if (result.isFinal) {
      this.#finalS = Math.max(this.#finalS ?? 0, result.endS);
      this.#interim = "";
      if (text !== "" && this.#finalChars + text.length <= TEXT_MAX_CHARS) {
        this.#finals.push(text);
        this.#finalChars += text.length;
      }
    } else this.#interim = text;
    this.#listener.partial(this.#text());
    if (text !== "" && result.lastWordS !== null) this.#word(result.lastWordS);
    // At a request of ours the silence may have been of any length.
    if (result.isSpeechFinal && !result.isFinalize && this.#lastWordS !== null) this.#ended(this.#lastWordS);
    if (result.isFinal) this.#answer(result);
  }

  #word(endS: number): void {
    this.#lastWordS = Math.max(this.#lastWordS ?? 0, endS);
    if (this.#endedS === null || this.#lastWordS <= this.#endedS + SAME_WORD_S) return;
    this.#endedS = null;
    this.#listener.judged(null);
  }

  /** Deepgram has heard no word since `lastWordS`. It may be late, and about an utterance that is over. */
  #ended(lastWordS: number): void {
    if (this.#startS === null || this.#lastWordS === null || this.#endedS !== null) return;
    if (lastWordS <= this.#startS || lastWordS < this.#lastWordS - SAME_WORD_S) return;
    this.#endedS = this.#lastWordS;
    this.#listener.judged(FINISHED);
  }

  /** `Finalize` is answered in order, but not always: an answer also covers the requests before its position. */
  #answer({ endS, isFinalize }: Result): void {
    const covered = this.#flushes.take(
      ({ atS }, index) => (isFinalize && index === 0) || atS <= endS + ROUNDING_S,
    );
    if (covered.length === 0) return;
    this.#finalS = Math.max(this.#finalS ?? 0, ...covered.map(({ atS }) => atS));
    const text = this.#text();
    for (const { flushId } of covered) if (!this.#closed) this.#listener.answered(flushId, text);
  }

  #text(): string {
    return [...this.#finals, this.#interim].filter((part) => part !== "").join(" ");
  }

  #end(error: Error): void {
    this.#drop();
    this.#listener.closed(error, !(error instanceof EngineFailure && error.isPermanent));
  }

  #drop(): void {
    this.#closed = true;
    this.#cancelKeepAlive?.();
    this.#cancelKeepAlive = null;
    this.#socket.close();
  }
}
