/** The dialling rules, as they are typed. */

import type { DiallingRules } from "@parley/schema";
import type { FieldFault } from "../../ui/field-errors.tsx";

export interface RulesDraft {
  readonly prefixes: readonly string[];
  /** Empty: no limit. */
  readonly maxCalls: string;
  readonly maxMinutes: string;
}

export const MAX_CALLS_PER_DAY = 1_000_000;
export const MAX_MINUTES_PER_DAY = 10_000_000;

export function draftOf({ allowedPrefixes, maxCallsPerDay, maxMinutesPerDay }: DiallingRules): RulesDraft {
  return {
    prefixes: allowedPrefixes,
    maxCalls: maxCallsPerDay === null ? "" : String(maxCallsPerDay),
    maxMinutes: maxMinutesPerDay === null ? "" : String(maxMinutesPerDay),
  };
}

export function faultsIn({ maxCalls, maxMinutes }: RulesDraft): FieldFault[] {
  return [
    ...limitFault("maxCallsPerDay", maxCalls, MAX_CALLS_PER_DAY),
    ...limitFault("maxMinutesPerDay", maxMinutes, MAX_MINUTES_PER_DAY),
  ];
}

/** Call only for a draft without faults. */
export function rulesOf({ prefixes, maxCalls, maxMinutes }: RulesDraft): DiallingRules {
  const limit = (text: string) => (text.trim() === "" ? null : Number(text));
  return {
    allowedPrefixes: prefixes.map(withPlus),
    maxCallsPerDay: limit(maxCalls),
    maxMinutesPerDay: limit(maxMinutes),
  };
}

/** `49` and `+49 30` are written for `+49` and `+4930`. */
function withPlus(prefix: string): string {
  const digits = prefix.replaceAll(/[\s()./-]/g, "");
  return /^\d/.test(digits) ? `+${digits}` : digits;
}

function limitFault(field: string, text: string, most: number): FieldFault[] {
  if (text.trim() === "") return [];
  const number = Number(text);
  const isGood = Number.isInteger(number) && number >= 0 && number <= most;
  return isGood ? [] : [{ field, message: `must be a whole number from 0 to ${String(most)}, or empty` }];
}

/** A duration such as `90.5s` in minutes with one decimal. */
export function minutesOf(talked: string): number {
  return Math.round(Number.parseFloat(talked) / 6) / 10;
}
