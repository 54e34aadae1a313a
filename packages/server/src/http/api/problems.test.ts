import { ApiError, ERROR_CODES } from "@parley/schema";
import { describe, expect, it } from "vitest";
import { BusyError } from "../../pacing/busy.ts";
import { StoreBusyError } from "../../store/database/store-errors.ts";
import { problemAnswer, toApiError } from "./problems.ts";

const retryAfter = (error: ApiError): string | undefined =>
  problemAnswer(error, "https://voice.example", "r1").headers["retry-after"];

describe("the wait that is asked of a client", () => {
  it.each([
    [undefined, "1"],
    [0, "1"],
    [-3, "1"],
    [0.2, "1"],
    [1, "1"],
    [1.01, "2"],
    [86_400, "86400"],
  ])("of %s s is %s whole seconds, at least one", (retryAfterSeconds, printed) => {
    const options = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    for (const code of ["rate_limited", "no_capacity", "too_early"] as const) {
      expect(retryAfter(new ApiError(code, "Wait.", options))).toBe(printed);
    }
  });

  it("is not there where waiting does not help, unless somebody knows it does", () => {
    const waiting = ERROR_CODES.filter((code) => retryAfter(new ApiError(code, "No.")) !== undefined);
    expect(waiting).toEqual(["too_early", "rate_limited", "no_capacity", "call_elsewhere"]);
    expect(retryAfter(new ApiError("conflict", "Busy.", { retryAfterSeconds: 1 }))).toBe("1");
    expect(retryAfter(toApiError(new StoreBusyError("busy")))).toBe("1");
    expect(retryAfter(toApiError(new BusyError("Too many checks are waiting.", 2_000)))).toBe("2");
  });
});
