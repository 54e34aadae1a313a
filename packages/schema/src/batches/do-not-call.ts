/** Numbers that scheduled calls must not dial. */

import { z } from "zod";
import { ignoring, text, Timestamp } from "../values/fields.ts";
import { DialledAddress } from "../values/phone-number.ts";

export const MAX_NOTE_LENGTH = 240;

const Note = text(0, MAX_NOTE_LENGTH);

/** A number of the list as the API returns it. */
export const DoNotCallEntry = z.strictObject({
  number: DialledAddress,
  note: Note.nullable(),
  created: Timestamp,
});
export type DoNotCallEntry = z.output<typeof DoNotCallEntry>;

/** The body that adds a number to the list or changes its note. */
export const DoNotCallWrite = ignoring(
  z.strictObject({
    number: DialledAddress.describe("An E.164 number or a SIP URI."),
    note: Note.optional(),
  }),
  ["created"],
).meta({ examples: [{ number: "+4930123456", note: "asked not to be called" }] });
export type DoNotCallWrite = z.output<typeof DoNotCallWrite>;
