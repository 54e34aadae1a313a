/** What a start prints when the service is ready. */

import type { Config } from "../config/config.ts";
import type { FirstKey } from "./first-key.ts";

export interface Started {
  readonly publicUrl: string;
  readonly newApiKey: FirstKey | null;
}

export function greeting(
  { publicUrl, newApiKey }: Started,
  { console, databaseUrl, dataDir }: Pick<Config, "console" | "databaseUrl" | "dataDir">,
): string {
  // A fragment: browsers do not send it, and the console removes it from the address.
  const isPrinted = newApiKey !== null && newApiKey.file === null;
  const signIn = isPrinted ? `#key=${newApiKey.secret}` : "";
  const lines = [
    "",
    "Parley is ready.",
    "",
    `  Service    ${publicUrl}`,
    ...(console ? [`  Console    ${publicUrl}/${signIn}`] : []),
    `  Reference  ${publicUrl}/docs`,
    ...(newApiKey === null ? [] : [`  API key    ${keyLine(newApiKey)}`]),
    `  Data       ${databaseUrl === null ? dataDir : "PostgreSQL"}`,
    "",
  ];
  return `${lines.join("\n")}\n`;
}

function keyLine({ secret, file }: FirstKey): string {
  return file === null
    ? `${secret}   (shown this once; every request needs it as X-API-Key)`
    : `in the file ${file}   (written this once; every request needs it as X-API-Key)`;
}
