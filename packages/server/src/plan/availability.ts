/**
 * Checks what a call names against this version and deployment: voices, models, and the parts of the interface that
 * are not built yet. A missing part is refused when a call is created, never accepted and then ignored.
 */

import { MEDIUM_KINDS, mediumKindOf, standsForDefaultModel, traitsOf, voiceKindOf } from "@parley/schema";
import type { ExternalVoice, FieldError, MediumKind, VoiceKind } from "@parley/schema";
import { ANY_NAME, aliasTarget, DEFAULT_NAME } from "./name-aliases.ts";
import type { Aliases, NameAlias } from "./name-aliases.ts";
import type { StageWarning } from "./plan.ts";
import type { RequestedSettings } from "./requested-settings.ts";
import { DEFAULT_VOICE, settingsWithOverrides } from "./voice-plan.ts";
import type { PlannedExternalVoice, VoiceKeySource, VoicePlan } from "./voice-plan.ts";

/** A voice that `voice` may name, by either of its two texts. */
export interface KnownVoice {
  readonly voiceId: string;
  readonly name: string;
}

/** A voice record of the account. */
export interface OwnVoice extends KnownVoice {
  /** Who speaks it. */
  readonly kind: VoiceKind;
  /** With its secrets. */
  readonly definition: ExternalVoice;
}

/** The providers of voices for which there is a key, and whose it is. */
export type VoiceKeys = ReadonlyMap<VoiceKind, Exclude<VoiceKeySource, "none">>;

export interface Available {
  /** Public voices, which the voice engine of the deployment speaks. */
  readonly voices: readonly KnownVoice[];
  /** Voices of the account that the requested text may mean; they win over public ones (D69). */
  readonly ownVoices: readonly OwnVoice[];
  readonly voiceKeys: VoiceKeys;
  /** The kinds of voices that this version can speak with. */
  readonly spokenKinds: ReadonlySet<VoiceKind>;
  /** Names of models, `default` among them. */
  readonly models: readonly string[];
  /** Further names of public voices and of models. */
  readonly aliases: Aliases;
  /** Whether a model of `models` is given the user's voice. Unset: none is. */
  readonly takesAudio?: (model: string) => boolean;
}

/** What the names stand for here. */
export interface ResolvedNames {
  readonly voice: VoicePlan;
  readonly model: string;
  /** The model is given the user's voice. Unset: their words only. */
  readonly takesAudio?: true;
}

/** Most names listed in a refusal. */
const MAX_LISTED_NAMES = 10;

export interface Resolved {
  readonly names: ResolvedNames;
  /** Of the voice that was named; null: none was. */
  readonly voiceId: string | null;
  readonly errors: readonly FieldError[];
  /** Valid but unsupported parts, as sentences that begin with the field. */
  readonly unavailable: readonly string[];
  /** Settings that act in another way than the request says. */
  readonly warnings: readonly StageWarning[];
}

/** The voice and model that are meant, or why there are none. */
export function resolveNames(requested: RequestedSettings, available: Available): Resolved {
  const model = resolveModel(requested, available);
  const voice = resolveVoice(requested, available);
  return {
    names: {
      voice: voice.voice,
      model: model.model,
      ...(available.takesAudio?.(model.model) === true ? { takesAudio: true } : {}),
    },
    voiceId: voice.voiceId,
    errors: [...model.errors, ...voice.errors],
    unavailable: voice.unavailable,
    warnings: [...model.warnings, ...voice.warnings],
  };
}

interface ResolvedModel extends Pick<Resolved, "errors" | "warnings"> {
  readonly model: string;
}

/** An alias says more than the family of a name. */
function resolveModel({ values, fieldOf }: RequestedSettings, available: Available): ResolvedModel {
  const wanted = values.model ?? DEFAULT_NAME;
  const { models, aliases } = available;
  const meant = (model: string, warnings: readonly StageWarning[] = []) => ({ model, errors: [], warnings });
  if (models.includes(wanted)) return meant(wanted);
  const named = aliasTarget(aliases.models, wanted);
  if (named !== null) return meant(named);
  if (standsForDefaultModel(wanted)) return meant(DEFAULT_NAME);
  const target = aliasTarget(aliases.models, ANY_NAME);
  if (target !== null) {
    const text = `there is no model ${wanted} here; MODEL_ALIASES replaces it by ${target}`;
    return meant(target, [{ type: "model.replaced", text }]);
  }
  const message = `must be a known model: ${listed([...models, ...givenNames(aliases.models)])}`;
  return { model: DEFAULT_NAME, errors: [{ field: fieldOf("model"), message }], warnings: [] };
}

interface VoiceResolution extends Omit<Resolved, "names"> {
  readonly voice: VoicePlan;
}

const UNNAMED: VoiceResolution = {
  voice: DEFAULT_VOICE,
  voiceId: null,
  errors: [],
  unavailable: [],
  warnings: [],
};

function resolveVoice(requested: RequestedSettings, available: Available): VoiceResolution {
  const { values, fieldOf } = requested;
  if (values.voice === undefined) return externalVoice(requested, available);
  const found = voiceNamed(values.voice, available);
  if (found === null) return aliasedVoice(values.voice, requested, available);
  if (typeof found === "string") {
    return { ...UNNAMED, errors: [{ field: fieldOf("voice"), message: found }] };
  }
  return "kind" in found ? ownVoice(found, requested, available) : publicVoice(found, requested);
}

function publicVoice({ voiceId, name }: KnownVoice, requested: RequestedSettings): VoiceResolution {
  const errors = overrideErrors(requested, name, null);
  return { ...UNNAMED, voice: { kind: "deployment", name }, voiceId, errors };
}

function ownVoice(found: OwnVoice, requested: RequestedSettings, available: Available): VoiceResolution {
  const { voiceId, name, kind, definition } = found;
  const { values, fieldOf } = requested;
  const errors = overrideErrors(requested, name, kind);
  const key = keySource(kind, available);
  if (key === null) {
    const message = `names a voice of ${kind}, for which the account has no key: ${name}`;
    errors.push({ field: fieldOf("voice"), message });
  }
  const sentence = `${fieldOf("voice")}: ${name} is a voice of ${kind}, which is not available in this version`;
  const unavailable = available.spokenKinds.has(kind) ? [] : [sentence];
  if (errors.length > 0 || key === null) return { ...UNNAMED, voiceId, errors, unavailable };
  const settings = settingsWithOverrides(definition, values.voiceOverrides, kind);
  return { ...UNNAMED, voice: planned(kind, settings, key, voiceId), voiceId, unavailable };
}

/** A missing key is told by `missingThings`. */
function externalVoice({ values, fieldOf }: RequestedSettings, available: Available): VoiceResolution {
  if (values.externalVoice === undefined) return UNNAMED;
  const kind = voiceKindOf(values.externalVoice);
  const sentence = `${fieldOf("externalVoice")}.${kind}: voices of ${kind} are not available in this version`;
  const unavailable = available.spokenKinds.has(kind) ? [] : [sentence];
  const key = keySource(kind, available);
  if (key === null) return { ...UNNAMED, unavailable };
  const settings = settingsWithOverrides(values.externalVoice, undefined, kind);
  return { ...UNNAMED, voice: planned(kind, settings, key, null), unavailable };
}

function planned(
  provider: VoiceKind,
  settings: PlannedExternalVoice["settings"],
  key: VoiceKeySource,
  voiceId: string | null,
): PlannedExternalVoice {
  return { kind: "external", provider, settings, key, voiceId };
}

/** Null: the provider needs a key, and there is none. */
function keySource(kind: VoiceKind, { voiceKeys }: Pick<Available, "voiceKeys">): VoiceKeySource | null {
  return kind === "generic" ? "none" : (voiceKeys.get(kind) ?? null);
}

/** A name that no voice has. Overrides of the voice that it means elsewhere have no effect here. */
function aliasedVoice(
  wanted: string,
  { values, fieldOf }: RequestedSettings,
  { voices, aliases }: Available,
): VoiceResolution {
  const alias = aliasTarget(aliases.voices, wanted);
  const target = alias ?? aliasTarget(aliases.voices, ANY_NAME);
  if (target === null) {
    const known = listed([...voices.map(({ name }) => name), ...givenNames(aliases.voices)]);
    const message = `names a voice that does not exist: ${wanted}; there are ${known}`;
    return { ...UNNAMED, errors: [{ field: fieldOf("voice"), message }] };
  }
  const warnings: StageWarning[] = [];
  if (alias === null) {
    const text = `there is no voice ${wanted} here; VOICE_ALIASES replaces it by ${target}`;
    warnings.push({ type: "voice.replaced", text });
  }
  if (values.voiceOverrides !== undefined) {
    const text = `voiceOverrides have no effect: ${wanted} is an alias of a voice of this deployment`;
    warnings.push({ type: "voice.overrides_ignored", text });
  }
  const voice = voices.find(({ name }) => name === target);
  const named = { kind: "deployment", name: voice?.name ?? null } as const;
  return { ...UNNAMED, voice: named, voiceId: voice?.voiceId ?? null, warnings };
}

/** The names that aliases add to those of the deployment. */
export function givenNames(aliases: readonly NameAlias[]): string[] {
  return aliases.map(({ name }) => name).filter((name) => name !== ANY_NAME);
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

/**
 * An id means exactly its voice; of those with one name the account's own are meant, and only one of them. Null: there is
 * none; a text: why the name is of no use.
 */
function voiceNamed(wanted: string, { voices, ownVoices }: Available): OwnVoice | KnownVoice | string | null {
  const byId = [...ownVoices, ...voices].find(({ voiceId }) => voiceId === wanted.toLowerCase());
  if (byId !== undefined) return byId;
  const own = ownVoices.filter(({ name }) => name === wanted);
  const [first, second] = own.length > 0 ? own : voices.filter(({ name }) => name === wanted);
  if (first === undefined) return null;
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
  available: Pick<Available, "voiceKeys">,
): FieldError[] {
  const wanted = requested.values.externalVoice;
  if (wanted === undefined) return [];
  const kind = voiceKindOf(wanted);
  if (keySource(kind, available) !== null) return [];
  const message = "needs a key for this provider, and the account has none";
  return [{ field: `${requested.fieldOf("externalVoice")}.${kind}`, message }];
}

/** The media that clients and carriers join by a URL. */
export const BUILT_MEDIA: readonly MediumKind[] = MEDIUM_KINDS.filter((kind) => traitsOf(kind).joinable);

/** Parts of the interface that this deployment does not carry out, as sentences that begin with the field. */
export function unavailableParts(
  { values, fieldOf }: RequestedSettings,
  { servesSip }: { readonly servesSip: boolean },
): string[] {
  if (servesSip || mediumKindOf(values.medium) !== "sip") return [];
  return [`${fieldOf("medium")}: sip is not available in this deployment, because SIP_HOST is not set`];
}
