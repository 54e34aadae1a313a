/** Every vendor of language models with the fake that tests it. */

import type { LocalHandler, LocalServer } from "../../../ports/testing/local-server.ts";
import { openLocalServer } from "../../../ports/testing/local-server.ts";
import type { LlmEngine } from "../../../ports/llm.ts";
import { openVendorLlm } from "../vendors.ts";
import type { LlmVendor, VendorTarget } from "../vendor-target.ts";
import { anthropicWire } from "./anthropic-wire.ts";
import { BEDROCK_MODEL, bedrockWire } from "./bedrock-wire.ts";
import { chatWire } from "./chat-wire.ts";
import { googleWire } from "./google-wire.ts";
import { KEY, type VendorWire } from "./vendor-wire.ts";

export interface Subject {
  readonly vendor: LlmVendor;
  readonly title: string;
  readonly model: string;
  readonly wire: VendorWire;
  /** What follows the host in the address. */
  readonly root: string;
  readonly takesAudio: boolean;
}

const path = "/v1/chat/completions";
const chat = { root: "/v1", takesAudio: false };
const hearing = { root: "/v1", takesAudio: true };
const streaming = ["stream_options"];

export const SUBJECTS: readonly Subject[] = [
  { ...chat, vendor: "anthropic", title: "Anthropic", model: "claude-sonnet-4-5", wire: anthropicWire },
  {
    vendor: "google",
    title: "Google",
    model: "gemini-2.5-flash",
    wire: googleWire,
    root: "/v1beta",
    takesAudio: true,
  },
  {
    ...hearing,
    vendor: "openai",
    title: "OpenAI",
    model: "gpt-4.1-mini",
    wire: chatWire({ path, fields: streaming, hears: true }),
  },
  {
    ...chat,
    vendor: "groq",
    title: "Groq",
    model: "llama-3.3-70b-versatile",
    wire: chatWire({ path, fields: streaming, dialect: "groq" }),
  },
  {
    ...chat,
    vendor: "mistral",
    title: "Mistral",
    model: "mistral-small-latest",
    wire: chatWire({ path, fields: [], dialect: "mistral" }),
  },
  {
    vendor: "bedrock",
    title: "Amazon Bedrock",
    model: BEDROCK_MODEL,
    wire: bedrockWire,
    root: "",
    takesAudio: false,
  },
  { ...chat, vendor: "xai", title: "xAI", model: "grok-4", wire: chatWire({ path, fields: streaming }) },
  {
    ...chat,
    vendor: "deepseek",
    title: "DeepSeek",
    model: "deepseek-chat",
    wire: chatWire({ path, fields: streaming }),
  },
  {
    ...hearing,
    vendor: "openrouter",
    title: "OpenRouter",
    model: "meta-llama/llama-3.3-70b-instruct",
    wire: chatWire({ path, fields: streaming, hears: true }),
  },
  {
    ...hearing,
    vendor: "compatible",
    title: "the model server",
    model: "fixie-ai/ultravox-v0_5-llama-3_2-1b",
    wire: chatWire({ path, fields: streaming, hears: true }),
  },
];

export function targetOf(
  subject: Subject,
  baseUrl: string,
  fields: Partial<VendorTarget> = {},
): VendorTarget {
  const { vendor, model, root, takesAudio } = subject;
  return {
    name: `${vendor}:${model}`,
    vendor,
    model,
    apiKey: KEY,
    baseUrl: `${new URL(baseUrl).origin}${root}`,
    aws: null,
    region: vendor === "bedrock" ? "eu-central-1" : null,
    takesAudio,
    ...fields,
  };
}

export interface OpenedSubject {
  readonly engine: LlmEngine;
  readonly server: LocalServer;
}

export async function openSubject(
  subject: Subject,
  handler: LocalHandler,
  fields: Partial<VendorTarget> = {},
): Promise<OpenedSubject> {
  const server = await openLocalServer(handler);
  const engine = await openVendorLlm(targetOf(subject, server.baseUrl, fields));
  return { engine, server };
}
