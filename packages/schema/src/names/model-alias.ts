import { z } from "zod";

/** A name that can be used as `model`. */
export const ModelAlias = z.strictObject({ name: z.string() });
export type ModelAlias = z.output<typeof ModelAlias>;
