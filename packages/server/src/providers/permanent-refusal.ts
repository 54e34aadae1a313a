/** Whether the refusal of a model server is one that the next request would get as well. */

import { z } from "zod";
import { isPermanentStatus } from "../ports/engine-failure.ts";

/** Some servers say with these statuses that they do not have the model, and others that one request is wrong. */
const STATUSES_OF_REQUESTS: readonly unknown[] = [400, 422];

/** What servers give as `code` or `type` of the error where they do not have the model, or no longer. */
const MODEL_CODES: readonly unknown[] = [
  "model_not_found",
  "model_not_available",
  "model_not_supported",
  "model_decommissioned",
  "unknown_model",
  "invalid_model",
];

/** What Google gives as `reason` with 400 where a key is wrong. */
const KEY_REASONS: readonly unknown[] = ["API_KEY_INVALID", "API_KEY_SERVICE_BLOCKED", "API_KEY_EXPIRED"];

const Details = z.object({
  code: z.unknown().optional(),
  type: z.unknown().optional(),
  param: z.unknown().optional(),
  details: z.unknown().optional(),
});
const Reasons = z.array(z.object({ reason: z.unknown().optional() }));
/** The form of OpenAI, the same without the object around it, and that of FastAPI for a field that it refuses. */
const Refusal = z.union([
  z.object({ error: Details }).transform(({ error }) => namesModel(error) || namesKey(error)),
  z
    .object({ detail: z.array(z.object({ loc: z.array(z.unknown()) })) })
    .transform(({ detail }) => detail.some(({ loc }) => loc.at(-1) === "model")),
  Details.transform(namesModel),
]);

/** `param` is the field of the request that is wrong. The model is the same in each request. */
function namesModel({ code, type, param }: z.output<typeof Details>): boolean {
  return MODEL_CODES.includes(code) || MODEL_CODES.includes(type) || param === "model";
}

function namesKey({ details }: z.output<typeof Details>): boolean {
  const reasons = Reasons.safeParse(details);
  return reasons.success && reasons.data.some(({ reason }) => KEY_REASONS.includes(reason));
}

/**
 * True: the server refuses the key, the address or the model. Texts for people are not read, because their words differ
 * and other errors have similar ones. `body` null: it could not be read.
 */
export function isPermanentRefusal(status: unknown, body: string | null): boolean {
  if (isPermanentStatus(status)) return true;
  if (body === null || !STATUSES_OF_REQUESTS.includes(status)) return false;
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return false; // Not JSON, such as the page of a proxy: it has no code.
  }
  const refusal = Refusal.safeParse(json);
  return refusal.success && refusal.data;
}
