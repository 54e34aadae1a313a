/**
 * What a call may name and this version or deployment has: voices, models, and the parts of the interface that are not
 * built yet. A part that is missing is refused when a call is created, never accepted and then left undone.
 */

import { mediumKindOf } from "@parley/schema";
import type { FieldError } from "@parley/schema";
import type { AskedSettings } from "./asked-settings.ts";

/** A voice that `voice` may name, by either of its two texts; `voiceId` null when it has no id of its own. */
export interface KnownVoice {
  readonly voiceId: string | null;
  readonly name: string;
}

export interface Available {
  readonly voices: readonly KnownVoice[];
  /** Names of models, `default` among them. */
  readonly models: readonly string[];
}

/** What the names stand for here. */
export interface ResolvedNames {
  /** Null: the voice engine's default. */
  readonly voice: string | null;
  readonly model: string;
}

/** Families of model names of the public service; all of them stand for the deployment's default (D46). */
const PUBLIC_MODEL = /^(?:ultravox-v|fixie-ai\/)/;

/** Names listed in a refusal; enough to see what there is. */
const MAX_LISTED_NAMES = 10;

/** The voice and model that are meant, or why there are none. */
export function resolveNames(
  asked: AskedSettings,
  available: Available,
): { readonly names: ResolvedNames; readonly errors: readonly FieldError[] } {
  const { values, fieldOf } = asked;
  const errors: FieldError[] = [];
  const model = values.model ?? "default";
  const known = available.models.includes(model);
  if (!known && !PUBLIC_MODEL.test(model)) {
    errors.push({ field: fieldOf("model"), message: `must be a known model: ${listed(available.models)}` });
  }
  const voice = values.voice === undefined ? null : voiceNamed(values.voice, available.voices);
  if (voice !== null && "problem" in voice) errors.push({ field: fieldOf("voice"), message: voice.problem });
  if (voice !== null && "name" in voice && values.voiceOverrides !== undefined) {
    // Voices of the deployment's own engines belong to no provider.
    const [provider = "provider"] = Object.keys(values.voiceOverrides);
    errors.push({
      field: `${fieldOf("voiceOverrides")}.${provider}`,
      message: `must be the provider of the voice; ${voice.name} is a voice of this deployment and has none`,
    });
  }
  return {
    names: { voice: voice !== null && "name" in voice ? voice.name : null, model: known ? model : "default" },
    errors,
  };
}

function voiceNamed(
  wanted: string,
  voices: readonly KnownVoice[],
): { readonly name: string } | { readonly problem: string } {
  const byId = voices.find(({ voiceId }) => voiceId !== null && voiceId === wanted.toLowerCase());
  if (byId !== undefined) return { name: byId.name };
  const [first, second] = voices.filter(({ name }) => name === wanted);
  if (first === undefined) {
    return { problem: `must be a known voice: ${listed(voices.map((voice) => voice.name))}` };
  }
  return second === undefined ? { name: first.name } : { problem: "names more than one voice; give its id" };
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED_NAMES).join(", ");
  const more = names.length - MAX_LISTED_NAMES;
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** Provider keys that do not exist: no provider key can be set in this version. */
export function missingThings(asked: AskedSettings): FieldError[] {
  const errors: FieldError[] = [];
  const { externalVoice } = asked.values;
  const provider = externalVoice === undefined ? undefined : Object.keys(externalVoice)[0];
  if (provider !== undefined && provider !== "generic") {
    errors.push({
      field: `${asked.fieldOf("externalVoice")}.${provider}`,
      message: "needs a key for this provider, and the account has none",
    });
  }
  return errors;
}

/** The media whose transports are built. */
export const BUILT_MEDIA = ["serverWebSocket"] as const;

/** Parts of the interface that this version does not carry out, as sentences that begin with the field. */
export function unavailableParts(asked: AskedSettings): string[] {
  const { values, fieldOf } = asked;
  const sentences: string[] = [];
  const refuse = (field: string, what: string): void => {
    sentences.push(`${field}: ${what}`);
  };
  const kind = mediumKindOf(values.medium);
  if (!BUILT_MEDIA.some((built) => built === kind)) {
    const chosen = values.medium?.[kind] === undefined ? `${kind}, which an unset medium means,` : kind;
    refuse(fieldOf("medium"), `${chosen} is not available in this version; ${BUILT_MEDIA.join(", ")} is`);
  }
  if (values.externalVoice?.generic !== undefined) {
    refuse(`${fieldOf("externalVoice")}.generic`, "external voices are not available in this version");
  }
  if (values.callbacks !== undefined && Object.values(values.callbacks).some((each) => each !== undefined)) {
    refuse(fieldOf("callbacks"), "callbacks are not available in this version");
  }
  return sentences;
}
