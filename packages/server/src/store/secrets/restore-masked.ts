/** Puts stored secrets in place of the masks that a client sends back. */

import { copyOf, findSecrets, mask, membersOf, setAt } from "./redaction.ts";
import type { Document, FoundSecret, Path } from "./redaction.ts";

export interface RestoredDocument {
  readonly document: Document;
  /** Dotted paths of masked values without a stored value. */
  readonly unresolved: readonly string[];
}

const MASKED = /^.{0,4}…$/su;

interface MaskedLeaf extends FoundSecret {
  readonly value: string;
  /** The path with names of list members in place of their positions. */
  readonly key: string;
}

/**
 * Replaces masked values by the stored ones. A stored value fits if it has this mask and is sent to the same target as
 * before: otherwise anyone who sees only the mask could have the secret sent to their own server. Of those that fit, the
 * members of lists are told apart by their names, so they may be moved, and others removed. A value whose name is new
 * takes a stored one that no other takes. What is still ambiguous is taken from the same place if the lists around it
 * have as many members as before, and is otherwise unresolved.
 */
export function restoreMasked(incoming: object, stored: object | null): RestoredDocument {
  const document = copyOf(incoming);
  const leaves = maskedLeaves(document).filter(({ value }) => MASKED.test(value));
  if (leaves.length === 0) return { document, unresolved: [] };
  const before = (stored ?? {}) as Document;
  const known = maskedLeaves(before);
  const taken = new Set(leaves.map(({ key }) => key));
  const unresolved: string[] = [];
  for (const leaf of leaves) {
    const fitting = known.filter(
      ({ rule, target, value }) => rule === leaf.rule && target === leaf.target && mask(value) === leaf.value,
    );
    const named = fitting.filter(({ key }) => key === leaf.key);
    const free = fitting.filter(({ key, path }) => !taken.has(key) && path.at(-1) === leaf.path.at(-1));
    const source = onlyValue(named.length > 0 ? named : free, leaf, { document, before });
    if (source === null) unresolved.push(leaf.path.join("."));
    else setAt(document, leaf.path, source);
  }
  return { document, unresolved };
}

function onlyValue(
  candidates: readonly MaskedLeaf[],
  { path }: MaskedLeaf,
  { document, before }: { readonly document: Document; readonly before: Document },
): string | null {
  const values = new Set(candidates.map(({ value }) => value));
  if (values.size <= 1) return candidates[0]?.value ?? null;
  const place = path.join(".");
  const samePlace = candidates.find((candidate) => candidate.path.join(".") === place);
  const isSameLists = listLengths(document, path).join() === listLengths(before, path).join();
  return isSameLists ? (samePlace?.value ?? null) : null;
}

/** Of the lists on the way. */
function listLengths(document: Document, path: Path): number[] {
  return around(document, path).flatMap((value) => (Array.isArray(value) ? [value.length] : []));
}

/** The values on the way, the document first. */
function around(document: Document, path: Path): unknown[] {
  const values: unknown[] = [document];
  for (const step of path) values.push(membersOf(values.at(-1)).find(([name]) => name === step)?.[1]);
  return values;
}

function maskedLeaves(document: Document): MaskedLeaf[] {
  const leaves: MaskedLeaf[] = [];
  const collect = (secret: FoundSecret): void => {
    const { path, value } = secret;
    if (typeof value === "string") leaves.push({ ...secret, value, key: keyOf(document, path) });
    else {
      for (const [step, member] of membersOf(value))
        collect({ ...secret, path: [...path, step], value: member });
    }
  };
  for (const secret of findSecrets(document)) {
    const { shown } = secret.rule;
    if (shown === "masked" || shown === "scoped") collect(secret);
  }
  return leaves;
}

function keyOf(document: Document, path: Path): string {
  const values = around(document, path);
  return JSON.stringify(
    path.map((step, at) => (Array.isArray(values[at]) ? { member: nameOf(values[at + 1]) } : step)),
  );
}

/** Of a selected tool, or of a parameter. */
function nameOf(member: unknown): unknown {
  const { nameOverride, name, temporaryTool, toolName, toolId } = Object(member) as Document;
  const { modelToolName } = Object(temporaryTool) as Document;
  return nameOverride ?? name ?? modelToolName ?? toolName ?? toolId ?? null;
}
