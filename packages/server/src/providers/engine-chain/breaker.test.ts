import { expect, it } from "vitest";
import { EngineFailure } from "../../ports/engine-failure.ts";
import {
  Breaker,
  FAILURE_WINDOW_MS,
  FAILURES_MAX,
  FIRST_REST_MS,
  LONGEST_REST_MS,
  PERMANENT_REST_MS,
} from "./breaker.ts";

function openBreaker() {
  const clock = { at: 0, nowMs: () => clock.at };
  return { clock, breaker: new Breaker(clock) };
}

const failure = new Error("HTTP 503");
const refusal = new EngineFailure("HTTP 401", { isPermanent: true });

it("opens after three failures within its window, and not after failures that lie further apart", () => {
  const { clock, breaker } = openBreaker();
  for (let count = 1; count < FAILURES_MAX; count += 1) breaker.begin().failed(failure);
  expect(breaker.state).toBe("closed");
  clock.at += FAILURE_WINDOW_MS;
  breaker.begin().failed(failure);
  expect(breaker.state).toBe("closed");
  for (let count = 1; count < FAILURES_MAX; count += 1) breaker.begin().failed(failure);
  expect([breaker.state, breaker.lastError]).toEqual(["open", failure]);
});

it("does not count failures before a success", () => {
  const { breaker } = openBreaker();
  for (let count = 0; count < 20; count += 1) {
    breaker.begin().failed(failure);
    breaker.begin().failed(failure);
    breaker.begin().succeeded();
  }
  expect([breaker.state, breaker.lastError]).toEqual(["closed", null]);
});

it("opens at once after a refusal, and rests longer", () => {
  const { clock, breaker } = openBreaker();
  breaker.begin().failed(refusal);
  clock.at = PERMANENT_REST_MS - 1;
  expect(breaker.state).toBe("open");
  clock.at += 1;
  expect(breaker.state).toBe("due");
});

it("lets one request probe after its rest, which doubles with each probe that fails", () => {
  const { clock, breaker } = openBreaker();
  for (let count = 0; count < FAILURES_MAX; count += 1) breaker.begin().failed(failure);
  for (let restMs = FIRST_REST_MS; restMs < 4 * LONGEST_REST_MS; restMs *= 2) {
    clock.at += Math.min(restMs, LONGEST_REST_MS) - 1;
    expect(breaker.state).toBe("open");
    clock.at += 1;
    expect(breaker.state).toBe("due");
    const probe = breaker.begin();
    expect(breaker.state).toBe("open");
    probe.failed(failure);
    probe.succeeded();
    expect(breaker.state).toBe("open");
  }
  clock.at += LONGEST_REST_MS;
  const dropped = breaker.begin();
  dropped.dropped();
  expect(breaker.state).toBe("due");
  breaker.begin().succeeded();
  expect(breaker.state).toBe("closed");
});
