/** The messages of the websocket for dialogue, read as strictly as the vendor does. */

import { z } from "zod";
import { CloseContext, CloseSocket, FlushDialogue, InitialiseDialogue, SendInputs } from "../contract.ts";

/** What a message asks for; `message`: the same in the words of the websocket for speech. */
export type DialogueMessage =
  { readonly opens: InitialiseDialogue } | { readonly message: object } | { readonly refusal: string };

const Client = z.union([SendInputs, FlushDialogue, CloseContext, CloseSocket]);

/** `voicesOf`: the voices that are registered in a context. */
export function readDialogue(
  json: unknown,
  voicesOf: (contextId: string) => readonly string[],
): DialogueMessage {
  const first = InitialiseDialogue.safeParse(json);
  if (first.success) return { opens: first.data };
  const parsed = Client.safeParse(json);
  if (!parsed.success) return { refusal: z.prettifyError(parsed.error) };
  if (!("inputs" in parsed.data)) return { message: parsed.data };
  const { context_id, inputs } = parsed.data;
  const known = voicesOf(context_id);
  if (inputs.some(({ voice_id: voice }) => !known.includes(voice)))
    return { refusal: "a voice that is not registered" };
  return { message: { context_id, text: `${inputs.map(({ text }) => text).join(" ")} ` } };
}

export function turnEnd(contextId: string): string {
  return JSON.stringify({ is_final_audio_for_turn: true, context_id: contextId });
}
