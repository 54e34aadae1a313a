/** What the tests of this folder found, as the tables of docs/providers.md. */

import { readSource } from "../source-text.ts";
import { VENDOR_FAULTS, type VendorFault } from "./gates.ts";

/** What became of a sentence or an utterance. */
export type Outcome = "own" | "next" | "rest";

/** What is on the page. `never`: the adapter cannot have the fault. */
const SIGNS = { own: "itself", next: "next", rest: "rest", never: "–" } as const;

export type Found = Map<string, Map<VendorFault, Outcome>>;

interface Subject {
  readonly name: string;
  readonly never?: readonly VendorFault[];
}

/** Each adapter with each fault that it can have. */
export function casesOf<S extends Subject>(
  subjects: readonly S[],
): readonly { readonly subject: S; readonly name: string; readonly fault: VendorFault }[] {
  return subjects.flatMap((subject) =>
    VENDOR_FAULTS.filter((fault) => subject.never?.includes(fault) !== true).map((fault) => ({
      subject,
      name: subject.name,
      fault,
    })),
  );
}

export function noteOutcome(found: Found, name: string, fault: VendorFault, outcome: Outcome): void {
  const row = found.get(name) ?? new Map<VendorFault, Outcome>();
  found.set(name, row.set(fault, outcome));
}

/** A row for each adapter, a column for each fault. */
export function tableOf(subjects: readonly Subject[], found: Found): readonly (readonly string[])[] {
  return [
    ["Adapter", ...VENDOR_FAULTS],
    ...subjects.map(({ name, never }) => [
      name,
      ...VENDOR_FAULTS.map((fault) => {
        if (never?.includes(fault) === true) return SIGNS.never;
        const outcome = found.get(name)?.get(fault);
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
