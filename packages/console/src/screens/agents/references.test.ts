import { expect, test } from "vitest";
import { referencesOf } from "./references.ts";

test("the names that a call needs are found, with their fields", () => {
  const template = {
    model: "small",
    voice: "Ada",
    selectedTools: [
      { toolName: "hangUp" },
      { temporaryTool: { modelToolName: "own", client: {} } },
      { toolId: "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11" },
      { toolName: "" },
    ],
  };
  expect(referencesOf(template)).toEqual([
    { path: "model", kind: "model", name: "small" },
    { path: "voice", kind: "voice", name: "Ada" },
    { path: "selectedTools.0.toolName", kind: "toolName", name: "hangUp" },
    { path: "selectedTools.2.toolId", kind: "toolId", name: "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11" },
  ]);
});

test("values that are no names are left to the service", () => {
  expect(referencesOf({ model: 5, voice: null, selectedTools: [null, "x", { toolName: 1 }] })).toEqual([]);
  expect(referencesOf({ selectedTools: { toolName: "a" } })).toEqual([]);
});
