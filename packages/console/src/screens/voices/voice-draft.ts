/** A voice in the form: the document itself, so that fields without a control are not lost. */

import type { ExternalVoice, Voice, VoiceKind } from "@parley/schema";
import { PROVIDER_NAMES } from "../vendor-names.ts";

export const KINDS = [
  "provider1",
  "provider2",
  "provider3",
  "provider4",
  "provider5",
  "provider6",
  "generic",
] as const satisfies readonly VoiceKind[];

export const KIND_NAMES: Readonly<Record<VoiceKind, string>> = {
  ...PROVIDER_NAMES,
  generic: "Your HTTP service",
};

export type Fields = Readonly<Record<string, unknown>>;

export interface VoiceDraft {
  readonly name: string;
  readonly description: string;
  readonly primaryLanguage: string;
  readonly kind: VoiceKind;
  /** Fields of the chosen kind. */
  readonly fields: Fields;
}

export const NEW_VOICE: VoiceDraft = {
  name: "",
  description: "",
  primaryLanguage: "",
  kind: "generic",
  fields: { url: "https://", body: { text: "{text}" }, responseMimeType: "audio/wav" },
};

export function kindOf(definition: ExternalVoice): VoiceKind {
  return KINDS.find((kind) => definition[kind] !== undefined) ?? "generic";
}

export function draftOf({ name, description, primaryLanguage, definition }: Voice): VoiceDraft {
  const kind = definition === null ? "generic" : kindOf(definition);
  const fields = definition?.[kind] ?? {};
  return { name, description: description ?? "", primaryLanguage: primaryLanguage ?? "", kind, fields };
}

/** Empty fields are not sent; the service checks the rest. */
export function bodyOf({ name, description, primaryLanguage, kind, fields }: VoiceDraft) {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined && value !== "");
  return {
    name,
    ...(description === "" ? {} : { description }),
    ...(primaryLanguage === "" ? {} : { primaryLanguage }),
    definition: { [kind]: Object.fromEntries(kept) } as ExternalVoice,
  };
}
