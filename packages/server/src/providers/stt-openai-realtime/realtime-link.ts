/**
 * One transcription session of OpenAI's realtime API. The server makes an item of the audio between two commits, so the
 * text of an utterance is that of its items, one for each request.
 */

import { Resampler } from "../../media/resample.ts";
import { bytesOfSamples } from "../../media/pcm.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import { STT_SAMPLE_RATE_HZ } from "../../ports/stt.ts";
import type { Clock } from "../../pacing/clock.ts";
import type { LinkListener, RecogniserLink } from "../recogniser-link.ts";
import type { RecogniserSocket, SocketListener } from "../recogniser-socket.ts";
import { understoodText } from "../understood-text.ts";
import { readEvent, SETTINGS, type ErrorDetails, type RealtimeEvent } from "./messages.ts";

const RATE_HZ = 24_000;
/** The server refuses to commit less than 100 ms. */
const SHORTEST_COMMIT = RATE_HZ / 10;
/** From the connection to the accepted settings. */
const SET_UP_MS = 5_000;
const ITEM_MAX_CHARS = 20_000;
/** Items whose number the server has not told yet; more means that it answers none. */
const UNNAMED_MAX = 64;

interface Item {
  readonly eventId: string;
  /** The text so far, and whether it is all of it. */
  text: string;
  isWhole: boolean;
}

interface Flush {
  readonly flushId: number;
  /** Number of items that it covers. */
  readonly items: number;
}

export interface RealtimeLinkOptions {
  readonly open: (events: SocketListener) => RecogniserSocket;
  /** Of `session.update`. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly listener: LinkListener;
  readonly clock: Pick<Clock, "after">;
  /** A text of the server for people, without secrets. */
  readonly plain: (text: string) => string;
}

export class RealtimeLink implements RecogniserLink {
  readonly #options: RealtimeLinkOptions;
  readonly #listener: LinkListener;
  readonly #socket: RecogniserSocket;
  readonly #resampler = new Resampler(STT_SAMPLE_RATE_HZ, RATE_HZ);
  readonly #cancelSetUp: () => void;
  #state: "opening" | "ready" | "closed" = "opening";
  #hasUtterance = false;
  /** Of the utterance, in its order. */
  #items: Item[] = [];
  #flushes: Flush[] = [];
  /** Commits that the server has not named yet, those of earlier utterances included; it names them in order. */
  #unnamed: Item[] = [];
  readonly #named = new Map<string, Item>();
  /** Samples since the last commit. */
  #uncommitted = 0;
  #lastEventId = 0;

  constructor(options: RealtimeLinkOptions) {
    this.#options = options;
    this.#listener = options.listener;
    this.#socket = options.open({
      // The server speaks first.
      opened: () => undefined,
      text: (text) => {
        if (this.#state !== "closed") this.#read(text);
      },
      closed: (error) => {
        if (this.#state === "closed") return;
        this.#end(error, !(error instanceof EngineFailure && error.isPermanent));
      },
    });
    this.#cancelSetUp = options.clock.after(SET_UP_MS, () => {
      if (this.#state !== "opening") return;
      const message = `the recogniser did not accept its settings within ${String(SET_UP_MS / 1_000)} s`;
      this.#end(new EngineFailure(message, { type: "timeout" }), true);
    });
  }

  begin(): void {
    this.#hasUtterance = true;
    this.#items = [];
    this.#flushes = [];
    this.#named.clear();
  }

  push(samples: Int16Array): void {
    if (this.#state === "ready") this.#append(this.#resampler.push(samples));
  }

  flush(flushId: number): void {
    if (this.#state !== "ready") return;
    if (this.#uncommitted >= SHORTEST_COMMIT) this.#commit();
    else if (this.#items.length === 0) {
      // The first item of an utterance that is hardly longer: silence completes it.
      this.#append(new Int16Array(SHORTEST_COMMIT - this.#uncommitted));
      this.#commit();
    }
    // Otherwise what came since the last item is shorter than a word, and belongs to the next one.
    this.#flushes.push({ flushId, items: this.#items.length });
    queueMicrotask(() => {
      this.#answer();
    });
  }

  /** The server answers each item, or has failed. */
  settle(): null {
    return null;
  }

  end(): void {
    this.#hasUtterance = false;
    this.#items = [];
    this.#flushes = [];
    this.#named.clear();
    if (this.#uncommitted === 0) return;
    this.#uncommitted = 0;
    this.#resampler.close();
    this.#send({ type: "input_audio_buffer.clear" });
  }

  close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#cancelSetUp();
    this.#resampler.close();
    this.#socket.close();
  }

  #send(event: Readonly<Record<string, unknown>>): void {
    this.#socket.send(JSON.stringify(event));
  }

  #nextEventId(): string {
    this.#lastEventId += 1;
    return `parley_${String(this.#lastEventId)}`;
  }

  #append(samples: Int16Array): void {
    if (samples.length === 0) return;
    this.#uncommitted += samples.length;
    const audio = Buffer.from(bytesOfSamples(samples)).toString("base64");
    this.#send({ type: "input_audio_buffer.append", audio });
  }

  #commit(): void {
    const item: Item = { eventId: this.#nextEventId(), text: "", isWhole: false };
    this.#uncommitted = 0;
    this.#items.push(item);
    this.#unnamed.push(item);
    this.#send({ type: "input_audio_buffer.commit", event_id: item.eventId });
    if (this.#unnamed.length <= UNNAMED_MAX) return;
    queueMicrotask(() => {
      this.#end(new EngineFailure("the recogniser does not answer commits", { type: "timeout" }), true);
    });
  }

  #read(text: string): void {
    const event = readEvent(text);
    if (event === null) {
      const failure = new EngineFailure("the recogniser sent something that is no event", {
        type: "invalid_answer",
      });
      this.#end(failure, true);
    } else if (event !== "other") this.#take(event);
  }

  #take(event: RealtimeEvent): void {
    switch (event.type) {
      case "session.created": {
        if (this.#state !== "opening") return;
        this.#send({
          type: "session.update",
          event_id: this.#nextEventId(),
          [SETTINGS]: this.#options.settings,
        });
        return;
      }
      case "session.updated":
        if (this.#state !== "opening") return;
        this.#state = "ready";
        this.#cancelSetUp();
        this.#listener.ready();
        return;
      case "input_audio_buffer.committed":
        this.#name(event.item_id);
        return;
      case "conversation.item.input_audio_transcription.delta":
        this.#write(event.item_id, (item) => {
          if (!item.isWhole) item.text = (item.text + event.delta).slice(0, ITEM_MAX_CHARS);
        });
        return;
      case "conversation.item.input_audio_transcription.completed":
        this.#write(event.item_id, (item) => {
          item.text = event.transcript;
          item.isWhole = true;
        });
        return;
      case "conversation.item.input_audio_transcription.failed":
        // Items of earlier utterances do not matter any more.
        if (this.#named.has(event.item_id)) this.#fail(event.error ?? {});
        return;
      case "error":
        this.#refused(event.error);
    }
  }

  #name(itemId: string): void {
    const item = this.#unnamed.shift();
    if (item !== undefined && this.#items.includes(item)) this.#named.set(itemId, item);
  }

  #write(itemId: string, change: (item: Item) => void): void {
    const item = this.#named.get(itemId);
    if (item === undefined) return;
    change(item);
    this.#listener.partial(this.#text(this.#items.length));
    this.#answer();
  }

  /** Requests whose items are all whole. An item that is whole before an earlier one waits for that. */
  #answer(): void {
    while (this.#state === "ready" && this.#hasUtterance) {
      const [flush] = this.#flushes;
      if (flush === undefined || !this.#items.slice(0, flush.items).every(({ isWhole }) => isWhole)) return;
      this.#flushes = this.#flushes.slice(1);
      this.#listener.answered(flush.flushId, this.#text(flush.items));
    }
  }

  #text(items: number): string {
    return this.#items
      .slice(0, items)
      .map(({ text }) => understoodText(text))
      .filter((text) => text !== "")
      .join(" ");
  }

  #refused(error: ErrorDetails): void {
    const commit = this.#unnamed.find(({ eventId }) => eventId === error.event_id);
    if (commit !== undefined && error.code === "input_audio_buffer_commit_empty") {
      // Nothing was in the buffer, so nothing was said.
      this.#unnamed = this.#unnamed.filter((item) => item !== commit);
      commit.isWhole = true;
      this.#answer();
      return;
    }
    if (error.code === "session_expired") {
      const message = "the recogniser's session is over, after its longest time";
      this.#end(new EngineFailure(message, { type: "session_expired" }), true);
      return;
    }
    this.#fail(error);
  }

  /** The request is refused as it is: another connection would not help it. */
  #fail({ code, type, message, param }: ErrorDetails): void {
    const isPermanent = PERMANENT.has(code ?? "") || (param ?? "").endsWith("model");
    const words = message === null || message === undefined ? "" : `: ${this.#options.plain(message)}`;
    const failure = new EngineFailure(`the recogniser failed${words}`, {
      isPermanent,
      type: code ?? type ?? null,
    });
    this.#end(failure, false);
  }

  #end(error: Error, again: boolean): void {
    if (this.#state === "closed") return;
    this.close();
    this.#listener.closed(error, again);
  }
}

/** Codes of a key or a model that the next connection would be refused for as well. */
const PERMANENT: ReadonlySet<string> = new Set([
  "invalid_api_key",
  "model_not_found",
  "invalid_model",
  "insufficient_quota",
]);
