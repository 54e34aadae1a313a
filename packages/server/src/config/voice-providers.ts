/** Addresses and keys of the vendors of voices for the whole deployment: settings of the environment. */

import { readFileSync, statSync } from "node:fs";
import { keyDocumentOf, SetTtsApiKeysRequest, VOICE_PROVIDERS, type VoiceProvider } from "@parley/schema";
import { z } from "zod";
import { httpUrl, readBy } from "./env-fields.ts";

export interface VoiceProviderTarget {
  /** Null: the vendor's own. `http` means a plain websocket or plaintext gRPC. */
  readonly baseUrl: string | null;
  /** Of Google the JSON document of a service account. Null: only accounts have keys. */
  readonly apiKey: string | null;
}

export type VoiceProviderTargets = Readonly<Record<VoiceProvider, VoiceProviderTarget>>;

/** The same form as the keys of accounts. */
const key = z
  .string()
  .max(4096, "must have at most 4096 characters")
  .regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces");

export const VOICE_PROVIDER_FIELDS = {
  ELEVENLABS_BASE_URL: httpUrl.optional(),
  ELEVENLABS_API_KEY: key.optional(),
  CARTESIA_BASE_URL: httpUrl.optional(),
  CARTESIA_API_KEY: key.optional(),
  LMNT_BASE_URL: httpUrl.optional(),
  LMNT_API_KEY: key.optional(),
  GOOGLE_TTS_BASE_URL: httpUrl.optional(),
  GOOGLE_TTS_API_KEY: readBy(readKeyDocument).optional(),
  INWORLD_BASE_URL: httpUrl.optional(),
  INWORLD_API_KEY: key.optional(),
  RESPEECHER_BASE_URL: httpUrl.optional(),
  RESPEECHER_API_KEY: key.optional(),
};

const Fields = z.object(VOICE_PROVIDER_FIELDS);

export type VoiceProviderFields = z.infer<typeof Fields>;

/** What the names of a vendor's variables begin with. */
const PREFIXES = {
  provider1: "ELEVENLABS",
  provider2: "CARTESIA",
  provider3: "LMNT",
  provider4: "GOOGLE_TTS",
  provider5: "INWORLD",
  provider6: "RESPEECHER",
} as const satisfies Record<VoiceProvider, string>;

export function voiceProvidersOf(values: VoiceProviderFields): VoiceProviderTargets {
  const targets = VOICE_PROVIDERS.map((provider) => {
    const prefix = PREFIXES[provider];
    const target = {
      baseUrl: values[`${prefix}_BASE_URL`] ?? null,
      apiKey: values[`${prefix}_API_KEY`] ?? null,
    };
    return [provider, target] as const;
  });
  return Object.fromEntries(targets) as Record<VoiceProvider, VoiceProviderTarget>;
}

export type FoundKey =
  | { readonly kind: "wrong"; readonly problem: string }
  /** `variable`: the one of the deployment. Null: neither that has a key, nor was one given. */
  | { readonly kind: "found"; readonly apiKey: string | null; readonly variable: string };

/** @param given what another variable has; null: the key of the deployment is used */
export function voiceProviderKey(
  provider: VoiceProvider,
  given: string | null,
  values: VoiceProviderFields,
): FoundKey {
  const variable = `${PREFIXES[provider]}_API_KEY` as const;
  if (given === null) return { kind: "found", apiKey: values[variable] ?? null, variable };
  const checked = VOICE_PROVIDER_FIELDS[variable].safeParse(given);
  if (checked.success) return { kind: "found", apiKey: checked.data ?? null, variable };
  const problem = `names a variable whose value ${checked.error.issues[0]?.message ?? "is wrong"}`;
  return { kind: "wrong", problem };
}

/** Twice the length of the longest document that is accepted. */
const MAX_FILE_BYTES = 32_768;

/** The document itself, or the path of its file. */
function readKeyDocument(text: string): string {
  const document = text.trimStart().startsWith("/") ? readDocumentFile(text.trim()) : text;
  const checked = SetTtsApiKeysRequest.safeParse({ provider4: document });
  if (checked.success) return JSON.stringify(keyDocumentOf(document));
  throw new Error(checked.error.issues[0]?.message ?? "must be the JSON document of a service account");
}

function readDocumentFile(path: string): string {
  try {
    const { size } = statSync(path);
    if (size <= MAX_FILE_BYTES) return readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`names a file that cannot be read: ${path} (${codeOf(error)})`, { cause: error });
  }
  throw new Error(`names a file of more than ${MAX_FILE_BYTES} bytes: ${path}`);
}

/** Such as `ENOENT`. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
