/** Recorded human speech of the repository, for tests. */

import { readFileSync } from "node:fs";

const FIXTURES = new URL("../../../../../fixtures/speech/", import.meta.url);

/** The samples of a 16 kHz mono s16 WAV file; throws on any other kind. */
export function readSpeechFile(path: string | URL): Int16Array {
  const file = readFileSync(path);
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const tag = (at: number): string => file.toString("latin1", at, at + 4);
  if (tag(0) !== "RIFF" || tag(8) !== "WAVE") throw new Error(`${String(path)} is not a WAV file`);
  let isRightKind = false;
  for (let at = 12; at + 8 <= file.length;) {
    const size = view.getUint32(at + 4, true);
    const body = at + 8;
    if (tag(at) === "fmt ") {
      isRightKind =
        view.getUint16(body, true) === 1 &&
        view.getUint16(body + 2, true) === 1 &&
        view.getUint32(body + 4, true) === 16_000 &&
        view.getUint16(body + 14, true) === 16;
    }
    if (tag(at) === "data") {
      if (!isRightKind) throw new Error(`${String(path)} is not 16 kHz mono s16`);
      const count = Math.floor(Math.min(size, file.length - body) / 2);
      return Int16Array.from({ length: count }, (_, index) => view.getInt16(body + 2 * index, true));
    }
    at = body + size + (size % 2);
  }
  throw new Error(`${String(path)} has no audio`);
}

/** One of `fixtures/speech`, for example `jfk.wav`. */
export function readSpeechFixture(name: string): Int16Array {
  return readSpeechFile(new URL(name, FIXTURES));
}
