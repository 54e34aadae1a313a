/**
 * Language models of vendors that aliases name, such as `MODEL_ALIASES=fast=groq:llama-3.3-70b-versatile`: their keys and
 * addresses, by the variables that each vendor's SDK uses.
 */

import { z } from "zod";
import type { NameAlias } from "../plan/name-aliases.ts";
import type { AwsKeys, LlmVendor, VendorTarget } from "../providers/llm-sdk/vendor-target.ts";
import { httpUrl, optional, readBy } from "./env-fields.ts";

/** More aliases than any deployment has of its models. */
const MAX_AUDIO_NAMES = 500;

export const LANGUAGE_MODEL_FIELDS = {
  OPENAI_BASE_URL: httpUrl.optional(),
  ANTHROPIC_API_KEY: optional,
  ANTHROPIC_BASE_URL: httpUrl.optional(),
  GOOGLE_GENERATIVE_AI_API_KEY: optional,
  GOOGLE_GENERATIVE_AI_BASE_URL: httpUrl.optional(),
  GROQ_API_KEY: optional,
  GROQ_BASE_URL: httpUrl.optional(),
  MISTRAL_API_KEY: optional,
  MISTRAL_BASE_URL: httpUrl.optional(),
  XAI_API_KEY: optional,
  XAI_BASE_URL: httpUrl.optional(),
  DEEPSEEK_API_KEY: optional,
  DEEPSEEK_BASE_URL: httpUrl.optional(),
  OPENROUTER_API_KEY: optional,
  OPENROUTER_BASE_URL: httpUrl.optional(),
  COMPATIBLE_API_KEY: optional,
  COMPATIBLE_BASE_URL: httpUrl.optional(),
  AWS_BEARER_TOKEN_BEDROCK: optional,
  AWS_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, "must be the name of a region, such as eu-central-1")
    .optional(),
  AWS_ACCESS_KEY_ID: optional,
  AWS_SECRET_ACCESS_KEY: optional,
  AWS_SESSION_TOKEN: optional,
  AWS_ENDPOINT_URL_BEDROCK_RUNTIME: httpUrl.optional(),
  LLM_AUDIO_INPUT: readBy(readAudioNames).default([]),
};

const Fields = z.object(LANGUAGE_MODEL_FIELDS);

export type LanguageModelFields = z.output<typeof Fields> & {
  readonly OPENAI_API_KEY?: string | undefined;
  readonly LLM_MODEL?: string | undefined;
  readonly LLM_LOCAL_MODEL?: string | undefined;
  readonly MODEL_ALIASES: readonly NameAlias[];
};

type FieldName = Exclude<keyof LanguageModelFields, "LLM_AUDIO_INPUT" | "MODEL_ALIASES">;

interface VendorFields {
  readonly key: FieldName;
  readonly baseUrl: FieldName;
  /** Servers with OpenAI's protocol and Google take audio as a part of a message. */
  readonly canTakeAudio: boolean;
}

const VENDOR_FIELDS: Readonly<Record<LlmVendor, VendorFields>> = {
  openai: { key: "OPENAI_API_KEY", baseUrl: "OPENAI_BASE_URL", canTakeAudio: true },
  anthropic: { key: "ANTHROPIC_API_KEY", baseUrl: "ANTHROPIC_BASE_URL", canTakeAudio: false },
  google: {
    key: "GOOGLE_GENERATIVE_AI_API_KEY",
    baseUrl: "GOOGLE_GENERATIVE_AI_BASE_URL",
    canTakeAudio: true,
  },
  groq: { key: "GROQ_API_KEY", baseUrl: "GROQ_BASE_URL", canTakeAudio: false },
  mistral: { key: "MISTRAL_API_KEY", baseUrl: "MISTRAL_BASE_URL", canTakeAudio: false },
  bedrock: {
    key: "AWS_BEARER_TOKEN_BEDROCK",
    baseUrl: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
    canTakeAudio: false,
  },
  xai: { key: "XAI_API_KEY", baseUrl: "XAI_BASE_URL", canTakeAudio: false },
  deepseek: { key: "DEEPSEEK_API_KEY", baseUrl: "DEEPSEEK_BASE_URL", canTakeAudio: false },
  openrouter: { key: "OPENROUTER_API_KEY", baseUrl: "OPENROUTER_BASE_URL", canTakeAudio: true },
  compatible: { key: "COMPATIBLE_API_KEY", baseUrl: "COMPATIBLE_BASE_URL", canTakeAudio: true },
};

/** As targets of aliases begin, without the colon. */
export const LLM_VENDORS = Object.keys(VENDOR_FIELDS) as readonly LlmVendor[];

/** `default` in `LLM_AUDIO_INPUT` and in requests: the model of `LLM_BASE_URL`, or the one that is stored. */
const DEFAULT_NAME = "default";

/** @throws the rest of a sentence that begins with the variable */
function readAudioNames(text: string): readonly string[] {
  if (text === "true") return [DEFAULT_NAME];
  if (text === "false") return [];
  const names = text.split(",").map((name) => name.trim());
  if (names.includes("")) throw new Error("must be true, false, or a comma-separated list of models");
  if (names.length > MAX_AUDIO_NAMES) throw new Error(`must have at most ${String(MAX_AUDIO_NAMES)} names`);
  return names;
}

/** Null: no model of a vendor. */
function vendorModel(target: string): { vendor: LlmVendor; model: string } | null {
  const colon = target.indexOf(":");
  const vendor = LLM_VENDORS.find((name) => name === target.slice(0, colon));
  const model = target.slice(colon + 1).trim();
  return vendor === undefined || model === "" ? null : { vendor, model };
}

/** Each model of a vendor that an alias points to, once. */
export function vendorTargets(values: LanguageModelFields): readonly VendorTarget[] {
  const names = [...new Set(values.MODEL_ALIASES.map(({ target }) => target))];
  const spoken = audioTargets(values);
  return names.flatMap((name) => {
    // Names of models at local servers have colons as well, such as `mistral:7b` of Ollama: what `LLM_MODEL` names is
    // always the model of that server.
    const found = name === values.LLM_MODEL ? null : vendorTargetOf(name, values, null);
    return found === null ? [] : [{ ...found, takesAudio: spoken.includes(name) }];
  });
}

/**
 * A model that a name such as `groq:llama-3.3-70b-versatile` means. Null: no model of a vendor.
 * @param ownKey null: the key that the vendor's variable has
 */
export function vendorTargetOf(
  name: string,
  values: LanguageModelFields,
  ownKey: string | null,
): VendorTarget | null {
  const found = vendorModel(name);
  if (found === null) return null;
  const { key, baseUrl } = VENDOR_FIELDS[found.vendor];
  const isBedrock = found.vendor === "bedrock";
  const apiKey = ownKey ?? values[key] ?? null;
  return {
    ...found,
    name,
    apiKey,
    baseUrl: values[baseUrl] ?? null,
    aws: isBedrock && apiKey === null ? awsKeys(values) : null,
    region: isBedrock ? (values.AWS_REGION ?? null) : null,
    takesAudio: false,
  };
}

/** Whether the model of `LLM_BASE_URL` takes audio. */
export function defaultTakesAudio(values: LanguageModelFields): boolean {
  return audioTargets(values).includes(DEFAULT_NAME);
}

function audioTargets({ LLM_AUDIO_INPUT, MODEL_ALIASES, LLM_MODEL }: LanguageModelFields): readonly string[] {
  return LLM_AUDIO_INPUT.map((name) => {
    const target = MODEL_ALIASES.find((alias) => alias.name === name)?.target ?? name;
    return target === LLM_MODEL ? DEFAULT_NAME : target;
  });
}

function awsKeys(values: LanguageModelFields): AwsKeys | null {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = values;
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  return { accessKeyId, secretAccessKey, sessionToken: values.AWS_SESSION_TOKEN ?? null };
}

/** A sentence for each vendor whose model is named without what a request to it needs. */
export function languageModelConflicts(values: LanguageModelFields): string[] {
  const used = vendorTargets(values);
  const needs = used.flatMap((target) => {
    const missing = missingOf(target);
    return missing === null ? [] : [`${missing} is required: MODEL_ALIASES names ${target.name}.`];
  });
  const audio = used.flatMap(({ name, vendor, takesAudio }) =>
    takesAudio && !VENDOR_FIELDS[vendor].canTakeAudio
      ? [`LLM_AUDIO_INPUT must not name ${name}: models of ${vendor} take no audio.`]
      : [],
  );
  if (values.LLM_LOCAL_MODEL !== undefined && defaultTakesAudio(values))
    audio.push(
      "LLM_AUDIO_INPUT must not name the default model: LLM_LOCAL_MODEL selects one that takes no audio.",
    );
  const known = [DEFAULT_NAME, ...used.map(({ name }) => name)];
  const unknown = audioTargets(values)
    .filter((name) => !known.includes(name))
    .map((name) => `LLM_AUDIO_INPUT must name default or aliases of MODEL_ALIASES, which ${name} is not.`);
  return [...new Set([...needs, ...audio, ...unknown])];
}

/** The variable that is missing; null: none. */
export function missingOf({ vendor, apiKey, baseUrl, aws, region }: VendorTarget): string | null {
  // Servers on the operator's own machines need no key.
  if (vendor === "compatible") return baseUrl === null ? "COMPATIBLE_BASE_URL" : null;
  if (vendor !== "bedrock") return apiKey === null ? VENDOR_FIELDS[vendor].key : null;
  if (apiKey === null && aws === null)
    return "AWS_BEARER_TOKEN_BEDROCK (or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)";
  return region === null ? "AWS_REGION" : null;
}
