import { z } from "zod";

/** A name that can be used as `model`. */
export const ModelAlias = z.strictObject({
  name: z.string(),
  examplePhrases: z
    .array(z.string())
    .nullable()
    .describe("With the built-in demo engines: phrases that a call understands. Null: all speech."),
});
export type ModelAlias = z.output<typeof ModelAlias>;
