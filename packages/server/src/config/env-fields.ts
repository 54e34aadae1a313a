/**
 * Kinds of environment variables. Each parses the text; its error is the rest of a sentence that begins with the name.
 */

import { z } from "zod";
import { messageOf } from "../pacing/error-text.ts";

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

/** `read` throws an error whose message is the rest of that sentence. */
export const readBy = <Value>(read: (text: string) => Value) =>
  z.string().transform((text, context) => {
    try {
      return read(text);
    } catch (error) {
      context.addIssue({ code: "custom", message: messageOf(error) });
      return z.NEVER;
    }
  });
