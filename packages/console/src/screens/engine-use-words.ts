/** What calls have used of engines, in words. */

import type { Cost, EngineKind, EngineUse } from "@parley/schema";
import { ENGINE_WORDS } from "./models/engine-words.ts";

export function kindText(kind: EngineKind): string {
  return ENGINE_WORDS[kind].title;
}

/** Durations of the API, such as `0.384s`. */
function lengthText(duration: string): string {
  const seconds = Number.parseFloat(duration);
  if (seconds < 1) return `${String(Math.round(seconds * 1000))} ms`;
  if (seconds < 120) return `${seconds.toFixed(1)} s`;
  return `${(seconds / 60).toLocaleString(undefined, { maximumFractionDigits: 1 })} min`;
}

export function latencyText(typical: string | null, worst: string | null): string {
  if (typical === null || worst === null) return "–";
  return `${lengthText(typical)} / ${lengthText(worst)}`;
}

type Amounts = Pick<
  EngineUse,
  | "inputTokens"
  | "cachedInputTokens"
  | "outputTokens"
  | "uncountedRequests"
  | "heard"
  | "characters"
  | "spoken"
>;

/** The amounts that are not 0. */
export function usedText(use: Amounts): string {
  const { inputTokens, cachedInputTokens, outputTokens, uncountedRequests, heard, characters, spoken } = use;
  const cached = cachedInputTokens > 0 ? ` (${cachedInputTokens.toLocaleString()} cached)` : "";
  const parts = [
    inputTokens + outputTokens > 0 &&
      `${inputTokens.toLocaleString()} tokens in${cached}, ${outputTokens.toLocaleString()} out`,
    uncountedRequests > 0 && `${uncountedRequests.toLocaleString()} requests without a count of tokens`,
    heard !== "0s" && `${lengthText(heard)} heard`,
    characters > 0 && `${characters.toLocaleString()} characters`,
    spoken !== "0s" && `${lengthText(spoken)} spoken`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? "nothing" : parts.join(", ");
}

/** With its digits below a cent: the cost of a turn is less than one. */
export function costText(amount: string, currency: string): string {
  return new Intl.NumberFormat(undefined, {
    style: "currency",
    currency,
    minimumFractionDigits: 2,
    maximumFractionDigits: 6,
  }).format(Number(amount));
}

export function totalText({ amount, currency, isComplete, withoutPrice }: Cost): string {
  const total = `Cost: ${costText(amount, currency)}.`;
  return isComplete ? total : `${total} Some requests are not in it: ${withoutPrice.join(", ")}.`;
}

/** What one turn has used of one engine, in an event. */
export interface TurnEngine {
  readonly key: string;
  readonly label: string;
  readonly text: string;
}

/** From the extras of an event `engines.used`, which lack what is 0. */
export function turnEnginesOf(extras: Readonly<Record<string, unknown>> | null): readonly TurnEngine[] {
  const engines: readonly unknown[] = Array.isArray(extras?.["engines"]) ? extras["engines"] : [];
  const currency = currencyOf(extras?.["cost"]);
  return engines.flatMap((engine, index) => {
    if (!isRecord(engine) || typeof engine["engine"] !== "string") return [];
    const number = (name: string): number => (typeof engine[name] === "number" ? engine[name] : 0);
    const text = (name: string): string => (typeof engine[name] === "string" ? engine[name] : "0s");
    const used = usedText({
      inputTokens: number("inputTokens"),
      cachedInputTokens: number("cachedInputTokens"),
      outputTokens: number("outputTokens"),
      uncountedRequests: number("uncountedRequests"),
      heard: text("heard"),
      characters: number("characters"),
      spoken: text("spoken"),
    });
    const cost = engine["cost"];
    const money = typeof cost === "string" && currency !== null ? `, ${costText(cost, currency)}` : "";
    return [{ key: String(index), label: engine["engine"], text: `${used}${money}` }];
  });
}

function currencyOf(cost: unknown): string | null {
  return isRecord(cost) && typeof cost["currency"] === "string" ? cost["currency"] : null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
