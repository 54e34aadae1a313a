/** The audio of the browser's fake microphone: recorded words, repeated after quiet. It restarts with each call. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wavHeader } from "../../server/src/media/wav.ts";
import { speechAfterSilence } from "../../server/test/client/speech.ts";

/** Long enough for a join and a short greeting; a long greeting is interrupted. */
const QUIET_SECONDS = 6;
/** A busy machine may join when the words are over. Most calls have ended before they come again. */
const SECONDS_UNTIL_AGAIN = 20;
const REPETITIONS = 5;
const RATE_HZ = 16_000;

export interface MicrophoneFile {
  readonly path: string;
  remove(): Promise<void>;
}

export async function writeMicrophoneFile(): Promise<MicrophoneFile> {
  const folder = await mkdtemp(join(tmpdir(), "parley-console-microphone-"));
  const path = join(folder, "microphone.wav");
  const once = (await speechAfterSilence(QUIET_SECONDS)).subarray(0, SECONDS_UNTIL_AGAIN * RATE_HZ);
  const speech = new Int16Array(once.length * REPETITIONS);
  for (let at = 0; at < speech.length; at += once.length) speech.set(once, at);
  const { buffer, byteOffset, byteLength } = speech;
  const header = wavHeader({ sampleRateHz: RATE_HZ, channels: 1 }, byteLength);
  await writeFile(path, Buffer.concat([header, new Uint8Array(buffer, byteOffset, byteLength)]));
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
}
