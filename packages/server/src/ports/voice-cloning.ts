/** Port for making a voice from a recording at a vendor. */

import type { VoiceKind } from "@parley/schema";

export interface VoiceRecording {
  readonly bytes: Uint8Array;
  readonly mediaType: "audio/mpeg" | "audio/wav";
}

export interface CloneRequest {
  readonly name: string;
  readonly description: string | null;
  /** BCP 47: what is spoken in the recording. */
  readonly language: string;
  readonly recording: VoiceRecording;
}

export interface VoiceCloner {
  readonly kind: VoiceKind;
  /** The name of the vendor, for people. */
  readonly name: string;
  /**
   * Resolves with the vendor's id of the new voice, which can speak at once.
   * @throws EngineFailure with the vendor's own sentence, without the key; an `AbortError` when `signal` aborts
   */
  clone(request: CloneRequest, key: string, signal: AbortSignal): Promise<string>;
  /** Removes a voice that `clone` made. One that is gone is no failure. */
  remove(voiceId: string, key: string, signal: AbortSignal): Promise<void>;
}
