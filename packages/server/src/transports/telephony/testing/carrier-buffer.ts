/** The audio that a carrier has been sent and plays in real time. Time comes in as a number. */

interface QueuedAudio {
  readonly kind: "audio";
  readonly samples: Int16Array;
  /** Samples of it that were played. */
  played: number;
}

type Queued = QueuedAudio | { readonly kind: "mark"; readonly name: string };

export interface PlayedAudio {
  readonly samples: Int16Array;
  readonly startMs: number;
}

export class CarrierBuffer {
  readonly #rate: number;
  readonly #echo: (name: string) => void;
  readonly #queue: Queued[] = [];
  /** Up to here time has passed for what is queued. */
  #atMs = 0;
  readonly played: PlayedAudio[] = [];

  /** @param echo the audio before this mark has been played, or was dropped */
  constructor(sampleRateHz: number, echo: (name: string) => void) {
    this.#rate = sampleRateHz;
    this.#echo = echo;
  }

  get bufferedMs(): number {
    let samples = 0;
    for (const item of this.#queue) if (item.kind === "audio") samples += item.samples.length - item.played;
    return (samples * 1_000) / this.#rate;
  }

  /** What was played so far, joined, without the silence between. */
  heard(): Int16Array {
    const all = new Int16Array(this.played.reduce((sum, { samples }) => sum + samples.length, 0));
    let offset = 0;
    for (const { samples } of this.played) {
      all.set(samples, offset);
      offset += samples.length;
    }
    return all;
  }

  push(samples: Int16Array, nowMs: number): void {
    this.advance(nowMs);
    this.#queue.push({ kind: "audio", samples, played: 0 });
  }

  mark(name: string, nowMs: number): void {
    this.#queue.push({ kind: "mark", name });
    this.advance(nowMs);
  }

  /** @param finishesBegun what has begun to play is played to its end */
  clear(
    nowMs: number,
    { echoes, finishesBegun }: { readonly echoes: boolean; readonly finishesBegun: boolean },
  ): void {
    this.advance(nowMs);
    const [first, ...others] = this.#queue.splice(0);
    if (first?.kind === "audio" && finishesBegun && first.played > 0) this.#queue.push(first);
    else if (first !== undefined) others.unshift(first);
    for (const item of others) if (item.kind === "mark" && echoes) this.#echo(item.name);
  }

  advance(nowMs: number): void {
    for (let item = this.#queue[0]; item !== undefined; item = this.#queue[0]) {
      if (item.kind === "mark") {
        this.#queue.shift();
        this.#echo(item.name);
        continue;
      }
      const due = Math.floor(((nowMs - this.#atMs) * this.#rate) / 1_000);
      const count = Math.min(due, item.samples.length - item.played);
      if (count > 0) {
        this.played.push({
          samples: item.samples.subarray(item.played, item.played + count),
          startMs: this.#atMs,
        });
        item.played += count;
        this.#atMs += (count * 1_000) / this.#rate;
      }
      if (item.played < item.samples.length) return;
      this.#queue.shift();
    }
    this.#atMs = Math.max(this.#atMs, nowMs);
  }
}
