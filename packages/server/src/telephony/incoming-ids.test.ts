import { Uuid } from "@parley/schema";
import { expect, it } from "vitest";
import { incomingCallId } from "./incoming-ids.ts";

const CALL = { accountId: "account", agentId: "agent", carrier: "telephony1", carrierCallId: "CA1" };

it("the same call of a carrier has the same id, which is a UUID", () => {
  expect(incomingCallId(CALL, 0)).toBe(incomingCallId({ ...CALL }, 0));
  expect(Uuid.safeParse(incomingCallId(CALL, 0)).success).toBe(true);
});

it("another call has another id", () => {
  const others = [
    incomingCallId(CALL, 0),
    incomingCallId(CALL, 1),
    incomingCallId({ ...CALL, accountId: "other" }, 0),
    incomingCallId({ ...CALL, agentId: "other" }, 0),
    incomingCallId({ ...CALL, carrier: "telephony2" }, 0),
    incomingCallId({ ...CALL, carrierCallId: "CA10" }, 0),
  ];
  expect(new Set(others).size).toBe(others.length);
});
