/** Numbers that no scheduled call may dial. */

import { z } from "zod";
import { ignoring, text, Timestamp } from "./fields.ts";
import { DialledAddress } from "./phone-number.ts";

export const MAX_NOTE_LENGTH = 240;

const Note = text(0, MAX_NOTE_LENGTH);

/** A number as it is answered. */
export const DoNotCallEntry = z.strictObject({
  number: DialledAddress,
  note: Note.nullable(),
  created: Timestamp,
});
export type DoNotCallEntry = z.output<typeof DoNotCallEntry>;

/** The body that puts a number on the list, or gives the one that is there another note. */
export const DoNotCallWrite = ignoring(
  z.strictObject({
    number: DialledAddress.describe("In E.164 form, or a SIP URI."),
    note: Note.optional(),
  }),
  ["created"],
).meta({ examples: [{ number: "+4930123456", note: "asked not to be called" }] });
export type DoNotCallWrite = z.output<typeof DoNotCallWrite>;
