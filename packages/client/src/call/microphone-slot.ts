/** Which track the agent hears, and whether it is muted. */

import type { Sound } from "../audio/sound.ts";
import { CallError } from "./call-error.ts";

export class Microphone {
  /** Told when the device is gone. */
  lost: (error: CallError) => void = () => undefined;
  /** Gives another track to the connection, when there is one. */
  send: (track: MediaStreamTrack) => Promise<void> = () => Promise.resolve();
  readonly #sound: Sound;
  #own: MediaStreamTrack | null = null;
  /** Whether the track is ours to stop. */
  #isOurs = false;
  #muted = false;

  constructor(sound: Sound) {
    this.#sound = sound;
  }

  /** What is sent: the microphone, or silence where there is none. */
  get track(): MediaStreamTrack {
    return this.#own ?? this.#sound.silentTrack();
  }

  /** Null: there is no microphone. */
  get own(): MediaStreamTrack | null {
    return this.#own;
  }

  get muted(): boolean {
    return this.#muted;
  }

  set muted(muted: boolean) {
    this.#muted = muted;
    // The line stays open and carries silence.
    if (this.#own !== null) this.#own.enabled = !muted;
  }

  /** @param isOurs whether to stop the track when it is used no more */
  async use(track: MediaStreamTrack | false, isOurs = false): Promise<void> {
    const heard = track === false ? this.#sound.silentTrack() : track;
    if (track !== false) track.enabled = !this.#muted;
    try {
      await this.send(heard);
    } catch (cause) {
      if (isOurs && track !== false) track.stop();
      throw new CallError("microphone_failed", "The connection does not take this microphone.", { cause });
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
    // Silence takes its place; if even that fails, the connection is gone and says so itself.
    this.use(false).catch(() => undefined);
    this.lost(new CallError("microphone_failed", "The microphone is gone: it was unplugged or taken away."));
  };
}
