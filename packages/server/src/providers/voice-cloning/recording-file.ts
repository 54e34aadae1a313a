/** A recording as a file of a form. */

import type { VoiceRecording } from "../../ports/voice-cloning.ts";

export function recordingFile({ bytes, mediaType }: VoiceRecording): File {
  // Vendors look at the ending as well.
  const name = mediaType === "audio/wav" ? "recording.wav" : "recording.mp3";
  return new File([new Uint8Array(bytes)], name, { type: mediaType });
}

/** `de` of `de-CH`. */
export function primaryLanguage(tag: string): string {
  return (tag.split("-", 1)[0] ?? tag).toLowerCase();
}
