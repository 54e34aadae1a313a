import { z } from "zod";

/** A name that `model` may have. */
export const ModelAlias = z.strictObject({ name: z.string() });
export type ModelAlias = z.output<typeof ModelAlias>;
