import { describe, expect, it } from "vitest";
import type { NotCreated } from "../api.ts";
import {
  AgentGoneError,
  CallNotAdmittedError,
  ClaimLostError,
  StoreBusyError,
  ThrottleGoneError,
} from "../../store/database/store-errors.ts";
import { outcomeOf } from "./admission.ts";

describe("what a refusal of the store is for the caller", () => {
  it.each<[Error, NotCreated]>([
    [new AgentGoneError("gone"), { kind: "not_found", reason: "There is no such agent." }],
    [new ClaimLostError("The claim is lost."), { kind: "lost", reason: "The claim is lost." }],
    [
      new ThrottleGoneError("gone"),
      { kind: "refused", errors: [{ field: "throttle", message: "is not a known throttle" }] },
    ],
    [
      new CallNotAdmittedError("account removed", 0),
      { kind: "account_removed", reason: "The account is being removed." },
    ],
    [new CallNotAdmittedError("account rate", 0), { kind: "later", limit: "account rate", waitMs: 1 }],
    [new CallNotAdmittedError("throttle", 1_001), { kind: "later", limit: "throttle", waitMs: 1_001 }],
  ])("%s", (error, outcome) => {
    expect(outcomeOf(error)).toEqual(outcome);
  });

  it("is nothing for faults of the database", () => {
    expect([outcomeOf(new StoreBusyError("busy")), outcomeOf(new Error("broken"))]).toEqual([null, null]);
  });
});
