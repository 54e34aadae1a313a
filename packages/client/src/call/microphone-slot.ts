/** Which track the agent hears, and whether it is muted. */

import type { Sound } from "../audio/sound.ts";
import { CallError } from "./call-error.ts";

export class Microphone {
  /** Called when the device is lost. */
  lost: (error: CallError) => void = () => undefined;
  /** Replaces the track of the connection, if there is one. */
  send: (track: MediaStreamTrack) => Promise<void> = () => Promise.resolve();
  readonly #sound: Sound;
  #own: MediaStreamTrack | null = null;
  /** Whether we opened the track and must stop it. */
  #isOurs = false;
  #muted = false;

  constructor(sound: Sound) {
    this.#sound = sound;
  }

  /** The track that is sent: the microphone, or silence without one. */
  get track(): MediaStreamTrack {
    return this.#own ?? this.#sound.silentTrack();
  }

  /** Null without a microphone. */
  get own(): MediaStreamTrack | null {
    return this.#own;
  }

  get muted(): boolean {
    return this.#muted;
  }

  set muted(muted: boolean) {
    this.#muted = muted;
    // The connection stays open and sends silence.
    if (this.#own !== null) this.#own.enabled = !muted;
  }

  /** @param isOurs whether to stop the track when it is no longer used */
  async use(track: MediaStreamTrack | false, isOurs = false): Promise<void> {
    const heard = track === false ? this.#sound.silentTrack() : track;
    if (track !== false) track.enabled = !this.#muted;
    try {
      await this.send(heard);
    } catch (cause) {
      if (isOurs && track !== false) track.stop();
      throw new CallError("microphone_failed", "The connection does not accept this microphone.", { cause });
    }
    if (track !== this.#own) this.#release();
    this.#own = track === false ? null : track;
    this.#isOurs = isOurs;
    this.#own?.addEventListener("ended", this.#ended);
    this.#sound.hear(heard);
  }

  close(): void {
    this.#release();
    this.#own = null;
  }

  #release(): void {
    if (this.#own === null) return;
    this.#own.removeEventListener("ended", this.#ended);
    if (this.#isOurs) this.#own.stop();
    else this.#own.enabled = true;
  }

  readonly #ended = (): void => {
    // Silence replaces it. If that fails too, the connection is lost and reports it.
    this.use(false).catch(() => undefined);
    this.lost(
      new CallError(
        "microphone_failed",
        "The microphone was lost: it was unplugged or its permission was revoked.",
      ),
    );
  };
}
