import { z } from "zod";
import { ignoring, name, Timestamp } from "../values/fields.ts";
import { DateTime } from "../values/moments.ts";
import { Scope, SCOPES } from "../values/scope.ts";

/** Public prefix, dot, secret. */
export const API_KEY_PATTERN = /^([a-zA-Z0-9]{8})\.([a-zA-Z0-9]{32})$/;

/** A key that is needed for longer has no end. */
export const MAX_API_KEY_YEARS = 100;

const shown = {
  prefix: z.string().describe("The first eight characters of the key."),
  created: Timestamp,
  creator: z.string().nullable(),
  name: name(50),
  expiryDate: Timestamp.nullable().describe("When the key stops working, by the clock of the database."),
  scopes: z
    .array(Scope)
    .nullable()
    .describe("What the key may do; `calls` includes `read`, `admin` includes both. Null: everything."),
  revoked: z.boolean(),
};

/** An API key as the API returns it, never with its secret. */
export const ApiKey = z.strictObject(shown);
export type ApiKey = z.output<typeof ApiKey>;

/** The response to the creation of an API key, the only one with the whole key, in `secret`. */
export const ApiKeyCreated = z.strictObject({ ...shown, secret: z.string() });
export type ApiKeyCreated = z.output<typeof ApiKeyCreated>;

/** The body that creates an API key. */
export const ApiKeyCreate = ignoring(
  z.strictObject({
    name: name(50),
    expiryDate: DateTime.optional().describe(
      "The key stops working then. In the future, at most a hundred years ahead, and not after the end of the key " +
        "that creates it. No offset means UTC.",
    ),
    scopes: z
      .array(Scope)
      .min(1, { error: "must have at least one scope; leave the field out for a key that may do everything" })
      .overwrite((scopes) => SCOPES.filter((scope) => scopes.includes(scope)))
      .optional()
      .describe("What the key may do; absent: everything. It cannot be changed later."),
  }),
  ["prefix", "created", "creator", "secret", "revoked"],
).meta({ examples: [{ name: "reporting", expiryDate: "2030-01-01T00:00:00Z", scopes: ["read"] }] });
export type ApiKeyCreate = z.output<typeof ApiKeyCreate>;

/** The body that revokes an API key. No other field can change. */
export const ApiKeyWrite = ignoring(
  z.strictObject({
    revoked: z
      .boolean()
      .nullable()
      .optional()
      .describe("Revocation is permanent: true never becomes false again."),
  }),
  ["prefix", "created", "creator", "name", "expiryDate", "scopes", "secret"],
).meta({ examples: [{ revoked: true }] });
export type ApiKeyWrite = z.output<typeof ApiKeyWrite>;
