import { expect, it } from "vitest";
import { allowedContext, contextOf, contextParts } from "./sip-context.ts";

const CALL = {
  sourceAddress: "203.0.113.9",
  registrationId: null,
  user: "a",
  host: "b",
  toUri: "sip:a@b",
  fromUri: "sip:c@d",
  callerId: "c",
  fromDisplayName: null,
  headers: [
    { name: "x-order-number", value: "17" },
    { name: "x-name", value: "Ann {" },
    { name: "x---proto--", value: '{"a":1}' },
    { name: "subject", value: "no" },
  ],
};

it("takes the headers that begin with X-, and the caller", () => {
  const caller = { caller_id: "c", from_display_name: "", from_uri: "sip:c@d" };
  const expected =
    '{"order_number":17,"name":"Ann {","__proto__":{"a":1},"service":{"sip":SIP},"ultravox":{"sip":SIP}}';
  const context = contextOf(contextParts(CALL));
  expect(JSON.stringify(context)).toBe(expected.replaceAll("SIP", JSON.stringify(caller)));
  expect(Object.getPrototypeOf(context)).toBe(Object.prototype);
});

it("leaves out what makes the context worse, and keeps what it needs", async () => {
  const problems = async (context: Readonly<Record<string, unknown>>): Promise<number> =>
    Object.keys(context).filter((name) => name !== "name").length + ("name" in context ? 0 : 1);
  expect(await allowedContext(contextParts(CALL), problems)).toEqual({ name: "Ann {" });
});

it("takes at most 50 headers", () => {
  const headers = Array.from({ length: 60 }, (_, at) => ({ name: `x-n${String(at)}`, value: "v" }));
  expect(contextParts({ ...CALL, headers })).toHaveLength(56);
});
