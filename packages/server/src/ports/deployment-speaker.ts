/** A voice of the deployment's engine as a speaker. */

import { originOf } from "./engine-origin.ts";
import type { TtsEngine } from "./tts.ts";
import type { Speaker } from "./voices.ts";

/** @param voice a name of the engine's; null: its default */
export function deploymentSpeaker(engine: TtsEngine, voice: string | null): Speaker {
  return {
    ...originOf(engine),
    // Engines of the deployment open what they need by themselves.
    prepare: () => {},
    synthesize: (spoken, signal) => engine.synthesize({ ...spoken, voice }, signal),
    speaks: (language) => engine.speaks(language),
  };
}
