/**
 * Eleven v3, v4 and later: the websocket for speech refuses these models, and the one for dialogue speaks them. A voice
 * is named in each context, and not in the address. Answers are those of the other websocket, in snake case.
 */

import type { ProviderVoice } from "../../ports/voice-provider.ts";
import type { CloseContext, FlushDialogue, InitialiseDialogue, SendInputs } from "./contract.ts";

export const DIALOGUE_PATH = "/v1/text-to-dialogue/multi-stream-input";

const DIALOGUE_MODEL = /^eleven_v(?:[3-9]|\d{2})/;
/** Eleven v3 takes these three values of stability only: creative, natural and robust. */
const STEPPED_MODEL = /^eleven_v3/;
const STABILITY_STEPS = 2;

export function isDialogueModel(model: string): boolean {
  return DIALOGUE_MODEL.test(model);
}

/** Opens a context for the voice, gives it the whole text as one turn, and lets it end after that. */
export function dialogueMessages(
  contextId: string,
  { voice, voiceId, model }: { voice: ProviderVoice<"provider1">; voiceId: string; model: string },
  text: string,
): string[] {
  const dictionaries = voice.pronunciationDictionaries ?? [];
  const first: InitialiseDialogue = {
    context_id: contextId,
    voices: [voiceId],
    // These models have no other setting.
    ...(voice.stability === undefined
      ? {}
      : { voice_settings: { stability: stabilityOf(model, voice.stability) } }),
    ...(dictionaries.length === 0
      ? {}
      : {
          pronunciation_dictionary_locators: dictionaries.map(({ dictionaryId, versionId }) => ({
            pronunciation_dictionary_id: dictionaryId,
            ...(versionId === undefined ? {} : { version_id: versionId }),
          })),
        }),
  };
  const second: SendInputs = {
    context_id: contextId,
    inputs: [{ text, voice_id: voiceId, new_turn: true }],
  };
  // Without it some 40 characters and 8 words are waited for.
  const third: FlushDialogue = { context_id: contextId, flush: true };
  const fourth: CloseContext = { context_id: contextId, close_context: true };
  return [first, second, third, fourth].map((message) => JSON.stringify(message));
}

function stabilityOf(model: string, stability: number): number {
  return STEPPED_MODEL.test(model) ? Math.round(stability * STABILITY_STEPS) / STABILITY_STEPS : stability;
}
