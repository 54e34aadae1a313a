/** Checks by their first bytes whether a file is a recording of a type that voices can be made from. */

const ID3 = [0x49, 0x44, 0x33];
const RIFF = [0x52, 0x49, 0x46, 0x46];
const WAVE = [0x57, 0x41, 0x56, 0x45];
const WAVE_OFFSET = 8;

/** MP3 or WAV. */
export function isVoiceSample(bytes: Uint8Array): boolean {
  const isWav = holds(bytes, RIFF, 0) && holds(bytes, WAVE, WAVE_OFFSET);
  return isWav || holds(bytes, ID3, 0) || beginsMp3Frame(bytes);
}

function holds(bytes: Uint8Array, wanted: readonly number[], at: number): boolean {
  return wanted.every((byte, index) => bytes[at + index] === byte);
}

/** ISO/IEC 11172-3: eleven set bits, a version that is not reserved, layer III. */
function beginsMp3Frame([first = 0, second = 0]: Uint8Array): boolean {
  const version = (second >> 3) & 0b11;
  const layer = (second >> 1) & 0b11;
  return first === 0xff && (second & 0xe0) === 0xe0 && version !== 0b01 && layer === 0b01;
}
