/** What the console's build reads from the sources: its name, and the interface's descriptions of fields. */

import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { notesOf } from "../../console/build/field-notes.ts";
import { BUILDS_FOLDER, folderOfBuild } from "../../console/build/stamp.ts";

test("equal sources give one folder, beside the others", async () => {
  const folder = await folderOfBuild();
  expect(dirname(folder)).toBe(BUILDS_FOLDER);
  expect(folder).toMatch(/[\\/][0-9a-f]{16}$/);
  expect(await folderOfBuild()).toBe(folder);
});

describe("notes on fields", () => {
  test("carry the words, bounds and defaults of the interface, also of nested and listed fields", () => {
    const notes = notesOf("CallTemplate");
    expect(notes["temperature"]).toEqual({
      hint: "Randomness of the model's output.",
      byDefault: 0,
      min: 0,
      max: 1,
    });
    expect(notes["vadSettings.turnEndpointDelay"]).toMatchObject({ byDefault: "0.384s", max: "10s" });
    expect(notes["firstSpeakerSettings.agent.delay"]).toMatchObject({ byDefault: "0s" });
    expect(notes["selectedTools.*.toolName"]).toBeDefined();
    expect(notes["initialOutputMedium"]?.["choices"]).toEqual([
      "MESSAGE_MEDIUM_VOICE",
      "MESSAGE_MEDIUM_TEXT",
    ]);
  });

  test("of a schema that does not exist stop the build", () => {
    expect(() => notesOf("CallTemplat")).toThrow("There is no schema CallTemplat.");
  });
});
