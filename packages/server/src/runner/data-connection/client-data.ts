/** Parses a text message from the other side of a call into an event. */

import { parseClientDataMessage } from "@parley/schema";
import type { CallEngineEventBody } from "../../call/events.ts";

/** @param tooLong `text` is not all of it */
export function readClientData(
  text: string,
  tooLong: boolean,
  source: "client" | "dataConnection",
): CallEngineEventBody {
  if (tooLong) return { type: "dataMessageRejected", cause: "invalid", detail: "longer than 256 KiB" };
  const parsed = parseClientDataMessage(text);
  return parsed.ok
    ? { type: "dataMessageReceived", message: parsed.message, source }
    : { type: "dataMessageRejected", cause: parsed.cause, detail: parsed.detail };
}
