/** What fakes of voice vendors say: audio that depends on its text, so that a test recognises a mix-up, and word times. */

/** Audio of one character. The longest text of the conformance suite takes half a second. */
export const MS_PER_CHAR = 5;

/** Loud samples, different for each text; none for a text without a letter or a digit. */
export function fakeSpeech(text: string, sampleRateHz: number, msPerChar = MS_PER_CHAR): Int16Array {
  const isSpoken = /[\p{L}\p{N}]/u.test(text);
  const length = isSpoken ? Math.round((text.length * msPerChar * sampleRateHz) / 1_000) : 0;
  let seed = 1;
  for (const char of text) seed = (seed * 31 + (char.codePointAt(0) ?? 0)) % 9_973;
  return Int16Array.from({ length }, (_, at) => ((seed + at * 7_919) % 24_000) - 12_000);
}

/** What a benchmark of adapters sets and hears of a fake. */
export interface FakePace {
  /** Default `MS_PER_CHAR`. */
  readonly msPerChar?: number;
  /** A text has come, and the first of its audio is given to the network. */
  readonly observe?: (what: "text" | "audio", text: string) => void;
}

/** The first frame is told to the observer. */
export function observed(
  frames: readonly (() => void)[],
  text: string,
  { observe }: FakePace,
): (() => void)[] {
  return frames.map((frame, index) =>
    index > 0 || observe === undefined
      ? frame
      : () => {
          observe("audio", text);
          frame();
        },
  );
}

export interface FakeWord {
  readonly word: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** Each word sounds while its characters do. */
export function fakeWords(text: string, msPerChar = MS_PER_CHAR): FakeWord[] {
  if (!/[\p{L}\p{N}]/u.test(text)) return [];
  return [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({
    word,
    startSeconds: (index * msPerChar) / 1_000,
    endSeconds: ((index + word.length) * msPerChar) / 1_000,
  }));
}

/** Little-endian bytes in pieces of `pieceBytes`, which may split a sample. */
export function piecesOf(bytes: Uint8Array, pieceBytes: number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) pieces.push(bytes.subarray(at, at + pieceBytes));
  return pieces;
}
