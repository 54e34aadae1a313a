/** Accounts, as their own keys see them. */

import { z } from "zod";
import { Uuid } from "./fields.ts";

export const Account = z.strictObject({
  accountId: Uuid,
  name: z.string(),
  activeCalls: z.int().min(0).describe("Calls from creation to end."),
  allowedConcurrentCalls: z
    .int()
    .min(0)
    .nullable()
    .describe("Calls at a time; null is as many as the service has room for."),
});
export type Account = z.output<typeof Account>;
