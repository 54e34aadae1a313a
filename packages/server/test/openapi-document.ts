/** `docs/openapi.json`: the description of the interface as a file. Run this file to generate it. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApiDocument } from "@parley/schema";
import manifest from "../package.json" with { type: "json" };
import { REPOSITORY } from "./source-text.ts";

export const DOCUMENT = "docs/openapi.json";

/** The same text as from a service that runs with its defaults. */
export function documentText(): string {
  const document = openApiDocument({ baseUrl: "http://127.0.0.1:8080", version: manifest.version });
  return `${JSON.stringify(document, null, 1)}\n`;
}

if (import.meta.main) writeFileSync(join(REPOSITORY, DOCUMENT), documentText());
