import { expect, it } from "vitest";
import { createArgumentCheck } from "./argument-check.ts";
import { BusyError } from "../pacing/busy.ts";
import { directSchemaChecks } from "../lifecycle/create/testing/schema-checks.ts";

const checkFor = createArgumentCheck(directSchemaChecks);
const check = async (schema: Readonly<Record<string, unknown>>, value: unknown): Promise<string | null> =>
  checkFor("account", schema, value);
const seats = { type: "object", properties: { seats: { type: "integer" } }, required: ["seats"] };

it("says what is wrong with which argument", async () => {
  expect(await check(seats, { seats: 4 })).toBeNull();
  expect(await check(seats, { seats: "four" })).toBe("the arguments do not match: seats must be integer");
  expect(await check(seats, {})).toBe("the arguments do not match: seats is required");
});

it("names a few faults of many", async () => {
  const properties = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`p${i}`, { type: "string" }]));
  const values = Object.fromEntries(Object.keys(properties).map((name) => [name, 1]));
  expect((await check({ type: "object", properties }, values))?.split("; ")).toHaveLength(5);
});

it("does not throw for a schema that cannot be used", async () => {
  expect(await check({ type: 5 }, {})).toBe("the schema of its parameters cannot be used");
  expect(await check({ $ref: "https://example.com/a" }, {})).toBe(
    "the schema of its parameters cannot be used",
  );
});

it("lets no arguments pass that could not be checked", async () => {
  const failing = (error: Error) => {
    const checkValue = async (): Promise<never> => {
      throw error;
    };
    return createArgumentCheck({ ...directSchemaChecks, checkValue })("account", seats, {});
  };
  expect(await failing(new BusyError("too many", 1))).toBe("the arguments could not be checked in time");
  expect(await failing(new Error("closed"))).toBe("the arguments could not be checked");
});
