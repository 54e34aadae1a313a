/** Checks the addresses that a call is to reach besides those of its tools. */

import type { FieldError } from "@parley/schema";
import type { RequestedSettings } from "../../plan/requested-settings.ts";
import type { ToolSources } from "./requested-tools.ts";

/** Problems of literal addresses; names are looked up when they are dialled (D151). */
export function refusedAddresses(
  { values, fieldOf }: RequestedSettings,
  { refusedTarget }: Pick<ToolSources, "refusedTarget">,
): FieldError[] {
  const { dataConnection, externalVoice, callbacks } = values;
  const errors: FieldError[] = [];
  const check = (field: string, url: string | undefined, kind: "http" | "websocket"): void => {
    const reason = url === undefined ? null : refusedTarget(url, kind);
    if (reason !== null) errors.push({ field, message: `is not allowed: ${reason}` });
  };
  check(`${fieldOf("dataConnection")}.websocketUrl`, dataConnection?.websocketUrl, "websocket");
  for (const name of ["joined", "ended", "billed"] as const) {
    check(`${fieldOf("callbacks")}.${name}.url`, callbacks?.[name]?.url, "http");
  }
  check(`${fieldOf("externalVoice")}.generic.url`, externalVoice?.generic?.url, "http");
  return errors;
}
