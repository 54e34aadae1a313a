/** The account of an API key. */

import { z } from "zod";
import { Uuid } from "../values/fields.ts";

export const Account = z.strictObject({
  accountId: Uuid,
  name: z.string(),
  activeCalls: z.int().min(0).describe("Calls that are created and not ended."),
  allowedConcurrentCalls: z
    .int()
    .min(0)
    .nullable()
    .describe("Most calls at the same time. Null: no limit besides the service's capacity."),
});
export type Account = z.output<typeof Account>;
