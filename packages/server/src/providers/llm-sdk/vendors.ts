/**
 * Vendors of language models: the address of each, what its histories must look like, and its package of the `ai` SDK,
 * which is loaded when one of its models is opened.
 */

import type { LanguageModel } from "ai";
import type { LlmEngine } from "../../ports/llm.ts";
import { serverOf } from "../../ports/engine-origin.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { ANTHROPIC_MARK, BEDROCK_MARK } from "./cache-marks.ts";
import { PLAIN_SHAPE, type PromptShape } from "./prompt.ts";
import { openSdkLlm } from "./sdk-llm.ts";
import type { LlmVendor, VendorTarget } from "./vendor-target.ts";

interface Vendor {
  /** As people write it. */
  readonly title: string;
  readonly baseUrl: (target: VendorTarget) => string;
  /** Whether `GET {baseUrl}/models` lists its models as OpenAI does, with the key as a bearer token. */
  readonly listsModels: boolean;
  readonly shape: (model: string) => PromptShape;
  readonly load: (target: VendorTarget, baseURL: string) => Promise<SdkLlmConnect>;
}

type SdkLlmConnect = (model: string) => LanguageModel;

const ALTERNATING: PromptShape = { ...PLAIN_SHAPE, alternates: true };
const fetched = { fetch: boundedFetch };

/** For a vendor with the protocol of OpenAI and no package of its own here. */
function compatible(title: string, baseUrl: string): Vendor {
  return {
    title,
    baseUrl: () => baseUrl,
    listsModels: true,
    shape: () => PLAIN_SHAPE,
    async load({ vendor, apiKey }, baseURL) {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const key = apiKey === null ? {} : { apiKey };
      const provider = createOpenAICompatible({
        ...fetched,
        ...key,
        name: vendor,
        baseURL,
        includeUsage: true,
      });
      return (model) => provider.chatModel(model);
    },
  };
}

const VENDORS: Readonly<Record<LlmVendor, Vendor>> = {
  openai: {
    title: "OpenAI",
    baseUrl: () => "https://api.openai.com/v1",
    listsModels: true,
    shape: () => PLAIN_SHAPE,
    async load({ apiKey }, baseURL) {
      const { createOpenAI } = await import("@ai-sdk/openai");
      const provider = createOpenAI({ ...fetched, baseURL, apiKey: apiKey ?? "" });
      return (model) => provider.chat(model);
    },
  },
  anthropic: {
    title: "Anthropic",
    baseUrl: () => "https://api.anthropic.com/v1",
    listsModels: false,
    shape: () => ({ ...ALTERNATING, cacheMark: ANTHROPIC_MARK }),
    async load({ apiKey }, baseURL) {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      const provider = createAnthropic({ ...fetched, baseURL, apiKey: apiKey ?? "" });
      return (model) => provider(model);
    },
  },
  google: {
    title: "Google",
    baseUrl: () => "https://generativelanguage.googleapis.com/v1beta",
    listsModels: false,
    shape: () => ALTERNATING,
    async load({ apiKey }, baseURL) {
      const { createGoogle } = await import("@ai-sdk/google");
      const provider = createGoogle({ ...fetched, baseURL, apiKey: apiKey ?? "" });
      return (model) => provider(model);
    },
  },
  groq: {
    title: "Groq",
    baseUrl: () => "https://api.groq.com/openai/v1",
    listsModels: true,
    shape: () => PLAIN_SHAPE,
    async load({ apiKey }, baseURL) {
      const { createGroq } = await import("@ai-sdk/groq");
      const provider = createGroq({ ...fetched, baseURL, apiKey: apiKey ?? "" });
      return (model) => provider(model);
    },
  },
  mistral: {
    title: "Mistral",
    baseUrl: () => "https://api.mistral.ai/v1",
    listsModels: true,
    shape: () => ({ ...PLAIN_SHAPE, answersResults: true }),
    async load({ apiKey }, baseURL) {
      const { createMistral } = await import("@ai-sdk/mistral");
      const provider = createMistral({ ...fetched, baseURL, apiKey: apiKey ?? "" });
      return (model) => provider(model);
    },
  },
  bedrock: {
    title: "Amazon Bedrock",
    baseUrl: ({ region }) => `https://bedrock-runtime.${region ?? ""}.amazonaws.com`,
    // Other families refuse a cache point.
    listsModels: false,
    shape: (model) => ({
      ...ALTERNATING,
      cacheMark: /\banthropic\.claude|\bamazon\.nova/.test(model) ? BEDROCK_MARK : null,
    }),
    async load({ apiKey, aws, region }, baseURL) {
      const { createAmazonBedrock } = await import("@ai-sdk/amazon-bedrock");
      const keys =
        aws === null
          ? { apiKey: apiKey ?? "" }
          : {
              accessKeyId: aws.accessKeyId,
              secretAccessKey: aws.secretAccessKey,
              ...(aws.sessionToken === null ? {} : { sessionToken: aws.sessionToken }),
            };
      const provider = createAmazonBedrock({ ...fetched, ...keys, baseURL, region: region ?? "" });
      return (model) => provider(model);
    },
  },
  xai: compatible("xAI", "https://api.x.ai/v1"),
  deepseek: compatible("DeepSeek", "https://api.deepseek.com/v1"),
  openrouter: compatible("OpenRouter", "https://openrouter.ai/api/v1"),
  compatible: compatible("the model server", ""),
};

/** Where `GET …/models` lists the vendor's models as OpenAI does; null: it does not. */
export function modelListAddress(target: VendorTarget): string | null {
  const { listsModels, baseUrl } = VENDORS[target.vendor];
  return listsModels ? (target.baseUrl ?? baseUrl(target)) : null;
}

/** One model of a vendor. The vendor is not contacted before the first request. */
export async function openVendorLlm(target: VendorTarget): Promise<LlmEngine> {
  const { vendor, model, name, apiKey, aws, takesAudio } = target;
  const { title, baseUrl, shape, load } = VENDORS[vendor];
  const address = target.baseUrl ?? baseUrl(target);
  const secrets = [apiKey, aws?.secretAccessKey, aws?.sessionToken, aws?.accessKeyId];
  return openSdkLlm({
    name: vendor,
    subject: title,
    models: new Map([[name, model]]),
    server: serverOf(address),
    secrets: secrets.filter((secret) => typeof secret === "string"),
    shape: shape(model),
    takesAudio,
    connect: await load(target, address),
  });
}
