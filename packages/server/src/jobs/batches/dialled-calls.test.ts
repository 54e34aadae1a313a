import { expect, test } from "vitest";
import { describeOutgoingMediaConformance } from "../../ports/testing/outgoing-media-conformance.ts";
import type { Db } from "../../store/database/db.ts";
import type { DialledCall } from "../../store/telephony/carrier-dials.ts";
import { openDialledCalls, outcomeOf } from "./dialled-calls.ts";

/** The suite dials over SIP, for which nothing is created and nothing is read. */
describeOutgoingMediaConformance("calls of batches", () =>
  openDialledCalls({
    db: {} as Db,
    dialsSip: false,
    createCall: () => Promise.reject(new Error("no call is created here")),
  }),
);

const ringing: DialledCall = {
  callId: "c",
  result: null,
  detail: null,
  answeredBy: null,
  isJoined: false,
  isOver: false,
};

test("a ringing call has no outcome", () => {
  expect(outcomeOf(ringing)).toBeNull();
});

test.each([
  [{ isJoined: true }, "placed"],
  // It may have ended by now.
  [{ isJoined: true, isOver: true, result: "completed" }, "placed"],
  [{ result: "busy" }, "busy"],
  [{ result: "no_answer" }, "no_answer"],
  [{ result: "canceled" }, "no_answer"],
  [{ result: "machine" }, "no_answer"],
  [{ result: "failed" }, "failed"],
  [{ result: "completed" }, "failed"],
  [{ isOver: true }, "no_answer"],
] as const)("%o", (changes, kind) => {
  expect(outcomeOf({ ...ringing, ...changes })).toMatchObject({ kind, callId: "c" });
});

test.each([
  [{}, null],
  [{ isJoined: true }, null],
  [{ isJoined: true, answeredBy: "human" }, "placed"],
  [{ isJoined: true, answeredBy: "unknown" }, "placed"],
  [{ isJoined: true, answeredBy: "machine_start" }, "machine"],
  [{ isJoined: true, isOver: true }, "placed"],
  [{ isJoined: true, isOver: true, answeredBy: "machine_end_beep" }, "machine"],
  [{ result: "machine" }, "machine"],
  [{ result: "busy" }, "busy"],
] as const)("where a person is wanted, %o", (changes, kind) => {
  expect(outcomeOf({ ...ringing, ...changes }, true)?.kind ?? null).toBe(kind);
});

test("the carrier's words are repeated", () => {
  const outcome = outcomeOf({ ...ringing, result: "failed", detail: "21211 Invalid number" });
  expect(outcome).toMatchObject({ reason: "the carrier could not connect the call (21211 Invalid number)" });
});
