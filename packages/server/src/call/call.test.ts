import { expect, test } from "vitest";
import { joinedCall } from "./testing/scenario.ts";

test("a spoken turn is answered", () => {
  const call = joinedCall().run(500).says("I want a table", 1200).run(8000);
  expect(call.transcript).toEqual([
    "user: I want a table",
    "agent: You said I want a table. That is understood. What else can I do for you?",
  ]);
  expect(call.states).toEqual(["listening", "thinking", "speaking", "listening"]);
});
