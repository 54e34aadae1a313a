/** Kinds of variables of the environment; each takes its text and refuses it by the rest of a sentence. */

import { z } from "zod";

export const httpUrl = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
    message: "must be an http or https URL",
  })
  .transform((text) => text.replace(/\/+$/, ""));

export const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, "must be a whole number")
    .transform(Number)
    .pipe(
      z
        .number()
        .min(min, `must be at least ${String(min)}`)
        .max(max, `must be at most ${String(max)}`),
    );

export const flag = z
  .enum(["true", "false"], { message: "must be true or false" })
  .transform((text) => text === "true");

export const optional = z.string().optional();

/** `read` throws the rest of the sentence that begins with the variable's name. */
export const readBy = <Value>(read: (text: string) => Value) =>
  z.string().transform((text, context) => {
    try {
      return read(text);
    } catch (error) {
      context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  });
