/**
 * The audio of the browser's fake microphone: quiet, recorded words, quiet, the words again, quiet. It restarts with
 * each call.
 */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wavHeader } from "../../server/src/media/wav.ts";
import { speechAfterSilence } from "../../server/test/client/speech.ts";

/** Long enough for a join and a short greeting; a long greeting is interrupted. */
const QUIET_SECONDS = 6;
/** A busy machine may join when the words are over. Most calls have ended before they come again. */
const SECONDS_UNTIL_AGAIN = 20;
const RATE_HZ = 16_000;

export interface MicrophoneFile {
  readonly path: string;
  remove(): Promise<void>;
}

export async function writeMicrophoneFile(): Promise<MicrophoneFile> {
  const folder = await mkdtemp(join(tmpdir(), "parley-console-microphone-"));
  const path = join(folder, "microphone.wav");
  const speech = await speechAfterSilence(QUIET_SECONDS);
  speech.copyWithin(SECONDS_UNTIL_AGAIN * RATE_HZ, 0, (speech.length / 2) | 0);
  const { buffer, byteOffset, byteLength } = speech;
  const header = wavHeader({ sampleRateHz: RATE_HZ, channels: 1 }, byteLength);
  await writeFile(path, Buffer.concat([header, new Uint8Array(buffer, byteOffset, byteLength)]));
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
}
