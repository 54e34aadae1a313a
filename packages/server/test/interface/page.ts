/** `docs/interface.md`: each row of the interface with its proof. Run this file to generate the page. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../source-text.ts";
import { PARTS } from "./parts.ts";
import { isElsewhere, isProof, type ProvenElsewhere } from "./rules.ts";

export const PAGE = "docs/interface.md";
const TEST = "packages/server/test/interface/interface.media.test.ts";

const HEAD = `# The interface, row by row

Every row of the interface has a test of its own name, which sends the whole service what must be taken and what must be refused. They run with
\`npx vitest run --project media ${TEST}\`; add \`-t "Call template temperature"\` for one row. Where a row is about what happens in a
call, the test that holds such a call is named too. The complete list of operations, with schemas and examples, is the reference page of a running
service (\`/docs\`) and [openapi.json](openapi.json).

This page is made from the tests by \`node packages/server/test/interface/page.ts\`, and a test compares the two.
`;

function elsewhere({ file, title }: ProvenElsewhere): string {
  return title === "describe("
    ? `[${nameOf(file)}](../${file})`
    : `[${nameOf(file)}](../${file}): “${title}”`;
}

function nameOf(file: string): string {
  return file.split("/").at(-1) ?? file;
}

export function interfacePage(): string {
  const parts = Object.entries(PARTS).map(([part, rules]) => {
    const rows = Object.entries(rules).map(([row, proofs]) => {
      const own = proofs.filter(isProof).length;
      const others = proofs.filter(isElsewhere).map(elsewhere);
      const proven = [...(own === 0 ? [] : [`${String(own)} ${own === 1 ? "case" : "cases"}`]), ...others];
      return `| ${row} | ${proven.join("; ")} |`;
    });
    return `## ${part}\n\n| row | proven by |\n| --- | --- |\n${rows.join("\n")}\n`;
  });
  return [HEAD, ...parts].join("\n");
}

if (import.meta.main) writeFileSync(join(REPOSITORY, PAGE), interfacePage());
