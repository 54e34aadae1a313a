/** The request of one sentence. Pure. */

import { TEXT_PLACEHOLDER } from "@parley/schema";
import type { ProviderVoice } from "../../ports/voice-provider.ts";

export type GenericVoice = ProviderVoice<"generic">;

/** Where the definition has no body. */
const DEFAULT_BODY = { text: TEXT_PLACEHOLDER };

/** The body as JSON, with the text in the place of each placeholder. */
export function requestBody({ body }: GenericVoice, text: string): string {
  return JSON.stringify(withText(body ?? DEFAULT_BODY, text));
}

/** The depth of definitions is limited where they are stored. */
function withText(value: unknown, text: string): unknown {
  // A function, because a text for `replaceAll` could hold its patterns, such as `$&`.
  if (typeof value === "string") return value.replaceAll(TEXT_PLACEHOLDER, () => text);
  if (Array.isArray(value)) return value.map((item) => withText(item, text));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withText(item, text)]));
}

/** The headers of the definition win over these, in any case. */
export function requestHeaders({ headers = {} }: GenericVoice): Record<string, string> {
  const own = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const ours = Object.entries({
    "content-type": "application/json",
    accept: "audio/l16, audio/wav, application/json, application/jsonl, text/event-stream, */*;q=0.1",
  });
  return { ...Object.fromEntries(ours.filter(([name]) => !own.has(name))), ...headers };
}

/** Headers that hold no key, and whose values are words of messages. */
const PLAIN_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "accept-language",
  "content-type",
  "user-agent",
]);

/** Texts that no message may contain. A header holds a key by itself or after its scheme. */
export function secretsOf({ headers = {} }: GenericVoice): string[] {
  return Object.entries(headers)
    .filter(([name]) => !PLAIN_HEADERS.has(name.toLowerCase()))
    .flatMap(([, value]) => [value, ...value.split(" ")]);
}
