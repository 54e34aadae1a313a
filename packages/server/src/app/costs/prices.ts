/** The cost of a request, from the table of the operator. Whole numbers only: there is no binary rounding. */

import type { Price, PriceTable } from "../../config/prices.ts";
import type { EngineUse, UsedEngine } from "../../ports/engine-use.ts";

/** Engines whose price is remembered; models of voices are named by users, so there may be any number. */
const MAX_KNOWN = 1_000;

/** Denominator of prices for a million tokens or characters and for a minute (60,000 ms), in 1 / 3,000,000. */
const PARTS = 3_000_000n;
const PARTS_OF_MILLION = PARTS / 1_000_000n;
const PARTS_OF_MINUTE = PARTS / 60_000n;

/**
 * The cost in 1e-9 units of the currency, rounded half up. Null: no price matches, or the price depends on tokens that
 * were not counted. An engine of this machine without a price costs nothing, and so does a request without amounts.
 */
export function openPrices({ prices }: PriceTable): (use: EngineUse) => number | null {
  const known = new Map<string, Price | null>();
  const compiled = prices.map((price) => ({
    price,
    engine: matcher(price.engine),
    model: matcher(price.model),
  }));
  const find = ({ kind, engine, provider, model }: UsedEngine): Price | null => {
    const key = JSON.stringify([kind, engine, provider, model]);
    const before = known.get(key);
    if (before !== undefined) return before;
    const found = compiled.find(
      (one) =>
        one.price.kind === kind &&
        (one.engine.test(engine) || one.engine.test(provider)) &&
        one.model.test(model ?? ""),
    );
    const [oldest] = known.keys();
    if (known.size >= MAX_KNOWN && oldest !== undefined) known.delete(oldest);
    known.set(key, found?.price ?? null);
    return found?.price ?? null;
  };
  return (use) => {
    const price = find(use);
    if (price === null) return use.isLocal || isEmpty(use) ? 0 : null;
    return use.isUncounted && !isFree(price) ? null : nanosOf(price, use);
  };
}

function nanosOf(price: Price, use: EngineUse): number {
  const parts = partsOf(price, use);
  return Number((2n * parts + PARTS) / (2n * PARTS));
}

function partsOf(price: Price, use: EngineUse): bigint {
  if (price.kind === "stt") return BigInt(use.heardMs) * price.minuteNanos * PARTS_OF_MINUTE;
  if (price.kind === "tts") {
    const characters = BigInt(use.characters) * price.charactersNanos * PARTS_OF_MILLION;
    return characters + BigInt(use.spokenMs) * price.minuteNanos * PARTS_OF_MINUTE;
  }
  const cached = BigInt(use.cachedInputTokens);
  const input = BigInt(use.inputTokens) - cached;
  const output = BigInt(use.outputTokens);
  const tokens = input * price.inputNanos + cached * price.cachedInputNanos + output * price.outputNanos;
  return tokens * PARTS_OF_MILLION;
}

function isFree(price: Price): boolean {
  return price.kind === "llm" && price.inputNanos + price.cachedInputNanos + price.outputNanos === 0n;
}

function isEmpty({
  isUncounted,
  inputTokens,
  outputTokens,
  heardMs,
  characters,
  spokenMs,
}: EngineUse): boolean {
  return !isUncounted && inputTokens + outputTokens + heardMs + characters + spokenMs === 0;
}

/** Upper and lower case are the same, and `*` stands for any characters. */
function matcher(pattern: string): RegExp {
  const source = pattern
    .split("*")
    .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join(".*");
  return new RegExp(`^${source}$`, "is");
}
