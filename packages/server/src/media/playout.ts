/**
 * Playout buffer and pacer. Segments of replies are filled as audio arrives; `take` hands out the 20 ms frames that may
 * be sent now, never more than `aheadMs` ahead of real time; a frame counts as heard as the clock passes it, because
 * the other side plays in real time once it has something to play. Where the other side echoes marks, they tell how far
 * it is behind the clock.
 */

import { fadedIn, fadedOut } from "./fade.ts";
import { FRAME_MS, frameSamples, msToSamples, samplesToMs } from "./frame.ts";
import { PlayoutSegment } from "./playout-segment.ts";

/**
 * How late a frame may be and still count as following on the one before. Our own ticks come up to 20 ms late under
 * load; without this each of them would slow the stream down permanently.
 */
const CATCH_UP_MS = 100;
/** Frames handed out at once: half a second. Bounds one tick for a client that buffers two minutes. */
const FRAMES_PER_TAKE = 25;
/** Audio between two marks (D121). */
const MARK_EVERY_MS = 200;
/** Marks whose echo is awaited: 13 s of audio. Older ones are forgotten. */
const MOST_MARKS = 64;
/** The other side is at most this far behind; a later echo says that it was held up, and not the audio. */
const LONGEST_LAG_MS = 2_000;
/** The other side may be silent for this long before what it plays is in doubt. */
const SILENCE_SLACK_MS = 500;
/** Longest doubt: within this time a lost connection is noticed. */
const LONGEST_DOUBT_MS = 6_000;
/** A frame that is a rounding error too early is not late enough to wait for the next tick. */
const EARLY_MS = 0.01;

export interface PlayoutOptions {
  readonly sampleRateHz: number;
  /** At least one frame. */
  readonly aheadMs: number;
}

export interface PlayoutListener {
  /** The first frame of the segment is handed out. */
  started(replyId: number, segmentId: number): void;
  /** Another word has begun. */
  advanced(replyId: number, segmentId: number, heardChars: number, playedMs: number): void;
  /** The whole segment was heard, or was empty when its turn came. */
  finished(replyId: number, segmentId: number, playedMs: number): void;
  /** Samples that were heard; `startMs` is when the first of them was due. In order, each exactly once. */
  heard(samples: Int16Array, startMs: number): void;
  /**
   * Audio that was handed out is not to be played: the other side must drop what it holds. `tail` is a frame that ends
   * what it is playing without a click, to be sent after that.
   */
  takenBack?(tail: Int16Array): void;
}

export interface HeardPosition {
  /** The last segment of which anything was heard; null when nothing of the reply was. */
  readonly segmentId: number | null;
  readonly heardChars: number;
}

interface Reply {
  readonly replyId: number;
  /** Segments not yet wholly heard, by ascending id. */
  readonly segments: PlayoutSegment[];
  open: boolean;
  paused: boolean;
  lastHeard: HeardPosition;
}

interface SentFrame {
  readonly reply: Reply;
  readonly segment: PlayoutSegment;
  /** The frame as sent; the first `own` samples are the segment's, the rest fills up the frame. */
  readonly samples: Int16Array;
  readonly own: number;
  /** Position in the segment after this frame. */
  readonly end: number;
  readonly startMs: number;
  /** Samples already reported as heard. */
  reported: number;
}

const NOTHING_HEARD: HeardPosition = { segmentId: null, heardChars: 0 };

export class Playout {
  readonly #rate: number;
  readonly #aheadMs: number;
  readonly #frame: number;
  readonly #frameMs: number;
  readonly #listener: PlayoutListener;
  readonly #replies = new Map<number, Reply>();
  /** Frames sent and not wholly heard, in order. */
  #sent: SentFrame[] = [];
  /** When the last frame sent will have been played. */
  #endsAtMs = Number.NEGATIVE_INFINITY;
  /** There was nothing to send at the last `take`. */
  #dry = true;
  /** Samples handed out so far; marks are named by it. */
  #position = 0;
  #marks: { readonly position: number; readonly dueMs: number }[] = [];
  #markedAt = 0;
  /** How far the other side is behind the clock, as its last echo showed. */
  #lagMs = 0;
  /** When something came from the other side; null: it does not send all the time. */
  #heardFromMs: number | null = null;
  /** What is sent next may begin within a sound. */
  #wasCut = false;

  constructor(options: PlayoutOptions, listener: PlayoutListener) {
    this.#rate = options.sampleRateHz;
    this.#aheadMs = Math.max(FRAME_MS, options.aheadMs);
    this.#frame = frameSamples(this.#rate);
    this.#frameMs = samplesToMs(this.#frame, this.#rate);
    this.#listener = listener;
  }

  /** Audio that has been received and not been heard, in ms. */
  get bufferedMs(): number {
    let samples = 0;
    for (const reply of this.#replies.values()) {
      for (const segment of reply.segments) samples += segment.received - segment.heard;
    }
    return samplesToMs(samples, this.#rate);
  }

  /** Unheard audio that the other side may hold at `nowMs`. */
  unplayedMs(nowMs: number): number {
    return this.#sent.length === 0 ? 0 : Math.max(0, this.#endsAtMs + this.#lagMs - nowMs);
  }

  addSegment(replyId: number, segmentId: number, text: string): void {
    const segments = this.#reply(replyId).segments;
    const segment = new PlayoutSegment(segmentId, text, this.#rate);
    const after = segments.findIndex((other) => other.segmentId > segmentId);
    if (after === -1) segments.push(segment);
    else segments.splice(after, 0, segment);
  }

  /** Empties the segment for another attempt in its place. Ignored once some of it has sounded. */
  restartSegment(replyId: number, segmentId: number, text: string): void {
    const segments = this.#reply(replyId).segments;
    const index = segments.findIndex((segment) => segment.segmentId === segmentId);
    if (index === -1) this.addSegment(replyId, segmentId, text);
    else if (segments[index]?.started === false) {
      segments[index] = new PlayoutSegment(segmentId, text, this.#rate);
    }
  }

  /** The samples are stored without a copy. Ignored for a segment that no longer exists. */
  append(replyId: number, segmentId: number, samples: Int16Array): void {
    this.#segment(replyId, segmentId)?.append(samples);
  }

  word(replyId: number, segmentId: number, textOffset: number, atMs: number): void {
    this.#segment(replyId, segmentId)?.addWord(textOffset, atMs);
  }

  /** The length that the segment will have, for the places of its words while its audio is still to come. */
  expect(replyId: number, segmentId: number, durationMs: number): void {
    const segment = this.#segment(replyId, segmentId);
    if (segment !== undefined) segment.expected = msToSamples(durationMs, this.#rate);
  }

  /** No more audio of this segment comes. @param whole false when the voice failed before the end of the text */
  endSegment(replyId: number, segmentId: number, whole: boolean): void {
    this.#segment(replyId, segmentId)?.end(whole);
  }

  receivedMs(replyId: number, segmentId: number): number {
    return samplesToMs(this.#segment(replyId, segmentId)?.received ?? 0, this.#rate);
  }

  /** Audio of the segment that waits to be handed out, in ms. */
  unsentMs(replyId: number, segmentId: number): number {
    const segment = this.#segment(replyId, segmentId);
    return segment === undefined ? 0 : samplesToMs(segment.received - segment.sent, this.#rate);
  }

  /** Opens the reply for playout; it follows any reply that is open already. */
  open(replyId: number): void {
    for (const other of this.#replies.values()) {
      if (other.open && other.segments.length === 0) this.#replies.delete(other.replyId);
    }
    const reply = this.#reply(replyId);
    // Replies are played in the order in which they were opened.
    this.#replies.delete(replyId);
    this.#replies.set(replyId, reply);
    reply.open = true;
  }

  /** Sends no more of the reply. What was sent and not heard is taken back and will be sent again. */
  pause(replyId: number, nowMs: number): HeardPosition {
    this.advance(nowMs);
    const reply = this.#replies.get(replyId);
    if (reply === undefined) return NOTHING_HEARD;
    this.#takeBack(reply, nowMs);
    reply.paused = true;
    return reply.lastHeard;
  }

  resume(replyId: number): void {
    const reply = this.#replies.get(replyId);
    if (reply !== undefined) reply.paused = false;
  }

  /** Drops the segments after this one of which nothing was handed out. Returns their ids. */
  limit(replyId: number, segmentId: number): readonly number[] {
    const segments = this.#replies.get(replyId)?.segments ?? [];
    const first = segments.findIndex((segment) => segment.segmentId > segmentId && !segment.started);
    return first === -1 ? [] : segments.splice(first).map((segment) => segment.segmentId);
  }

  /** Drops everything of the reply that was not heard. */
  clear(replyId: number, nowMs: number): HeardPosition {
    this.advance(nowMs);
    const reply = this.#replies.get(replyId);
    if (reply === undefined) return NOTHING_HEARD;
    this.#takeBack(reply, nowMs);
    this.#replies.delete(replyId);
    return reply.lastHeard;
  }

  /**
   * Hands out the frames that may be sent now; returns how many. `mark` asks for an echo of this position, to be passed
   * to `played`.
   */
  take(nowMs: number, send: (frame: Int16Array) => void, mark?: (position: number) => void): number {
    this.advance(nowMs);
    let count = 0;
    while (count < FRAMES_PER_TAKE) {
      const next = this.#next();
      if (next === null) {
        this.#dry = true;
        break;
      }
      const late = nowMs - this.#endsAtMs;
      const startMs = late > (this.#dry ? 0 : CATCH_UP_MS) ? nowMs : this.#endsAtMs;
      if (startMs + this.#frameMs - nowMs > this.#aheadMs + EARLY_MS) break;
      this.#dry = false;
      this.#send(next.reply, next.segment, startMs, send);
      if (mark !== undefined) this.#mark(next.segment, mark);
      count += 1;
    }
    return count;
  }

  /** The other side has played what was handed out before the mark of this position. Unknown marks are ignored. */
  played(position: number, nowMs: number): void {
    const index = this.#marks.findIndex((mark) => mark.position === position);
    const mark = this.#marks[index];
    if (mark === undefined) return;
    this.#marks.splice(0, index + 1);
    // Nobody hears audio before its time: an early echo, of a clock that is fast, counts as punctual.
    this.#lagMs = Math.min(LONGEST_LAG_MS, Math.max(0, nowMs - mark.dueMs));
    this.advance(nowMs);
  }

  /**
   * Something came from the other side at this time. From the first call on, nothing counts as heard while the other side
   * is silent, because the connection may be lost.
   */
  heardFrom(nowMs: number): void {
    this.#heardFromMs = nowMs;
  }

  /** Counts what was heard up to now. `take`, `pause` and `clear` do it by themselves. */
  advance(nowMs: number): void {
    let gone = 0;
    const heardUntilMs = this.#certainMs(nowMs) - this.#lagMs;
    for (const frame of this.#sent) {
      const position = Math.floor(((heardUntilMs - frame.startMs) * this.#rate) / 1_000);
      if (position <= 0) break;
      this.#hear(frame, Math.min(position, frame.samples.length));
      if (position < frame.samples.length) break;
      gone += 1;
    }
    if (gone > 0) this.#sent.splice(0, gone);
    this.#finishHeard();
  }

  /** The time up to which the other side was there. */
  #certainMs(nowMs: number): number {
    if (this.#heardFromMs === null) return nowMs;
    return Math.max(Math.min(nowMs, this.#heardFromMs + SILENCE_SLACK_MS), nowMs - LONGEST_DOUBT_MS);
  }

  #send(reply: Reply, segment: PlayoutSegment, startMs: number, send: (frame: Int16Array) => void): void {
    const beginsWithin = this.#wasCut && segment.sent > 0;
    const own = segment.cut(this.#frame);
    this.#wasCut = false;
    let samples = own;
    if (own.length < this.#frame) {
      samples = new Int16Array(this.#frame);
      samples.set(own);
    }
    this.#endsAtMs = startMs + this.#frameMs;
    this.#position += samples.length;
    this.#sent.push({ reply, segment, samples, own: own.length, end: segment.sent, startMs, reported: 0 });
    if (!segment.started) {
      segment.started = true;
      this.#listener.started(reply.replyId, segment.segmentId);
    }
    send(beginsWithin ? fadedIn(samples, this.#rate) : samples);
  }

  #mark(segment: PlayoutSegment, mark: (position: number) => void): void {
    const isLast = segment.complete && segment.sent >= segment.received;
    const unmarkedMs = samplesToMs(this.#position - this.#markedAt, this.#rate);
    if (!isLast && unmarkedMs < MARK_EVERY_MS - EARLY_MS) return;
    this.#markedAt = this.#position;
    this.#marks.push({ position: this.#position, dueMs: this.#endsAtMs });
    if (this.#marks.length > MOST_MARKS) this.#marks.shift();
    mark(this.#position);
  }

  /** The segment that the next frame is cut from; null when none may or can be. */
  #next(): { readonly reply: Reply; readonly segment: PlayoutSegment } | null {
    for (const reply of this.#replies.values()) {
      if (!reply.open) continue;
      for (const segment of reply.segments) {
        const left = segment.received - segment.sent;
        if (left === 0 && segment.complete) continue;
        if (reply.paused || left === 0 || (left < this.#frame && !segment.complete)) return null;
        return { reply, segment };
      }
      if (reply.paused) return null;
    }
    return null;
  }

  #hear(frame: SentFrame, upTo: number): void {
    const { reply, segment } = frame;
    if (upTo > frame.reported) {
      const startMs = frame.startMs + samplesToMs(frame.reported, this.#rate);
      this.#listener.heard(frame.samples.subarray(frame.reported, upTo), startMs);
      frame.reported = upTo;
    }
    const heard = frame.end - frame.own + Math.min(upTo, frame.own);
    const another = segment.advance(heard);
    reply.lastHeard = { segmentId: segment.segmentId, heardChars: segment.heardChars };
    if (!another) return;
    const playedMs = samplesToMs(segment.heard, this.#rate);
    this.#listener.advanced(reply.replyId, segment.segmentId, segment.heardChars, playedMs);
  }

  /** Ends the segments of open replies that have been heard, or that stayed empty, once their turn has come. */
  #finishHeard(): void {
    for (const reply of this.#replies.values()) {
      if (!reply.open) continue;
      while (!reply.paused) {
        const segment = reply.segments[0];
        if (segment === undefined || !segment.done) break;
        if (this.#sent.some((frame) => frame.segment === segment)) break;
        reply.segments.shift();
        if (segment.heard > 0) {
          reply.lastHeard = { segmentId: segment.segmentId, heardChars: segment.heardChars };
        }
        const playedMs = samplesToMs(segment.heard, this.#rate);
        this.#listener.finished(reply.replyId, segment.segmentId, playedMs);
      }
      // The next reply's turn has not come.
      if (reply.segments.length > 0) return;
    }
  }

  #takeBack(reply: Reply, nowMs: number): void {
    if (!this.#sent.some((frame) => frame.reply === reply)) return;
    const playing = this.#sent.slice(0, 2).flatMap((frame) => [...frame.samples.subarray(frame.reported)]);
    for (const frame of this.#sent) frame.segment.rewind();
    this.#sent = [];
    this.#marks = [];
    this.#markedAt = this.#position;
    this.#endsAtMs = nowMs;
    this.#dry = true;
    this.#wasCut = true;
    this.#listener.takenBack?.(fadedOut(Int16Array.from(playing), this.#rate, this.#frame));
  }

  #reply(replyId: number): Reply {
    const known = this.#replies.get(replyId);
    if (known !== undefined) return known;
    const reply: Reply = { replyId, segments: [], open: false, paused: false, lastHeard: NOTHING_HEARD };
    this.#replies.set(replyId, reply);
    return reply;
  }

  #segment(replyId: number, segmentId: number): PlayoutSegment | undefined {
    return this.#replies.get(replyId)?.segments.find((segment) => segment.segmentId === segmentId);
  }
}
