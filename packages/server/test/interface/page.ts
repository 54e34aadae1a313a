/** `docs/interface.md`: each row of the interface with what shows it. Run this file to generate the page. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../source-text.ts";
import { PARTS } from "./parts.ts";
import type { Shown } from "./shown.ts";

export const PAGE = "docs/interface.md";
const TEST = "packages/server/test/interface/interface.media.test.ts";

const HEAD = `# The interface, row by row

**Requests** are sent to the whole service by a test of the row's own name: they must be accepted or refused. They run with
\`npx vitest run --project media ${TEST}\`; add \`-t "Call template temperature"\` for one row. That a request is
accepted says nothing about what a call does with it. **Shown by** names what shows that: a test that fails without the behaviour, or the row's own requests where the row is
about what requests do. **Not shown** says what no test shows, mostly because it is not built yet ([status.md](status.md)). The complete list of operations, with
schemas and examples, is the reference page of a running service (\`/docs\`) and [openapi.json](openapi.json).

This page is made from the tests by \`node packages/server/test/interface/page.ts\`, and a test compares the two.
`;

function sentence(shown: Shown): string {
  if (shown.kind === "requests") return `requests: ${shown.what}`;
  if (shown.kind === "missing") return `**not shown**: ${shown.what}`;
  return `[${nameOf(shown.file)}](../${shown.file}): “${shown.title}”`;
}

function nameOf(file: string): string {
  return file.split("/").at(-1) ?? file;
}

export function interfacePage(): string {
  const parts = Object.entries(PARTS).map(([part, { rules, shown }]) => {
    const rows = Object.entries(rules).map(([row, proofs]) => {
      const by = (shown[row] ?? []).map(sentence).join("; ");
      return `| ${row} | ${String(proofs.length)} | ${by} |`;
    });
    return `## ${part}\n\n| row | requests | shown by |\n| --- | --- | --- |\n${rows.join("\n")}\n`;
  });
  return [HEAD, ...parts].join("\n");
}

if (import.meta.main) writeFileSync(join(REPOSITORY, PAGE), interfacePage());
