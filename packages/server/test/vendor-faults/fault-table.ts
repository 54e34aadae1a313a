/** What the tests of this folder found, as the tables of docs/providers.md. */

import { readSource } from "../source-text.ts";
import { VENDOR_FAULTS, type VendorFault } from "./faulty-call.ts";

/** What became of a sentence or an utterance. */
export type Outcome = "own" | "next" | "rest";

const SIGNS: Readonly<Record<Outcome, string>> = { own: "itself", next: "next", rest: "rest" };

export type Found = ReadonlyMap<string, ReadonlyMap<VendorFault, Outcome>>;

/** A row for each adapter, a column for each fault. */
export function tableOf(found: Found): readonly (readonly string[])[] {
  return [
    ["Adapter", ...VENDOR_FAULTS],
    ...[...found].map(([name, outcomes]) => [
      name,
      ...VENDOR_FAULTS.map((fault) => {
        const outcome = outcomes.get(fault);
        if (outcome === undefined) throw new Error(`${name} was not tested with ${fault}`);
        return SIGNS[outcome];
      }),
    ]),
  ];
}

/** The table between the marks of this name on the page, without its line of dashes. */
export function tableOnPage(mark: string): readonly (readonly string[])[] {
  const page = readSource("docs/providers.md");
  const [, block = ""] = page.split(`<!-- ${mark} -->`);
  const [text = ""] = block.split(`<!-- /${mark} -->`);
  return text
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^[|\s-]+$/.test(line))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}
