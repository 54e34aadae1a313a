/** Further names of the deployment's voices and models, which the operator sets. */

import { z } from "zod";

const NameAlias = z.strictObject({
  name: z
    .string()
    .describe("What a call may give as its voice or model. `*`: every name that is unknown otherwise."),
  target: z.string().describe("A name of this deployment, or `default`."),
});

export const NameAliases = z.strictObject({
  voices: z.array(NameAlias),
  models: z.array(NameAlias),
});
export type NameAliases = z.output<typeof NameAliases>;
