import { expect, test } from "vitest";
import { isSame, linesOf, nameOfCopy, valueAt, withValueAt, writable } from "./draft.ts";

test("values are read by dotted paths, also within lists", () => {
  const document = { a: { b: [{ c: 1 }] } };
  expect(valueAt(document, "a.b.0.c")).toBe(1);
  expect(valueAt(document, "a.b.1.c")).toBeUndefined();
  expect(valueAt(document, "a.b.0.c.d")).toBeUndefined();
});

test("a change copies what it changes and nothing else", () => {
  const document = { a: { b: 1 }, c: { d: 2 } };
  const next = withValueAt(document, "a.b", 3);
  expect(next).toEqual({ a: { b: 3 }, c: { d: 2 } });
  expect(next["c"]).toBe(document.c);
  expect(document.a.b).toBe(1);
  expect(withValueAt({}, "vadSettings.turnEndpointDelay", "1s")).toEqual({
    vadSettings: { turnEndpointDelay: "1s" },
  });
});

test("a field keeps its place", () => {
  expect(Object.keys(withValueAt({ a: 1, b: 2 }, "a", 3))).toEqual(["a", "b"]);
});

test("a field that is taken out takes along what then says nothing, and no choice", () => {
  expect(
    withValueAt({ vadSettings: { turnEndpointDelay: "1s" } }, "vadSettings.turnEndpointDelay", undefined),
  ).toEqual({});
  expect(
    withValueAt(
      { firstSpeakerSettings: { agent: { text: "Hi" } } },
      "firstSpeakerSettings.agent.text",
      undefined,
    ),
  ).toEqual({
    firstSpeakerSettings: { agent: {} },
  });
  expect(withValueAt({ list: [1, 2, 3] }, "list.1", undefined)).toEqual({ list: [1, 3] });
});

test("documents are compared by content, whatever the order of their fields", () => {
  expect(isSame({ a: [1, { b: null }], c: 2 }, { c: 2, a: [1, { b: null }] })).toBe(true);
  expect(isSame({ a: 1 }, { a: 1, b: undefined })).toBe(false);
  expect(isSame([1, 2], [2, 1])).toBe(false);
  expect(isSame({}, [])).toBe(false);
});

test("what only answers have is left out", () => {
  expect(writable({ name: "x", created: "now", updated: "now", model: "default" })).toEqual({
    model: "default",
  });
});

test("a list written one in each line has no empty texts", () => {
  expect(linesOf(" Fawlty Towers \n\n\tTorquay\n")).toEqual(["Fawlty Towers", "Torquay"]);
  expect(linesOf(" \n ")).toEqual([]);
});

test("the name of a copy stays within the limit, whatever its letters", () => {
  expect(nameOfCopy("Concierge", 64)).toBe("Concierge copy");
  expect(Array.from(nameOfCopy("🏨".repeat(64), 64))).toHaveLength(64);
});
