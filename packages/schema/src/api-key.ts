import { z } from "zod";
import { ignoring, name, Timestamp } from "./fields.ts";

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
    expiryDate: z.iso
      .datetime({ offset: true, local: true, error: "must be an ISO 8601 date-time" })
      .optional(),
  }),
  ["prefix", "created", "creator", "secret", "revoked"],
);
export type ApiKeyCreate = z.output<typeof ApiKeyCreate>;
