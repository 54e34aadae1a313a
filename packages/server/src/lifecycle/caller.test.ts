import { expect, test } from "vitest";
import { callerOf } from "./caller.ts";

const bare = { settings: {}, requestContext: null, metadata: {} };

test("a call says whom it is with by the number that is dialled, the carrier's request, or its metadata", () => {
  const dialled = { medium: { telephony1: { outgoing: { to: "+15550100", from: "+15550199" } } } };
  const metadata = { order: "7", "Customer-Name": " Ada ", email: "ada@example.com" };
  const all = { settings: dialled, requestContext: { From: "+15550111" }, metadata };
  expect(callerOf(all)).toBe("+15550100");
  expect(callerOf({ ...all, settings: { medium: { sip: { incoming: {} } } } })).toBe("+15550111");
  const requestContext = { telephony1: { CallSid: "CA1", From: "+15550133", To: "+15550144" } };
  expect(callerOf({ ...bare, requestContext, metadata })).toBe("+15550133");
  expect(callerOf({ ...bare, metadata })).toBe("Ada");
  expect(callerOf({ ...bare, metadata: { phone_number: "+15550122" } })).toBe("+15550122");
});

test("it says nothing where nothing names the caller", () => {
  expect(callerOf(bare)).toBeNull();
  expect(callerOf({ ...bare, metadata: { order: "7", caller: " " } })).toBeNull();
  expect(callerOf({ ...bare, settings: { medium: { webRtc: {} } }, requestContext: { from: 7 } })).toBeNull();
  expect(callerOf({ ...bare, metadata: { caller: "x".repeat(1_000) } })).toHaveLength(100);
});
