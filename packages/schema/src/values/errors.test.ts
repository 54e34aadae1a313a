import { describe, expect, it } from "vitest";
import {
  ApiError,
  ERROR_CODES,
  Problem,
  problemOf,
  statusOfCode,
  titleOfCode,
  validationError,
} from "./errors.ts";

describe("failures", () => {
  it("have the agreed statuses", () => {
    expect(Object.fromEntries(ERROR_CODES.map((code) => [code, statusOfCode(code)]))).toEqual({
      validation_failed: 400,
      unauthenticated: 401,
      forbidden: 403,
      missing_scope: 403,
      not_found: 404,
      method_not_allowed: 405,
      conflict: 409,
      gone: 410,
      payload_too_large: 413,
      unsupported_media_type: 415,
      wrong_state: 422,
      too_early: 425,
      rate_limited: 429,
      internal: 500,
      not_available: 501,
      no_capacity: 503,
      call_elsewhere: 503,
    });
  });

  it("are printed as problems", () => {
    const error = validationError([{ field: "callTemplate.temperature", message: "must be at most 1" }]);
    const problem = problemOf(error, "https://calls.example", "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11");
    expect(problem).toEqual({
      type: "https://calls.example/problems/validation_failed",
      title: "The request is not valid",
      status: 400,
      detail: "callTemplate.temperature must be at most 1",
      code: "validation_failed",
      errors: [{ field: "callTemplate.temperature", message: "must be at most 1" }],
      requestId: "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11",
    });
    expect(Problem.parse(problem)).toEqual(problem);
  });

  it("have errors only for validation", () => {
    const problem = problemOf(new ApiError("not_found", "There is no such agent."), "", "r");
    expect(problem).not.toHaveProperty("errors");
    expect(Problem.safeParse(problem).success).toBe(true);
  });

  it("name a few problems in the sentence and all in the list", () => {
    const errors = ["a", "b", "c", "d", "e"].map((field) => ({ field, message: "is required" }));
    const error = validationError(errors);
    expect(error.detail).toBe("a is required; b is required; c is required; and 2 more");
    expect(error.errors).toHaveLength(5);
    expect(validationError([{ field: "", message: "must be a JSON object" }]).detail).toBe(
      "The body must be a JSON object",
    );
  });

  it("keep their cause and the time to wait", () => {
    const cause = new Error("inside");
    const error = new ApiError("no_capacity", "Full.", { retryAfterSeconds: 3, cause });
    expect(error).toMatchObject({ status: 503, retryAfterSeconds: 3, cause, message: "Full.", errors: [] });
    expect(new Set(ERROR_CODES.map(titleOfCode)).size).toBe(ERROR_CODES.length);
  });
});
