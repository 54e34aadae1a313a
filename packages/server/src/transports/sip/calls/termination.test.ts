import { expect, it } from "vitest";
import { terminationOf } from "./termination.ts";

it.each([
  ["response", 486, "BUSY"],
  ["response", 600, "BUSY"],
  ["timeout", 408, "TIMEOUT"],
  ["response", 480, "TIMEOUT"],
  ["response", 404, "INVALID_NUMBER"],
  ["response", 604, "INVALID_NUMBER"],
  ["response", 487, "CANCELED"],
  ["canceled", 487, "CANCELED"],
  ["response", 403, "REJECTED"],
  ["response", 603, "REJECTED"],
  ["protocol", 488, "REJECTED"],
  ["response", 502, "DESTINATION_UNAVAILABLE"],
  ["unreachable", 503, "DESTINATION_UNAVAILABLE"],
  ["refused_target", 403, "DESTINATION_UNAVAILABLE"],
  ["response", 302, "UNKNOWN"],
] as const)("%s with %i is %s", (cause, status, termination) => {
  expect(terminationOf({ cause, status })).toBe(termination);
});
