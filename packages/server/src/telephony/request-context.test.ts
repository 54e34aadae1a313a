import { expect, test } from "vitest";
import { mappedContext } from "./request-context.ts";

test("fields are put at their paths, and missing ones are left out", () => {
  const fields = new Map([
    ["From", "+4930123456"],
    ["FromCity", "Berlin"],
    ["To", "+41441234567"],
  ]);
  const mapping = {
    From: "user.phone",
    FromCity: "user.address.city",
    To: "called",
    CallerName: "user.name",
  };
  expect(mappedContext(fields, mapping)).toEqual({
    user: { phone: "+4930123456", address: { city: "Berlin" } },
    called: "+41441234567",
  });
  expect(mappedContext(fields, {})).toEqual({});
});

test("names of the prototype are ordinary names", () => {
  const context = mappedContext(new Map([["From", "x"]]), { From: "constructor.toString" });
  expect(Object.hasOwn(context, "constructor")).toBe(true);
  expect(JSON.stringify(context)).toBe('{"constructor":{"toString":"x"}}');
});
