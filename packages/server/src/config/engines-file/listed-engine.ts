/** What an engine that takes over can be, as the service opens it. */

import type { EngineKind, VoiceKind } from "@parley/schema";
import type { ExternalVoiceSettings } from "../../plan/voice-plan.ts";
import type { VendorTarget } from "../../providers/llm-sdk/vendor-target.ts";
import type { EngineTarget } from "../model-servers.ts";
import type { DeepgramTarget } from "../recognisers.ts";

interface Named {
  /** For people and for metrics: without an address and a key. */
  readonly name: string;
}

/** A server that speaks the OpenAI protocol. */
export type OpenAiEntry = Named & { readonly kind: "openai" } & EngineTarget;

/** The engine that comes with the service. */
export type BuiltInEntry = Named & { readonly kind: "built_in" };

/** A recogniser at a server that speaks OpenAI's realtime protocol. */
export type RealtimeEntry = Named & { readonly kind: "openai_realtime" } & EngineTarget;

export type DeepgramEntry = Named & { readonly kind: "deepgram" } & DeepgramTarget;

/** A language model of a vendor, by the `ai` SDK. */
export type SdkEntry = Named & { readonly kind: "sdk"; readonly target: VendorTarget };

/** A model of this machine. */
export type LocalEntry = Named & {
  readonly kind: "local";
  /** A name of the catalogue. */
  readonly model: string;
  /** A speaker of a voice; null: its first. */
  readonly voice: string | null;
  /** The setting that names the model, which begins sentences about it. */
  readonly setting: string;
};

/** A voice of a vendor. */
export type ExternalEntry = Named & {
  readonly kind: "external";
  readonly provider: VoiceKind;
  readonly settings: ExternalVoiceSettings;
  /** Of Google the JSON document of a service account; empty for `generic`. */
  readonly apiKey: string;
};

export interface EntryOf {
  readonly stt: OpenAiEntry | RealtimeEntry | DeepgramEntry | LocalEntry | BuiltInEntry;
  readonly llm: OpenAiEntry | SdkEntry | LocalEntry | BuiltInEntry;
  readonly tts: OpenAiEntry | ExternalEntry | LocalEntry | BuiltInEntry;
}

export type FallbackEngine<Kind extends EngineKind = EngineKind> = EntryOf[Kind];

/** The engines that take over from the first one of their kind, in their order. */
export type Fallbacks = { readonly [Kind in EngineKind]: readonly EntryOf[Kind][] };
