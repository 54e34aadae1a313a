/**
 * One live transcription of a Flux model, which carries the utterances of a call one after the other. Flux divides the
 * audio into turns by itself, and they are not the utterances of the call: an utterance may have several turns, and a turn
 * may have begun before it. There is no `Finalize`: the text is known when what Flux has heard goes far enough beyond a
 * request, or when it says that the user has finished.
 */

import { bytesOfSamples } from "../../media/pcm.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import { STT_SAMPLE_RATE_HZ } from "../../ports/stt.ts";
import type { Clock } from "../../pacing/clock.ts";
import type { LinkListener, RecogniserLink } from "../recogniser-link.ts";
import type { RecogniserSocket } from "../recogniser-socket.ts";
import { Flushes } from "./flushes.ts";
import { readFluxMessage, type FluxTurn } from "./flux-messages.ts";
import { openInLanguage, type DeepgramLinkOptions } from "./language-socket.ts";

/** Deepgram closes a socket after 60 s without audio or a ping; a `KeepAlive` message closes it at once. */
const PING_MS = 20_000;
/** Positions are sums of fractions of seconds. */
const ROUNDING_S = 0.02;
/** Flux hears in steps of this length, so what it has heard may seem to end before the request. */
const STEP_S = 0.08;
/** A word is known only when some of what follows it was heard; a reported end of the turn needs none of that. */
const LOOK_AHEAD_S = 0.2;
/** Where no audio follows a request for so long, silence does, so that Flux hears beyond the last word. */
const AUDIO_MISSING_MS = 200;
/** Enough for an `Update`, which comes for each 0.25 s of audio, beyond the look-ahead. */
const SILENCE_S = 0.5;
/** An end of the turn, as sure as a silence of the length that was asked for makes. */
const FINISHED = 0.9;
/** Characters kept of one utterance, and turns: a minute of fast speech has 1,500 characters. */
const TEXT_MAX_CHARS = 20_000;
const TURNS_MAX = 200;

export interface FluxLinkOptions extends DeepgramLinkOptions {
  /** Whether its ends of turns are opinions of the call. */
  readonly judges: boolean;
}

export class FluxLink implements RecogniserLink {
  readonly #judges: boolean;
  readonly #listener: LinkListener;
  readonly #clock: Pick<Clock, "nowMs" | "after">;
  readonly #socket: RecogniserSocket;
  #isReady = false;
  #closed = false;
  /** Samples that were sent. */
  #sent = 0;
  #cancelPing: (() => void) | null = null;
  #cancelSilence: (() => void) | null = null;
  /** Where the utterance begins, in seconds of the audio of the connection; null: there is none. */
  #startS: number | null = null;
  /** Texts of the turns of the utterance, by their numbers. */
  readonly #turns = new Map<number, string>();
  /** End of what was heard of the utterance. */
  #heardS: number | null = null;
  readonly #flushes = new Flushes();
  /** An end of the turn was reported, and is not taken back. */
  #isJudged = false;
  /** The latest turn that has words, and has not ended; its text at the begin of the utterance does not belong to it. */
  #open: { readonly index: number; readonly text: string } | null = null;
  #before: { readonly index: number; readonly text: string } | null = null;

  constructor(options: FluxLinkOptions) {
    this.#judges = options.judges;
    this.#listener = options.listener;
    this.#clock = options.clock;
    this.#socket = openInLanguage(options, {
      opened: () => {
        this.#isReady = true;
        this.#keepOpen();
        this.#listener.ready();
      },
      text: (text) => {
        this.#read(text);
      },
      closed: (error) => {
        this.#fail(error);
      },
    });
  }

  get #sentS(): number {
    return this.#sent / STT_SAMPLE_RATE_HZ;
  }

  begin(): void {
    this.#startS = this.#sentS;
    this.#turns.clear();
    this.#heardS = null;
    this.#flushes.clear();
    this.#isJudged = false;
    this.#before = this.#open;
  }

  push(samples: Int16Array): void {
    // Older servers read an empty message as the end of the stream.
    if (samples.length === 0 || this.#closed) return;
    this.#sent += samples.length;
    this.#socket.send(bytesOfSamples(samples));
    if (!this.#flushes.isEmpty) this.#awaitAudio();
  }

  flush(flushId: number): void {
    this.#flushes.add({ flushId, atS: this.#sentS });
    this.#awaitAudio();
  }

  settle(flushId: number): string | null {
    return this.#flushes.settle(flushId, this.#heardS) ? this.#text() : null;
  }

  end(): void {
    this.#startS = null;
    this.#flushes.clear();
    this.#cancelSilence?.();
    this.#cancelSilence = null;
    // The next utterance is a turn of its own. Without a turn this message has no effect.
    if (this.#open !== null && !this.#closed) this.#socket.send('{"type":"ForceEndTurn"}');
  }

  close(): void {
    if (this.#closed) return;
    if (this.#isReady) this.#socket.send('{"type":"CloseStream"}');
    this.#drop();
  }

  #keepOpen(): void {
    this.#cancelPing = this.#clock.after(PING_MS, () => {
      this.#socket.ping();
      this.#keepOpen();
    });
  }

  /** In a call the audio goes on after a request. Where it does not, nothing would show that the last word is over. */
  #awaitAudio(): void {
    this.#cancelSilence?.();
    this.#cancelSilence = this.#clock.after(AUDIO_MISSING_MS, () => {
      this.#cancelSilence = null;
      if (this.#flushes.isEmpty || this.#closed) return;
      const silence = new Int16Array(STT_SAMPLE_RATE_HZ * STEP_S);
      for (let sentS = 0; sentS < SILENCE_S; sentS += STEP_S) {
        this.#sent += silence.length;
        this.#socket.send(bytesOfSamples(silence));
      }
    });
  }

  #read(text: string): void {
    const message = readFluxMessage(text);
    if (message === null) {
      this.#fail(new EngineFailure("Deepgram sent something that is no result", { type: "invalid_answer" }));
    } else if (message.kind === "error") {
      this.#fail(new EngineFailure(`Deepgram failed: ${message.text.slice(0, 200)}`));
    } else if (message.kind === "turn") this.#take(message);
  }

  #take(turn: FluxTurn): void {
    const { event, index, text, endS } = turn;
    const isEnd = event === "EndOfTurn";
    this.#open = isEnd || text === "" ? null : { index, text };
    // Of an earlier utterance, or of the end of one.
    if (this.#startS === null || endS <= this.#startS + ROUNDING_S) return;
    this.#heardS = Math.max(this.#heardS ?? 0, endS);
    this.#keep(index, this.#ownText(turn, this.#startS));
    this.#listener.partial(this.#text());
    this.#judge(turn);
    const beyondS = isEnd || event === "EagerEndOfTurn" ? STEP_S : -LOOK_AHEAD_S;
    this.#answer(this.#heardS + beyondS + ROUNDING_S);
  }

  /** What of the turn was said in the utterance. */
  #ownText(turn: FluxTurn, startS: number): string {
    if (turn.startS >= startS - ROUNDING_S) return turn.text;
    const timed = turn.textFrom(startS);
    if (timed !== null) return timed;
    const before = this.#before;
    if (before === null || before.index !== turn.index || !turn.text.startsWith(before.text))
      return turn.text;
    return turn.text.slice(before.text.length).trim();
  }

  #keep(index: number, text: string): void {
    let chars = text.length;
    for (const [other, kept] of this.#turns) if (other !== index) chars += kept.length;
    const isNew = !this.#turns.has(index);
    if (chars <= TEXT_MAX_CHARS && !(isNew && this.#turns.size >= TURNS_MAX)) this.#turns.set(index, text);
  }

  #judge({ event, confidence }: FluxTurn): void {
    if (!this.#judges || this.#text() === "") return;
    if (event === "EagerEndOfTurn" || event === "EndOfTurn") {
      this.#isJudged = true;
      this.#listener.judged(event === "EndOfTurn" ? Math.max(FINISHED, confidence) : confidence);
    } else if (this.#isJudged && (event === "TurnResumed" || event === "StartOfTurn")) {
      this.#isJudged = false;
      this.#listener.judged(null);
    }
  }

  #answer(coveredS: number): void {
    const covered = this.#flushes.take(({ atS }) => atS <= coveredS);
    if (covered.length === 0) return;
    const text = this.#text();
    for (const { flushId } of covered) if (!this.#closed) this.#listener.answered(flushId, text);
  }

  #text(): string {
    return [...this.#turns.values()].filter((part) => part !== "").join(" ");
  }

  #fail(error: Error): void {
    this.#drop();
    this.#listener.closed(error, !(error instanceof EngineFailure && error.isPermanent));
  }

  #drop(): void {
    this.#closed = true;
    this.#cancelPing?.();
    this.#cancelSilence?.();
    this.#socket.close();
  }
}
