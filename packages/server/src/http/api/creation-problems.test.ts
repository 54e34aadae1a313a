import { describe, expect, it } from "vitest";
import type { NotCreated } from "../../lifecycle/api.ts";
import { creationProblem } from "./creation-problems.ts";
import { problemAnswer } from "./problems.ts";

interface Case {
  readonly outcome: NotCreated;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly object[];
  readonly retryAfter?: string;
}

const reason = "There is no such agent.";
const errors = [
  { field: "voice", message: "is wrong" },
  { field: "", message: "is no call" },
];
const later = { status: 429, code: "rate_limited" } as const;

const CASES: Readonly<Record<NotCreated["kind"], readonly Case[]>> = {
  refused: [
    {
      outcome: { kind: "refused", errors },
      status: 400,
      code: "validation_failed",
      detail: "voice is wrong; The body is no call",
      errors,
    },
  ],
  not_found: [{ outcome: { kind: "not_found", reason }, status: 404, code: "not_found", detail: reason }],
  prior_call_running: [
    { outcome: { kind: "prior_call_running", reason }, status: 422, code: "wrong_state", detail: reason },
  ],
  not_available: [
    { outcome: { kind: "not_available", reason }, status: 501, code: "not_available", detail: reason },
  ],
  not_enabled: [{ outcome: { kind: "not_enabled", reason }, status: 403, code: "forbidden", detail: reason }],
  account_removed: [
    { outcome: { kind: "account_removed", reason }, status: 403, code: "forbidden", detail: reason },
  ],
  later: [
    {
      ...later,
      outcome: { kind: "later", limit: "calls at a time", waitMs: 5_000 },
      detail: "The account has reached its limit of concurrent calls; try again in 5 s.",
      retryAfter: "5",
    },
    {
      ...later,
      outcome: { kind: "later", limit: "account rate", waitMs: 1 },
      detail: "The account has reached its rate of new calls; try again in 1 s.",
      retryAfter: "1",
    },
    {
      ...later,
      outcome: { kind: "later", limit: "throttle", waitMs: 1_001 },
      detail: "The call throttle allows no more calls for now; try again in 2 s.",
      retryAfter: "2",
    },
    {
      ...later,
      outcome: { kind: "later", limit: "dialled calls", waitMs: 60_000 },
      detail: "The account has reached its limit of dialled calls within 24 hours; try again in 60 s.",
      retryAfter: "60",
    },
    {
      ...later,
      outcome: { kind: "later", limit: "dialled minutes", waitMs: 60_000 },
      detail:
        "The account has reached its limit of minutes of dialled calls within 24 hours; try again in 60 s.",
      retryAfter: "60",
    },
  ],
  not_configured: [
    {
      outcome: { kind: "not_configured", errors },
      status: 400,
      code: "validation_failed",
      detail: "voice is wrong; The body is no call",
      errors,
    },
  ],
  carrier_failed: [
    {
      outcome: { kind: "carrier_failed", reason: "Twilio answered HTTP 503", waitMs: 1, isRateLimit: false },
      status: 503,
      code: "no_capacity",
      detail: "Twilio answered HTTP 503. Nobody was called.",
      retryAfter: "1",
    },
  ],
  full: [
    {
      outcome: { kind: "full", reason: "This server is full.", waitMs: 5_000 },
      status: 503,
      code: "no_capacity",
      detail: "This server is full.",
      retryAfter: "5",
    },
  ],
  exists: [{ outcome: { kind: "exists", reason }, status: 409, code: "conflict", detail: reason }],
  lost: [{ outcome: { kind: "lost", reason }, status: 409, code: "conflict", detail: reason }],
};

describe("how an outcome without a call is answered", () => {
  it.each(Object.values(CASES).flat())("$outcome", ({ outcome, retryAfter, ...wanted }) => {
    const answer = problemAnswer(creationProblem(outcome), "https://voice.example", "r1");
    const { status, code, detail, errors } = JSON.parse(answer.body) as Case;
    expect({ status, code, detail, ...(errors && { errors }) }).toEqual(wanted);
    expect(answer.headers["retry-after"]).toBe(retryAfter);
  });
});
