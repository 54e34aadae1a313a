/**
 * Checks what a call names against this version and deployment: voices, models, and the parts of the interface that
 * are not built yet. A missing part is refused when a call is created, never accepted and then ignored.
 */

import { mediumKindOf, voiceKindOf } from "@parley/schema";
import type { FieldError, VoiceKind } from "@parley/schema";
import type { RequestedSettings } from "./requested-settings.ts";

/** A voice that `voice` may name, by either of its two texts. */
export interface KnownVoice {
  readonly voiceId: string;
  readonly name: string;
}

/** A voice record of the account. */
export interface OwnVoice extends KnownVoice {
  /** Who speaks it. */
  readonly kind: VoiceKind;
}

export interface Available {
  /** Public voices, which the voice engine of the deployment speaks. */
  readonly voices: readonly KnownVoice[];
  /** Voices of the account that the requested text may mean; they win over public ones (D69). */
  readonly ownVoices: readonly OwnVoice[];
  /** Providers of voices for which there is a key. */
  readonly voiceKeys: ReadonlySet<string>;
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

/** Most names listed in a refusal. */
const MAX_LISTED_NAMES = 10;

export interface Resolved {
  readonly names: ResolvedNames;
  /** Of the voice that was named; null: none was. */
  readonly voiceId: string | null;
  readonly errors: readonly FieldError[];
  /** Valid but unsupported parts, as sentences that begin with the field. */
  readonly unavailable: readonly string[];
}

/** The voice and model that are meant, or why there are none. */
export function resolveNames(requested: RequestedSettings, available: Available): Resolved {
  const { values, fieldOf } = requested;
  const errors: FieldError[] = [];
  const model = values.model ?? "default";
  const known = available.models.includes(model);
  if (!known && !PUBLIC_MODEL.test(model)) {
    errors.push({ field: fieldOf("model"), message: `must be a known model: ${listed(available.models)}` });
  }
  const names = (voice: string | null): ResolvedNames => ({ voice, model: known ? model : "default" });
  if (values.voice === undefined) return { names: names(null), voiceId: null, errors, unavailable: [] };
  const found = voiceNamed(values.voice, available);
  if (typeof found === "string") {
    errors.push({ field: fieldOf("voice"), message: found });
    return { names: names(null), voiceId: null, errors, unavailable: [] };
  }
  const { voiceId, name } = found;
  const kind = "kind" in found ? found.kind : null;
  errors.push(...overrideErrors(requested, name, kind));
  if (kind === null) return { names: names(name), voiceId, errors, unavailable: [] };
  if (kind !== "generic" && !available.voiceKeys.has(kind)) {
    const message = `names a voice of ${kind}, for which the account has no key: ${name}`;
    errors.push({ field: fieldOf("voice"), message });
  }
  const sentence = `${fieldOf("voice")}: ${name} is a voice of ${kind}, which is not available in this version`;
  return { names: names(null), voiceId, errors, unavailable: [sentence] };
}

/** Overrides are for the voice's own provider; which fields they may have is a matter of their schema (D74). */
function overrideErrors(
  { values, fieldOf }: RequestedSettings,
  name: string,
  kind: VoiceKind | null,
): FieldError[] {
  if (values.voiceOverrides === undefined) return [];
  const requested = voiceKindOf(values.voiceOverrides);
  if (requested === kind) return [];
  const own = kind === null ? `is a voice of this deployment and has none` : `has ${kind}`;
  const message = `must be the provider of the voice; ${name} ${own}`;
  return [{ field: `${fieldOf("voiceOverrides")}.${requested}`, message }];
}

/** An id means exactly its voice; of those with one name the account's own are meant, and only one of them. */
function voiceNamed(wanted: string, { voices, ownVoices }: Available): OwnVoice | KnownVoice | string {
  const byId = [...ownVoices, ...voices].find(({ voiceId }) => voiceId === wanted.toLowerCase());
  if (byId !== undefined) return byId;
  const own = ownVoices.filter(({ name }) => name === wanted);
  const [first, second] = own.length > 0 ? own : voices.filter(({ name }) => name === wanted);
  if (first === undefined) {
    return `names a voice that does not exist: ${wanted}; there are ${listed(voices.map(({ name }) => name))}`;
  }
  return second === undefined ? first : `names more than one voice: ${wanted}; give the id of the one`;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED_NAMES).join(", ");
  const more = names.length - MAX_LISTED_NAMES;
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** Keys that a voice outside the account's records would need. */
export function missingThings(
  requested: RequestedSettings,
  { voiceKeys }: Pick<Available, "voiceKeys">,
): FieldError[] {
  const { externalVoice } = requested.values;
  if (externalVoice === undefined) return [];
  const kind = voiceKindOf(externalVoice);
  if (kind === "generic" || voiceKeys.has(kind)) return [];
  const message = "needs a key for this provider, and the account has none";
  return [{ field: `${requested.fieldOf("externalVoice")}.${kind}`, message }];
}

/** The media whose transports are built. */
export const BUILT_MEDIA = ["webRtc", "serverWebSocket"] as const;

/** Parts of the interface that this version does not carry out, as sentences that begin with the field. */
export function unavailableParts(requested: RequestedSettings): string[] {
  const { values, fieldOf } = requested;
  const sentences: string[] = [];
  const refuse = (field: string, what: string): void => {
    sentences.push(`${field}: ${what}`);
  };
  const kind = mediumKindOf(values.medium);
  if (!BUILT_MEDIA.some((built) => built === kind)) {
    refuse(fieldOf("medium"), `${kind} is not available in this version; ${BUILT_MEDIA.join(" and ")} are`);
  }
  if (values.externalVoice !== undefined) {
    const kind = voiceKindOf(values.externalVoice);
    refuse(`${fieldOf("externalVoice")}.${kind}`, `voices of ${kind} are not available in this version`);
  }
  return sentences;
}
