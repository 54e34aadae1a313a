import { expect, test } from "vitest";
import { notesOf } from "../../../build/field-notes.ts";
import { fieldsOfKind } from "./voice-field-list.ts";
import { KINDS } from "./voice-draft.ts";

const notes = notesOf("VoiceWrite");
/** Obsolete; a form offers what replaces them. A voice that has them keeps them. */
const LEFT_OUT = ["provider2.speed", "provider2.emotion", "provider2.emotions"];

test.each(KINDS)("the form of %s has every field of the interface and no other", (kind) => {
  const prefix = `definition.${kind}.`;
  const known = Object.keys(notes)
    .filter((path) => path.startsWith(prefix))
    .map((path) => path.slice(prefix.length))
    .filter((name) => !name.includes(".") && !LEFT_OUT.includes(`${kind}.${name}`));
  const shown = fieldsOfKind(kind).map(({ name }) => name);
  expect(shown.toSorted()).toEqual(known.toSorted());
});

test("what is filled in as a choice has choices", () => {
  const choices = KINDS.flatMap((kind) =>
    fieldsOfKind(kind)
      .filter(({ type }) => type === "choice")
      .map(({ name }) => notes[`definition.${kind}.${name}`]?.["choices"]),
  );
  expect(choices.length).toBeGreaterThan(0);
  for (const each of choices) expect(Array.isArray(each)).toBe(true);
});

test.each(KINDS.filter((kind) => kind !== "generic"))(
  "the form of %s says where the id of a voice is from",
  (kind) => {
    expect(fieldsOfKind(kind)[0]).toMatchObject({
      name: "voiceId",
      hint: expect.stringMatching(/\.$/) as string,
    });
  },
);
