/**
 * What the main thread and a thread of legs say to each other. Audio goes in batches: all frames of one tick of the
 * runner's clock one way, all packets of one turn of the thread's loop the other way, so that 30 calls cost some 150
 * messages a second each way and not 1,500.
 */

import type { TransportProblem } from "../../ports/transport.ts";
import type { LegOpening, LegRequest } from "./leg-request.ts";
import type { RtpTransportOptions, WebRtcTransportOptions } from "./leg.ts";
import type { PeerFaults } from "./peer.ts";
import type { MediaFigures, RtpMedia } from "./rtp-media.ts";

/** Pieces of audio of several legs, one after the other. Both arrays own their memory, which is transferred. */
export interface AudioBatch {
  /** For each piece the leg's id and the number of samples. */
  readonly index: Int32Array<ArrayBuffer>;
  readonly samples: Int16Array<ArrayBuffer>;
}

export type AttachOptions =
  ({ readonly kind: "webRtc" } & WebRtcTransportOptions) | ({ readonly kind: "rtp" } & RtpTransportOptions);

export type ToLegThread =
  | { readonly type: "open"; readonly legId: number; readonly request: LegRequest }
  | { readonly type: "attach"; readonly legId: number; readonly options: AttachOptions }
  /** Of WebRTC only. */
  | { readonly type: "restart"; readonly legId: number; readonly requestId: number; readonly offer: string }
  /** Of RTP only, like the marks, the keys and what is taken back below. */
  | { readonly type: "agree"; readonly legId: number; readonly media: RtpMedia }
  | { readonly type: "mark"; readonly legId: number; readonly position: number }
  | { readonly type: "clearAudio"; readonly legId: number; readonly tail: Int16Array }
  | { readonly type: "digits"; readonly legId: number; readonly digits: string }
  /** Played in a loop while nothing else is to be sent; null: silence. */
  | { readonly type: "music"; readonly legId: number; readonly samples: Int16Array | null }
  /** Each of the two sends what the other one hears; both are in this thread. */
  | { readonly type: "bridge"; readonly legId: number; readonly otherLegId: number }
  | { readonly type: "audio"; readonly batch: AudioBatch }
  | { readonly type: "text"; readonly legId: number; readonly text: string }
  | { readonly type: "probe"; readonly legId: number; readonly requestId: number; readonly limitMs: number }
  | { readonly type: "closeTransport"; readonly legId: number; readonly code: number }
  | { readonly type: "hangUp"; readonly legId: number }
  /** Let go of the leg, attached or not; answered by `gone`. */
  | { readonly type: "drop"; readonly legId: number }
  /** Answered by `pong` as soon as the thread has time for it. */
  | { readonly type: "ping"; readonly pingId: number }
  /** Let go of all legs and end the thread. */
  | { readonly type: "finish" };

export type FromLegThread =
  | { readonly type: "ready" }
  | { readonly type: "opened"; readonly legId: number; readonly opening: LegOpening }
  | { readonly type: "notOpened"; readonly legId: number; readonly noPort: boolean; readonly detail: string }
  | { readonly type: "connected"; readonly legId: number; readonly connected: boolean }
  /** `answer` is null when the restart failed, for the reason in `detail`. */
  | {
      readonly type: "restarted";
      readonly legId: number;
      readonly requestId: number;
      readonly answer: string | null;
      readonly detail: string;
    }
  | { readonly type: "audio"; readonly batch: AudioBatch }
  | { readonly type: "data"; readonly legId: number; readonly text: string; readonly tooLong: boolean }
  | { readonly type: "problem"; readonly legId: number; readonly problem: TransportProblem }
  | { readonly type: "digit"; readonly legId: number; readonly key: string }
  | { readonly type: "played"; readonly legId: number; readonly position: number }
  | { readonly type: "figures"; readonly legId: number; readonly figures: MediaFigures }
  | { readonly type: "probed"; readonly legId: number; readonly requestId: number; readonly alive: boolean }
  | { readonly type: "closed"; readonly legId: number; readonly regular: boolean; readonly code: number }
  | { readonly type: "gone"; readonly legId: number }
  /** The client has broken its protocols so often that the leg is ended. Once for each leg. */
  | { readonly type: "faulty"; readonly legId: number; readonly faults: PeerFaults }
  | { readonly type: "pong"; readonly pingId: number }
  /** Errors that end no leg: no leg could be named, or it was not encrypted yet. `count`: since the last report. */
  | { readonly type: "fault"; readonly count: number; readonly detail: string };

/** Collects pieces until they are taken. Memory grows to the largest batch and is kept. */
export class AudioBatcher {
  #index = new Int32Array(64);
  #samples = new Int16Array(32 * 320);
  #pieces = 0;
  #length = 0;

  get isEmpty(): boolean {
    return this.#pieces === 0;
  }

  /** Copied. */
  add(legId: number, piece: Int16Array): void {
    if (2 * this.#pieces + 2 > this.#index.length) this.#index = grown(this.#index, Int32Array);
    while (this.#length + piece.length > this.#samples.length) {
      this.#samples = grown(this.#samples, Int16Array);
    }
    this.#index[2 * this.#pieces] = legId;
    this.#index[2 * this.#pieces + 1] = piece.length;
    this.#samples.set(piece, this.#length);
    this.#pieces += 1;
    this.#length += piece.length;
  }

  take(): AudioBatch {
    const batch = {
      index: this.#index.slice(0, 2 * this.#pieces),
      samples: this.#samples.slice(0, this.#length),
    };
    this.#pieces = 0;
    this.#length = 0;
    return batch;
  }
}

function grown<Kind extends Int32Array<ArrayBuffer> | Int16Array<ArrayBuffer>>(
  old: Kind,
  make: new (length: number) => Kind,
): Kind {
  const larger = new make(2 * old.length);
  larger.set(old);
  return larger;
}

/** The pieces of a batch, as views of it. */
export function eachPiece(
  { index, samples }: AudioBatch,
  take: (legId: number, piece: Int16Array) => void,
): void {
  let at = 0;
  for (let i = 0; i + 1 < index.length; i += 2) {
    const length = index[i + 1] ?? 0;
    take(index[i] ?? -1, samples.subarray(at, at + length));
    at += length;
  }
}
