import { expect, it } from "vitest";
import { healthAfter, type WebhookHealth } from "./webhook-health.ts";

const WELL: WebhookHealth = { status: "normal", failuresInRow: 0, recentFailures: [], changed: false };

const attempt = (failure: string | null, isGone = false) => ({
  attempt: { at: "2026-01-02T03:04:05.678Z", durationMs: 1, status: null, failure },
  isGone,
});

const after = (...outcomes: ReturnType<typeof attempt>[]): WebhookHealth =>
  outcomes.reduce(healthAfter, WELL);
const failures = (count: number) => Array.from({ length: count }, (_, turn) => attempt(`HTTP ${500 + turn}`));

it("is unhealthy after five failures in a row, not after four", () => {
  expect(after(...failures(4))).toMatchObject({ status: "normal", failuresInRow: 4, changed: false });
  expect(after(...failures(5))).toMatchObject({ status: "unhealthy", failuresInRow: 5, changed: true });
  expect(after(...failures(4), attempt(null), ...failures(4)).status).toBe("normal");
});

it("is unhealthy at once when the receiver is gone, and well with the next success", () => {
  const gone = after(attempt("HTTP 410", true));
  expect(gone).toMatchObject({ status: "unhealthy", failuresInRow: 1 });
  expect(healthAfter({ ...gone, changed: false }, attempt(null))).toMatchObject({
    status: "normal",
    failuresInRow: 0,
    changed: true,
  });
  // Later outcomes do not improve it.
  expect(healthAfter(gone, attempt("HTTP 500")).status).toBe("unhealthy");
});

it("shows the last ten failures, newest first", () => {
  const { recentFailures } = after(...failures(12), attempt(null));
  expect(recentFailures.map(({ failure }) => failure)).toEqual(
    Array.from({ length: 10 }, (_, turn) => `HTTP ${511 - turn}`),
  );
});
