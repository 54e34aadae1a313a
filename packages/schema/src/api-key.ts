import { z } from "zod";
import { ignoring, name, Timestamp } from "./fields.ts";
import { DateTime } from "./moments.ts";

/** Public prefix, dot, secret. */
export const API_KEY_PATTERN = /^([a-zA-Z0-9]{8})\.([a-zA-Z0-9]{32})$/;

const shown = {
  prefix: z.string().describe("The first eight characters of the key."),
  created: Timestamp,
  creator: z.string().nullable(),
  name: name(50),
  expiryDate: Timestamp.nullable(),
  revoked: z.boolean(),
};

/** A key as it is answered: never with its secret. */
export const ApiKey = z.strictObject(shown);
export type ApiKey = z.output<typeof ApiKey>;

/** The answer to making a key, the only one with the whole key in `secret`. */
export const ApiKeyCreated = z.strictObject({ ...shown, secret: z.string() });
export type ApiKeyCreated = z.output<typeof ApiKeyCreated>;

/** The body that makes a key. */
export const ApiKeyCreate = ignoring(
  z.strictObject({
    name: name(50),
    expiryDate: DateTime.optional().describe(
      "In the future. From then on the key does not work. No offset means UTC.",
    ),
  }),
  ["prefix", "created", "creator", "secret", "revoked"],
).meta({ examples: [{ name: "reporting", expiryDate: "2030-01-01T00:00:00Z" }] });
export type ApiKeyCreate = z.output<typeof ApiKeyCreate>;

/** The body that changes a key: all that can change is that it works. */
export const ApiKeyWrite = ignoring(
  z.strictObject({ revoked: z.boolean().nullable().optional().describe("Once true for ever.") }),
  ["prefix", "created", "creator", "name", "expiryDate", "secret"],
).meta({ examples: [{ revoked: true }] });
export type ApiKeyWrite = z.output<typeof ApiKeyWrite>;
