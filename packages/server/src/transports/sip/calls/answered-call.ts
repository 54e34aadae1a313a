/** One answered call: what its signalling, its media and its agent tell each other. */

import type { SipTermination } from "@parley/schema";
import type { OpenSipTransport, SipCallOwner } from "../../../ports/sip-calls.ts";
import type {
  HoldMusic,
  ReferOutcome,
  ReferRequest,
  TransferableCall,
} from "../../../ports/sip/sip-transfers.ts";
import type { LegTransport } from "../../rtc/leg.ts";
import type { MediaFigures } from "../../rtc/rtp-media.ts";
import type { SipMedia, SuccessorMedia } from "../media/sip-media.ts";
import type { MediaEncryption } from "../sdp/offer-answer.ts";
import { SdpError } from "../sdp/description.ts";
import type { IncomingRefer, SipCall, SipCallEnd, SipCallListener } from "../user-agent.ts";
import { AgentLine } from "./agent-line.ts";
import { type ReferAttempt, referAttempt, replacing } from "./refer-attempt.ts";
import { resampled } from "./resampled.ts";

/** The close code of a medium whose call was lost, not hung up. */
const CODE_LOST = 1006;
const CODE_REGULAR = 1000;
/** An agent whose call has been transferred leaves at once; one that does not is made to. */
const LEAVE_LIMIT_MS = 15_000;
/** Two people talk for an hour. A bridge of two answering machines must not last until the next start. */
export const BRIDGE_LIMIT_MS = 4 * 3_600_000;

export interface AnsweredCallOptions {
  readonly owner: SipCallOwner;
  readonly media: SipMedia;
  /** Where the far side is reached, as far as it cannot choose that itself. */
  readonly peerUri: string;
  /** Called once, when the signalling is over. @param talkedMs since the answer */
  readonly ended: (termination: SipTermination, talkedMs: number) => void;
  /** Called once after `ended`, unless nothing was measured. */
  readonly measured: (figures: MediaFigures) => void;
  /** The far side wants the call to go elsewhere. */
  readonly referred: (refer: IncomingRefer, call: AnsweredCall) => void;
  /** An error of this code. */
  readonly faulted: (error: unknown) => void;
}

export class AnsweredCall implements TransferableCall {
  readonly #options: AnsweredCallOptions;
  readonly #answeredAtMs = performance.now();
  readonly #firstAnswer = Promise.withResolvers<boolean>();
  readonly #over = Promise.withResolvers<void>();
  readonly #keyListeners = new Set<(key: string) => void>();
  #call: SipCall | null = null;
  #line: AgentLine | null = null;
  #transport: LegTransport | null = null;
  #refer: ReferAttempt | null = null;
  #partner: AnsweredCall | null = null;
  #music: HoldMusic | null = null;
  #bridgeTimer: NodeJS.Timeout | null = null;
  #isOver = false;
  /** Whose requests count: somebody else may take the place of the far side. */
  #side: object = {};
  #isMoving = false;
  /** How it has ended, while somebody else is called in its place. */
  #leftBy: SipCallEnd | null = null;
  /** Of the far side that was there at first, once somebody else has taken its place. */
  #talkedMs: number | null = null;

  constructor(options: AnsweredCallOptions) {
    this.#options = options;
  }

  get owner(): SipCallOwner {
    return this.#options.owner;
  }

  get peerUri(): string {
    return this.#options.peerUri;
  }

  /** True once the other side has answered an offer of ours in the 200; false: the call has ended before. */
  get firstAnswer(): Promise<boolean> {
    return this.#firstAnswer.promise;
  }

  get over(): Promise<void> {
    return this.#over.promise;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  begin(call: SipCall): void {
    this.#call = call;
  }

  /** What the far side does; without effect once somebody else has taken its place. */
  get listener(): SipCallListener {
    const side = this.#side;
    const isCurrent = (): boolean => this.#side === side;
    return {
      offered: (sdp) => (isCurrent() ? orNull(() => this.#options.media.answer(sdp)) : null),
      offerWanted: () => (isCurrent() ? this.#options.media.offer() : null),
      answered: (sdp) => (isCurrent() ? this.#answered(sdp) : undefined),
      digit: (key) => (isCurrent() ? this.#pressed(key) : undefined),
      referred: (refer) => (isCurrent() ? this.#referred(refer) : refer.reject(603)),
      ended: (end) => (isCurrent() ? this.#left(end) : undefined),
    };
  }

  /** Makes the media the medium of a call. */
  readonly open: OpenSipTransport = (listener) => {
    const line = new AgentLine(listener);
    this.#line = line;
    const transport = this.#attach(line);
    return line.transportOf(transport);
  };

  /** The media have no agent: nobody hears the far side, until it is bridged. */
  openAside(): void {
    this.#attach(null);
  }

  #attach(line: AgentLine | null): LegTransport {
    this.#transport = this.#options.media.attach({
      audio: (samples) => line?.heard.audio(samples),
      data: (text, tooLong) => line?.heard.data(text, tooLong),
      problem: (problem) => line?.heard.problem(problem),
      digit: (key) => this.#pressed(key),
      played: (position) => line?.heard.played(position),
      closed: (regular, code) => {
        line?.close(regular, code);
        this.hangUp();
      },
    });
    if (this.#isOver) this.#transport.hangUp();
    return this.#transport;
  }

  hangUp(): void {
    this.#isMoving = false;
    if (this.#leftBy === null) this.#call?.hangUp();
    else this.#ended({ cause: "local", reason: null });
    void this.#options.media.close();
  }

  hold(music: HoldMusic | null): void {
    this.#line?.hold(true);
    // What the agent was saying is not for hold.
    this.#transport?.clearAudio?.(new Int16Array(0));
    this.#music = music;
    if (music !== null) void this.#play(music).catch(this.#options.faulted);
  }

  async #play(music: HoldMusic): Promise<void> {
    const rateHz = this.#transport?.outputSampleRateHz;
    if (rateHz === undefined) return;
    const samples = await resampled(music.samples, music.sampleRateHz, rateHz);
    if (this.#music === music && !this.#isOver) this.#options.media.playMusic(samples);
  }

  resume(): void {
    this.#music = null;
    this.#options.media.playMusic(null);
    this.#line?.hold(false);
  }

  async refer(to: string, request: ReferRequest): Promise<ReferOutcome> {
    if (this.#call === null || this.#isOver || this.#refer !== null || this.#isMoving)
      return { kind: "refused", status: 491, reason: "The call is over, or is being transferred" };
    const attempt = referAttempt(this.#call, to, request);
    this.#refer = attempt;
    const outcome = await attempt.outcome;
    this.#refer = null;
    return outcome;
  }

  referTo(other: TransferableCall, request: ReferRequest): Promise<ReferOutcome> {
    const replaced = other instanceof AnsweredCall ? other.#call : null;
    if (replaced === null || other.isOver)
      return Promise.resolve({ kind: "refused", status: 481, reason: "The other call is over" });
    return this.refer(replacing(replaced), request);
  }

  bridge(other: TransferableCall): boolean {
    if (!(other instanceof AnsweredCall) || this.#isOver || other.#isOver) return false;
    if (this.#partner !== null || other.#partner !== null) return false;
    if (!this.#options.media.bridge(other.#options.media)) return false;
    this.#join(other);
    other.#join(this);
    return true;
  }

  #join(partner: AnsweredCall): void {
    this.#partner = partner;
    this.#music = null;
    this.#bridgeTimer = setTimeout(() => this.hangUp(), BRIDGE_LIMIT_MS);
    void this.keep();
  }

  keep(): Promise<void> {
    const line = this.#line;
    if (line === null) return Promise.resolve();
    line.keep();
    const late = setTimeout(() => line.close(true, CODE_REGULAR), LEAVE_LIMIT_MS);
    return line.closed.then(() => clearTimeout(late));
  }

  onKey(pressed: (key: string) => void): () => void {
    this.#keyListeners.add(pressed);
    return () => this.#keyListeners.delete(pressed);
  }

  #pressed(key: string): void {
    for (const pressed of this.#keyListeners) pressed(key);
    this.#line?.heard.digit(key);
  }

  #answered(sdp: string): void {
    const accepted = orNull(() => {
      this.#options.media.accept(sdp);
      return true;
    });
    if (accepted === null) this.hangUp();
    else this.#firstAnswer.resolve(true);
  }

  #referred(refer: IncomingRefer): void {
    // Without an agent, or while we ask the far side to go elsewhere, nobody is there who could go along.
    const isFree = this.#line !== null && this.#partner === null && this.#refer === null && !this.#isMoving;
    if (isFree) this.#options.referred(refer, this);
    else refer.reject(603);
  }

  /** Somebody is called in the place of the far side, who may leave meanwhile. False: that is not possible. */
  beginMove(): boolean {
    if (this.#isOver || this.#isMoving || this.#partner !== null || this.#refer !== null) return false;
    this.#isMoving = true;
    return true;
  }

  successor(encryption: MediaEncryption): SuccessorMedia {
    return this.#options.media.successor(encryption);
  }

  /** They have answered, and have the media: from now on they are the far side. Returns the call with the former one. */
  moved(call: SipCall): SipCall | null {
    const former = this.#leftBy === null ? this.#call : null;
    this.#talkedMs ??= performance.now() - this.#answeredAtMs;
    this.#isMoving = false;
    this.#leftBy = null;
    this.#side = {};
    this.#call = call;
    return former;
  }

  /** They have not. */
  notMoved(): void {
    this.#isMoving = false;
    if (this.#leftBy !== null) this.#ended(this.#leftBy);
  }

  #left(end: SipCallEnd): void {
    if (!this.#isMoving || end.cause === "local") {
      this.#ended(end);
      return;
    }
    this.#leftBy = end;
    this.#options.media.pause();
  }

  #ended({ cause }: SipCallEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#firstAnswer.resolve(false);
    const isRegular = cause === "remote" || cause === "local";
    // The end of the call is then the success of the transfer, which the agent hears first.
    const hasLeft = cause === "remote" && this.#refer?.isAccepted() === true;
    if (hasLeft) {
      this.#refer?.left();
      void this.keep();
    }
    const { ended } = this.#options;
    if (this.#transport !== null && !hasLeft) {
      if (isRegular) this.#transport.hangUp();
      else this.#transport.close(CODE_LOST, cause);
    }
    void this.#release(hasLeft).catch(this.#options.faulted);
    if (this.#bridgeTimer !== null) clearTimeout(this.#bridgeTimer);
    this.#partner?.hangUp();
    this.#over.resolve();
    ended(isRegular ? "NORMAL" : "UNKNOWN", this.#talkedMs ?? performance.now() - this.#answeredAtMs);
  }

  /** The last figures come with the end of the media. */
  async #release(afterAgent: boolean): Promise<void> {
    const { media, measured } = this.#options;
    if (afterAgent) await this.#line?.closed;
    await media.close();
    if (media.figures !== null) measured(media.figures);
  }
}

/** Null: the description cannot be used. */
function orNull<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof SdpError) return null;
    throw error;
  }
}
