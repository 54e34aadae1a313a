import { expect, it } from "vitest";
import { createArgumentCheck } from "./argument-check.ts";
import { openJsonSchema } from "../providers/json-schema/json-schema.ts";

const check = createArgumentCheck(openJsonSchema());
const seats = { type: "object", properties: { seats: { type: "integer" } }, required: ["seats"] };

it("says what is wrong with which argument", () => {
  expect(check(seats, { seats: 4 })).toBeNull();
  expect(check(seats, { seats: "four" })).toBe("the arguments do not match: seats must be integer");
  expect(check(seats, {})).toBe("the arguments do not match: seats is required");
});

it("names a few faults of many", () => {
  const properties = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`p${i}`, { type: "string" }]));
  const values = Object.fromEntries(Object.keys(properties).map((name) => [name, 1]));
  expect(check({ type: "object", properties }, values)?.split("; ")).toHaveLength(5);
});

it("does not throw for a schema that cannot be used", () => {
  expect(check({ type: 5 }, {})).toBe("the schema of its parameters cannot be used");
  expect(check({ $ref: "https://example.com/a" }, {})).toBe("the schema of its parameters cannot be used");
});
