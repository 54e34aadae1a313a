/** What an entry of the file of engines means: its key, its address, and the name that it has if none is given. */

import { checkBody, type EngineKind, ExternalVoice, toVendorText, voiceKindOf } from "@parley/schema";
import type { EntryForm } from "./engine-forms.ts";
import { LLM_VENDORS, missingOf, vendorTargetOf, type LanguageModelFields } from "../language-models.ts";
import type { EntryOf } from "./listed-engine.ts";
import type { EngineTarget } from "../model-servers.ts";
import { DEEPGRAM_BASE_URL, isDeepgramModel, type RecogniserFields } from "../recognisers.ts";
import { voiceProviderKey, type VoiceProviderFields } from "../voice-providers.ts";

/** The environment: its settings, and all of its variables, of which entries name those with keys. */
export interface Variables {
  readonly values: LanguageModelFields & RecogniserFields & VoiceProviderFields;
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface Reading {
  readonly variables: Variables;
  /** The setting that names the model of the entry. */
  readonly setting: string;
  readonly refuse: (field: string, what: string) => never;
}

type Form<Kind extends EngineKind, Name extends string> = Extract<EntryForm[Kind], { readonly kind: Name }>;

function sttOf(entry: EntryForm["stt"], reading: Reading): EntryOf["stt"] {
  switch (entry.kind) {
    case "openai":
    case "openai_realtime":
      return { kind: entry.kind, ...serverOf(entry, reading) };
    case "deepgram":
      return deepgramOf(entry, reading);
    case "local":
      return localOf(entry, reading);
    case "built_in":
      return builtInOf(entry);
    default:
      return unknownKind(entry);
  }
}

function llmOf(entry: EntryForm["llm"], reading: Reading): EntryOf["llm"] {
  switch (entry.kind) {
    case "openai":
      return { kind: "openai", ...serverOf(entry, reading) };
    case "sdk":
      return sdkOf(entry, reading);
    case "local":
      return localOf(entry, reading);
    case "built_in":
      return builtInOf(entry);
    default:
      return unknownKind(entry);
  }
}

function ttsOf(entry: EntryForm["tts"], reading: Reading): EntryOf["tts"] {
  switch (entry.kind) {
    case "openai":
      return { kind: "openai", ...serverOf(entry, reading) };
    case "external":
      return externalOf(entry, reading);
    case "local":
      return localOf(entry, reading);
    case "built_in":
      return builtInOf(entry);
    default:
      return unknownKind(entry);
  }
}

const READERS: {
  readonly [Kind in EngineKind]: (entry: EntryForm[Kind], reading: Reading) => EntryOf[Kind];
} = { stt: sttOf, llm: llmOf, tts: ttsOf };

export function engineOf<Kind extends EngineKind>(
  kind: Kind,
  entry: EntryForm[Kind],
  reading: Reading,
): EntryOf[Kind] {
  return READERS[kind](entry, reading);
}

/** Never called: the compiler refuses it where a kind of entry is forgotten. */
export function unknownKind(_entry: never): never {
  throw new Error("an engine of a list has a kind that is not known");
}

/** The name that an engine has if none is given: not unique. */
export function nameOf({ model, voice }: Pick<EngineTarget, "model" | "voice">): string {
  return voice === null ? model : `${voice} of ${model}`;
}

/** Null: the entry names none. */
function keyOf(
  {
    apiKey: given,
    apiKeyVariable: variable,
  }: { apiKey?: string | undefined; apiKeyVariable?: string | undefined },
  { variables, refuse }: Reading,
): string | null {
  if (given !== undefined && variable !== undefined)
    refuse("", "has apiKey and apiKeyVariable: give one of them");
  if (variable === undefined) return given ?? null;
  const found = variables.env[variable];
  if (found === undefined || found === "")
    return refuse("apiKeyVariable", `names ${variable}, which is not set`);
  return found;
}

type ServerForm = Form<EngineKind, "openai" | "openai_realtime">;

function serverOf(entry: ServerForm, reading: Reading): EngineTarget & { readonly name: string } {
  const { baseUrl, model, name } = entry;
  const target = {
    baseUrl,
    model,
    voice: "voice" in entry ? entry.voice : null,
    apiKey: keyOf(entry, reading),
  };
  return { name: name ?? nameOf(target), ...target };
}

/** What the entry does not say is as `DEEPGRAM_…` says; their key is sent to their address only. */
function deepgramOf(entry: Form<"stt", "deepgram">, reading: Reading): EntryOf["stt"] {
  const { values } = reading.variables;
  const model = entry.model ?? values.DEEPGRAM_MODEL;
  if (!isDeepgramModel(model))
    reading.refuse("model", "must be the name of a model, such as nova-3 or flux-general-en");
  const usual = values.DEEPGRAM_BASE_URL ?? DEEPGRAM_BASE_URL;
  const baseUrl = entry.baseUrl ?? usual;
  const apiKey = keyOf(entry, reading) ?? (baseUrl === usual ? (values.DEEPGRAM_API_KEY ?? null) : null);
  if (apiKey === null && baseUrl === DEEPGRAM_BASE_URL)
    reading.refuse("", "needs apiKeyVariable, or the variable DEEPGRAM_API_KEY");
  const endOfTurnMs = values.DEEPGRAM_END_OF_TURN_MS;
  return { kind: "deepgram", name: entry.name ?? `deepgram ${model}`, baseUrl, model, apiKey, endOfTurnMs };
}

function sdkOf(entry: Form<"llm", "sdk">, reading: Reading): EntryOf["llm"] {
  const target = vendorTargetOf(entry.model, reading.variables.values, keyOf(entry, reading));
  if (target === null)
    return reading.refuse("model", `must be VENDOR:MODEL, with one of ${LLM_VENDORS.join(", ")}`);
  const missing = missingOf(target);
  if (missing !== null)
    reading.refuse(
      "",
      `needs ${missing.includes("KEY") ? "apiKeyVariable, or " : ""}the variable ${missing}`,
    );
  return { kind: "sdk", name: entry.name ?? entry.model, target };
}

function localOf(
  entry: Form<EngineKind, "local">,
  { setting }: Reading,
): Extract<EntryOf["stt"], { kind: "local" }> {
  const voice = "voice" in entry ? (entry.voice ?? null) : null;
  const name = entry.name ?? `${nameOf({ model: entry.model, voice })} on this machine`;
  return { kind: "local", name, model: entry.model, voice, setting };
}

function externalOf(entry: Form<"tts", "external">, reading: Reading): EntryOf["tts"] {
  const checked = checkBody(ExternalVoice, entry.voice);
  if ("errors" in checked) {
    const [first] = checked.errors;
    const field = first === undefined || first.field === "" ? "voice" : `voice.${toVendorText(first.field)}`;
    return reading.refuse(field, toVendorText(first?.message ?? "is wrong"));
  }
  const provider = voiceKindOf(checked.value);
  const settings = checked.value[provider] ?? {};
  const given = keyOf(entry, reading);
  const vendor = toVendorText(provider);
  const name = entry.name ?? `${"voiceId" in settings ? `${settings.voiceId ?? "voice"} of ` : ""}${vendor}`;
  if (provider === "generic") {
    if (given !== null) reading.refuse("apiKeyVariable", "is for vendors: give a generic voice its headers");
    return { kind: "external", name, provider, settings, apiKey: "" };
  }
  const key = voiceProviderKey(provider, given, reading.variables.values);
  if (key.kind === "wrong") return reading.refuse("apiKeyVariable", key.problem);
  if (key.apiKey === null) return reading.refuse("", `needs apiKeyVariable, or the variable ${key.variable}`);
  return { kind: "external", name, provider, settings, apiKey: key.apiKey };
}

function builtInOf({
  name,
}: {
  readonly name?: string | undefined;
}): Extract<EntryOf["stt"], { kind: "built_in" }> {
  return { kind: "built_in", name: name ?? "built-in" };
}
