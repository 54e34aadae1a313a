import { describe, expect, it } from "vitest";
import { BusyError } from "../../pacing/busy.ts";
import { type Job, JobLostError } from "../../threads/job-pool.ts";
import { openSchemaChecks } from "./schema-checks.ts";
import { run, type SchemaTask } from "./schema-job.ts";

/** What comes to the threads, and runs here. */
function open(answer: (task: SchemaTask) => unknown = run) {
  const jobs: Job[] = [];
  const checks = openSchemaChecks(async (job) => {
    jobs.push(job);
    return answer(job.input as SchemaTask);
  });
  const types = () => jobs.map(({ input }) => (input as SchemaTask).type);
  return { ...checks, jobs, types };
}

const hostile = { properties: { a: { type: "string", pattern: "^(?=(a+)+$)" } } };
const attack = { a: `${"a".repeat(60)}!` };

describe("the main thread", () => {
  it("compiles and checks nothing itself that may take long", async () => {
    const { checkSchema, checkValue, allSatisfy, jobs, types } = open(() => ({ faults: [] }));
    for (let count = 0; count < 20; count += 1) await checkValue("account", hostile, attack);
    await checkSchema("account", hostile);
    await allSatisfy("account", hostile, [attack]);
    expect(types()).toEqual([...Array.from({ length: 20 }, () => "value"), "schema", "values"]);
    expect(new Set(jobs.map(({ accountId }) => accountId))).toEqual(new Set(["account"]));
    for (const { limitMs } of jobs) expect(limitMs).toBe(5_000);
  });

  it("needs no thread for usual schemas and values", async () => {
    const { checkSchema, checkValue, allSatisfy, jobs } = open();
    const schema = { type: "object", properties: { seats: { type: "integer" } }, required: ["seats"] };
    expect(await checkSchema("account", schema)).toEqual([]);
    expect(await checkValue("account", schema, { seats: 4 })).toEqual([]);
    expect(await allSatisfy("account", schema, [{ seats: 1 }, { seats: 2 }])).toBe(true);
    expect(jobs).toEqual([]);
  });

  it("refuses a schema that is too large itself", async () => {
    const { checkSchema, jobs } = open();
    const list = Array.from({ length: 200_000 }, () => 1);
    expect(await checkSchema("account", { enum: list })).toMatchObject([
      { message: expect.stringContaining("65536") },
    ]);
    expect(jobs).toEqual([]);
  });

  it("asks once whether a schema can be used", async () => {
    const { checkSchema, types } = open();
    const schema = { $defs: { s: { type: "string" } }, $ref: "#/$defs/s" };
    expect([await checkSchema("a", schema), await checkSchema("b", schema)]).toEqual([[], []]);
    expect(types()).toEqual(["schema"]);
    const bad = { $ref: "#/$defs/none" };
    expect((await checkSchema("a", bad)).length).toBe(1);
    expect((await checkSchema("a", bad)).length).toBe(1);
    expect(types()).toEqual(["schema", "schema", "schema"]);
  });
});

it("reports the faults that the thread finds", async () => {
  const { checkValue, allSatisfy } = open();
  const schema = { properties: { a: { type: "string", pattern: "^(a+)+$" } }, required: ["b"] };
  expect(await checkValue("account", schema, attack)).toEqual([
    { path: ["b"], message: "is required" },
    { path: ["a"], message: 'must match pattern "^(a+)+$"' },
  ]);
  expect(await allSatisfy("account", schema, [attack])).toBe(false);
});

it("says what took too long when its thread was ended", async () => {
  const { checkSchema, checkValue, allSatisfy } = open(() => {
    throw new JobLostError("too long");
  });
  expect(await checkSchema("account", hostile)).toMatchObject([{ message: "takes too long to compile" }]);
  expect(await checkValue("account", hostile, attack)).toMatchObject([
    { message: "takes too long to check against its schema" },
  ]);
  expect(await allSatisfy("account", hostile, [attack])).toBe(false);
});

it("passes on that too many checks are waiting", async () => {
  const { checkValue } = open(() => {
    throw new BusyError("too many", 1);
  });
  await expect(checkValue("account", hostile, attack)).rejects.toThrow(BusyError);
});
