/** Whether an account may dial a number, by the prefixes that it allows. Pure. */

import { dialledAddress } from "@parley/schema";

/**
 * `request`: named by whoever has a key of the account. `model`: chosen by the language model during a call. `farSide`:
 * by whoever is at the other end of a call.
 */
export type ChosenBy = "request" | "model" | "farSide";

const CHOOSERS: Readonly<Record<Exclude<ChosenBy, "request">, string>> = {
  model: "the model",
  farSide: "the other side of a call",
};

const E164 = /^\+\d+$/;
/** As numbers are dialled at a trunk. */
const NUMBER_AT_HOST = /^sips?:(\+\d+)@/;

/**
 * Why the number may not be dialled, as the end of a sentence that begins with its field; null: it may. A number that a
 * model or the other side has chosen needs a list of prefixes: a caller may have talked the model into it.
 */
export function numberProblem(
  to: string,
  allowedPrefixes: readonly string[],
  chosenBy: ChosenBy = "request",
): string | null {
  if (allowedPrefixes.length === 0) {
    if (chosenBy === "request") return null;
    return `may be chosen by ${CHOOSERS[chosenBy]} only where the account allows some prefixes of numbers`;
  }
  const number = numberIn(to, chosenBy);
  if (number === null) {
    return "must be a number in E.164 form, such as +4930123456, because the account allows only some prefixes";
  }
  if (allowedPrefixes.some((prefix) => number.startsWith(prefix))) return null;
  return `has none of the prefixes that the account allows: ${allowedPrefixes.join(", ")}`;
}

/**
 * The phone number of a text, or of the user part of a SIP URI; null: there is none. A URI that a model has chosen has
 * none, because its host could be anybody's.
 */
function numberIn(to: string, chosenBy: ChosenBy): string | null {
  const address = dialledAddress(to);
  if (address === null) return null;
  if (E164.test(address)) return address;
  return chosenBy === "request" ? (NUMBER_AT_HOST.exec(address)?.[1] ?? null) : null;
}
