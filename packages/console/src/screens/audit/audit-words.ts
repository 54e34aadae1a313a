/** Words for entries of the audit log. */

import type { AuditEntry } from "@parley/schema";

/** `updateApiKey` as "Update API key". */
export function operationWords(operation: string): string {
  const words = operation.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const spelled = words.replaceAll(/\bapi\b/g, "API").replaceAll(/\bsip\b/g, "SIP");
  return spelled.charAt(0).toUpperCase() + spelled.slice(1);
}

const OTHERS = { api: "Deleted API key", command_line: "Command line", start: "Service start" } as const;

/** Who made the change; a key also has the beginning of its text. */
export function actorOf({ via, keyName, keyPrefix }: Pick<AuditEntry, "via" | "keyName" | "keyPrefix">): {
  readonly name: string;
  readonly prefix: string | null;
} {
  return { name: keyName ?? OTHERS[via], prefix: keyPrefix };
}
