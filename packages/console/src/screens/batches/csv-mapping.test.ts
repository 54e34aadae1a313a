import { expect, test } from "vitest";
import { callOf, guessColumn, type Mapping, mappingFaults, withMedium } from "./csv-mapping.ts";
import { guessMapping } from "./table-source.ts";

const MAPPING: Mapping = {
  medium: "telephony2",
  from: "+4930999",
  columns: [
    { target: "to", name: "" },
    { target: "context", name: "guest.name" },
    { target: "contextValue", name: "guest.nights" },
    { target: "metadata", name: "order.id" },
    { target: "ignore", name: "x" },
    { target: "medium", name: "telephony2.outgoing.additionalParams.timeLimit" },
  ],
};

test("columns fill the number, the context, the metadata and the medium", () => {
  expect(mappingFaults(MAPPING)).toEqual([]);
  expect(callOf([" +4930123 ", "Ann", "3", "7", "no", "60"], MAPPING)).toEqual({
    medium: {
      telephony2: { outgoing: { to: "+4930123", from: "+4930999", additionalParams: { timeLimit: 60 } } },
    },
    templateContext: { guest: { name: "Ann", nights: 3 } },
    metadata: { "order.id": "7" },
  });
});

test("empty cells fill nothing, and rows may be short", () => {
  expect(callOf(["+4930123", "", "many"], MAPPING)).toEqual({
    medium: { telephony2: { outgoing: { to: "+4930123", from: "+4930999" } } },
    templateContext: { guest: { nights: "many" } },
  });
});

test("the medium of the agent stays unless a column says otherwise", () => {
  const mapping: Mapping = { ...MAPPING, medium: "agent", columns: [{ target: "context", name: "a" }] };
  expect(callOf(["1"], mapping)).toEqual({ templateContext: { a: "1" } });
  expect(callOf(["1"], { ...mapping, medium: "webRtc" })).toEqual({
    medium: { webRtc: {} },
    templateContext: { a: "1" },
  });
  const sip: Mapping = { ...mapping, columns: [{ target: "medium", name: "sip.outgoing.to" }] };
  expect(callOf(["4930"], sip)).toEqual({ medium: { sip: { outgoing: { to: "4930" } } } });
});

test.each<[string, Partial<Mapping>, string[]]>([
  ["a number to call", { columns: [] }, ["medium"]],
  ["a number that calls", { from: " " }, ["from"]],
  ["somebody who dials", { medium: "webRtc" }, ["columns.0"]],
  [
    "names",
    {
      columns: [
        { target: "to", name: "" },
        { target: "metadata", name: " " },
      ],
    },
    ["columns.1"],
  ],
  [
    "places of their own",
    {
      columns: [
        { target: "to", name: "" },
        { target: "context", name: "a" },
        { target: "contextValue", name: "a.b" },
        { target: "to", name: "" },
      ],
    },
    ["columns.2", "columns.3"],
  ],
  [
    "names that are no danger",
    {
      columns: [
        { target: "to", name: "" },
        { target: "context", name: "a.__proto__.b" },
      ],
    },
    ["columns.1"],
  ],
])("columns need %s", (_, changes, fields) => {
  expect(mappingFaults({ ...MAPPING, ...changes }).map(({ field }) => field)).toEqual(fields);
});

test.each([
  ["Phone number", "to", ""],
  ["from", "from", ""],
  ["metadata.order", "metadata", "order"],
  ["context.guest.name", "context", "guest.name"],
  ["medium.sip.outgoing.to", "medium", "sip.outgoing.to"],
  ["Guest", "context", "Guest"],
  ["", "ignore", ""],
])("%j is guessed to be %s", (title, target, name) => {
  expect(guessColumn(title, true)).toEqual({ target, name });
});

test("a medium that dials is never guessed; choosing one fits the columns that were not changed", () => {
  const titles = ["Phone number", "mobile", "Guest"];
  const guessed = guessMapping(titles);
  expect(guessed.medium).toBe("agent");
  expect(guessed.columns[0]).toEqual({ target: "metadata", name: "Phone number" });
  const [first, , guest] = guessed.columns;
  if (first === undefined || guest === undefined) throw new Error("a column is missing");
  const changed = { ...guessed, columns: [first, { target: "ignore", name: "" } as const, guest] };
  const dialled = withMedium(changed, "telephony1", titles);
  expect(dialled.columns).toEqual([{ target: "to", name: "" }, { target: "ignore", name: "" }, guest]);
  expect(withMedium(dialled, "agent", titles)).toEqual(changed);
});
