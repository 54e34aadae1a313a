import { expect, test } from "vitest";
import { contextOf, needsDocument, variablesOf } from "./template-variables.ts";

test("variables are named once each", () => {
  expect(variablesOf({ systemPrompt: "{{guest}} {{ day }} {{guest}} {{{raw.name}}} {x}" })).toEqual([
    "guest",
    "day",
    "raw.name",
  ]);
});

test("sections and schemas want more than text", () => {
  expect(needsDocument({ systemPrompt: "Hello {{guest}}" })).toBe(false);
  expect(needsDocument({ systemPrompt: "{{#rooms}}{{.}}{{/rooms}}" })).toBe(true);
  expect(needsDocument({ contextSchema: { type: "object" } })).toBe(true);
});

test("values stand at their dotted names", () => {
  const values = new Map([
    ["guest.name", "Eva"],
    ["guest.room", "12"],
    ["day", "Friday"],
    ["day.part", "evening"],
  ]);
  expect(contextOf(values)).toEqual({ guest: { name: "Eva", room: "12" }, day: "Friday" });
});
