import { expect, test } from "vitest";
import { notesOf } from "../../../build/field-notes.ts";
import { marksOf, SECTIONS } from "./sections.ts";

test("sections are marked by the fields with errors and warnings; an error is more", () => {
  const errors = ["callTemplate.vadSettings.turnEndpointDelay", "name"];
  const warnings = ["callTemplate.voice", "callTemplate.vadSettings"];
  expect(Object.fromEntries(marksOf(errors, warnings))).toEqual({
    general: "error",
    "turn-taking": "error",
    voice: "warning",
  });
  expect(marksOf(["callTemplate.voiceless", "callTemplate"], []).size).toBe(0);
});

test("every field of a section is a field of the template, in one section", () => {
  const names = SECTIONS.flatMap(({ fields }) => [...fields]).filter((field) => field !== "name");
  expect(new Set(names).size).toBe(names.length);
  const known = new Set(Object.keys(notesOf("CallTemplate")).map((path) => `callTemplate.${path}`));
  expect(names.filter((name) => !known.has(name))).toEqual([]);
});
