import { expect, it } from "vitest";
import { BUILT_IN_TOOLS } from "./built-in-tools.ts";
import { BaseToolDefinition } from "./tool.ts";

it("has definitions that hold, but for the place where the tool runs", () => {
  for (const { name, definition } of BUILT_IN_TOOLS) {
    const checked = BaseToolDefinition.safeParse({ ...definition, client: {} });
    expect([name, checked.error?.issues ?? []]).toEqual([name, []]);
    expect(checked.data).toEqual({ ...definition, client: {} });
    expect(definition.modelToolName).toBe(name);
  }
});

it("has ids and names of their own", () => {
  expect(new Set(BUILT_IN_TOOLS.map(({ toolId }) => toolId)).size).toBe(6);
  expect(new Set(BUILT_IN_TOOLS.map(({ name }) => name)).size).toBe(6);
});
