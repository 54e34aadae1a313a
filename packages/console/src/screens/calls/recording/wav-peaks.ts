/**
 * Computes the peaks of both channels from the bytes of a WAV file as they arrive. Nothing is decoded as a whole, so an
 * hour needs no more memory than a second.
 */

export interface WavFormat {
  readonly sampleRateHz: number;
  readonly channels: number;
}

export interface Peaks {
  /** One list per channel, 0 to 1. */
  readonly channels: readonly Float32Array[];
  readonly durationMs: number;
}

/** More than a screen shows, even when a minute fills it. */
const PEAKS_PER_SECOND = 50;
/** Peaks per channel in the result, to keep drawing fast. */
export const MAX_PEAKS = 60_000;
/** Our headers have 44 bytes; others can have metadata before the audio. */
const MAX_HEADER_BYTES = 64 * 1024;
const FULL_SCALE = 32_768;
const SAMPLE_BYTES = 2;

export class NotAWavError extends Error {
  constructor() {
    super("The recording is not a 16-bit WAV file and cannot be shown here.");
  }
}

/** Offset of the audio; null: not enough bytes yet. @throws NotAWavError */
export function readWavHeader(bytes: Uint8Array): { format: WavFormat; dataAt: number } | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const name = (at: number) => String.fromCharCode(...bytes.subarray(at, at + 4));
  if (bytes.byteLength < 12) return null;
  if (name(0) !== "RIFF" || name(8) !== "WAVE") throw new NotAWavError();
  let format: WavFormat | null = null;
  for (let at = 12; at + 8 <= bytes.byteLength;) {
    const size = view.getUint32(at + 4, true);
    if (name(at) === "fmt ") {
      if (at + 24 > bytes.byteLength) return null;
      const channels = view.getUint16(at + 10, true);
      if (view.getUint16(at + 8, true) !== 1 || view.getUint16(at + 22, true) !== 16 || channels === 0) {
        throw new NotAWavError();
      }
      format = { channels, sampleRateHz: view.getUint32(at + 12, true) };
    }
    if (name(at) === "data") {
      if (format === null) throw new NotAWavError();
      return { format, dataAt: at + 8 };
    }
    at += 8 + size + (size % 2);
    if (at > MAX_HEADER_BYTES) throw new NotAWavError();
  }
  return null;
}

export class PeakReader {
  #header: Uint8Array | null = new Uint8Array(0);
  #format: WavFormat = { sampleRateHz: 1, channels: 1 };
  /** An incomplete frame from the end of the last bytes. */
  #rest = new Uint8Array(0);
  #moments = 0;
  #momentsPerPeak = 1;
  #inPeak = 0;
  #current: number[] = [];
  #peaks: number[][] = [];

  /** @throws NotAWavError */
  add(bytes: Uint8Array): void {
    if (this.#header === null) {
      this.#read(bytes);
      return;
    }
    this.#header = joined(this.#header, bytes);
    const found = readWavHeader(this.#header);
    if (found === null) return;
    const { format, dataAt } = found;
    const sound = this.#header.subarray(dataAt);
    this.#header = null;
    this.#format = format;
    this.#momentsPerPeak = Math.max(1, Math.round(format.sampleRateHz / PEAKS_PER_SECOND));
    this.#peaks = Array.from({ length: format.channels }, () => []);
    this.#current = this.#peaks.map(() => 0);
    this.#read(sound);
  }

  /** @throws NotAWavError if the bytes end before the audio */
  finish(): Peaks {
    if (this.#header !== null) throw new NotAWavError();
    if (this.#inPeak > 0) this.#keepPeak();
    return {
      channels: this.#peaks.map((peaks) => reduced(peaks, MAX_PEAKS)),
      durationMs: (this.#moments * 1000) / this.#format.sampleRateHz,
    };
  }

  #read(bytes: Uint8Array): void {
    const { channels } = this.#format;
    const momentBytes = channels * SAMPLE_BYTES;
    const all = this.#rest.byteLength === 0 ? bytes : joined(this.#rest, bytes);
    const whole = all.byteLength - (all.byteLength % momentBytes);
    const view = new DataView(all.buffer, all.byteOffset, whole);
    for (let at = 0; at < whole; at += momentBytes) {
      for (let channel = 0; channel < channels; channel += 1) {
        const level = Math.abs(view.getInt16(at + channel * SAMPLE_BYTES, true));
        if (level > (this.#current[channel] ?? 0)) this.#current[channel] = level;
      }
      this.#inPeak += 1;
      if (this.#inPeak === this.#momentsPerPeak) this.#keepPeak();
    }
    this.#moments += whole / momentBytes;
    this.#rest = all.slice(whole);
  }

  #keepPeak(): void {
    for (const [channel, level] of this.#current.entries()) this.#peaks[channel]?.push(level / FULL_SCALE);
    this.#current = this.#current.map(() => 0);
    this.#inPeak = 0;
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.byteLength + second.byteLength);
  both.set(first);
  both.set(second, first.byteLength);
  return both;
}

/** The maximum of each of `count` runs of equal length. */
export function reduced(peaks: readonly number[], most: number): Float32Array {
  if (peaks.length <= most) return Float32Array.from(peaks);
  const short = new Float32Array(most);
  for (const [at, peak] of peaks.entries()) {
    const to = Math.floor((at * most) / peaks.length);
    if (peak > (short[to] ?? 0)) short[to] = peak;
  }
  return short;
}
