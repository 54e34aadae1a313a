/** What a SIP request adds to the template context of its call. Pure. */

import { HEADER_PREFIXES } from "@parley/schema";
import type { OfferedSipCall } from "../../ports/sip-calls.ts";

export interface ContextPart {
  readonly path: readonly [string, ...string[]];
  readonly value: unknown;
}

/** Headers of one call that are taken; further ones are left out. */
const MAX_HEADERS = 50;

/** `X-Some-Name` becomes `some_name`; a value that is JSON is read as such. */
export function contextParts(call: OfferedSipCall): readonly ContextPart[] {
  const headers = call.headers
    .filter(({ name }) => /^x-[a-z0-9-]+$/.test(name))
    .slice(0, MAX_HEADERS)
    .map(({ name, value }): ContextPart => ({
      path: [name.slice(2).replaceAll("-", "_")],
      value: fromJson(value),
    }));
  const { callerId, fromDisplayName, fromUri } = call;
  // The names that the prefixes of headers have: our own and the public service's.
  const roots = HEADER_PREFIXES.map((prefix) => prefix.slice(2, -1).toLowerCase());
  const caller = roots.flatMap((root): ContextPart[] => [
    { path: [root, "sip", "caller_id"], value: callerId },
    { path: [root, "sip", "from_display_name"], value: fromDisplayName ?? "" },
    { path: [root, "sip", "from_uri"], value: fromUri },
  ]);
  return [...headers, ...caller];
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The parts together; of two with the same path the last one counts. */
export function contextOf(parts: readonly ContextPart[]): Record<string, unknown> {
  const context: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const { path, value } of parts) put(context, path, value);
  return structuredClone(context);
}

function put(context: Record<string, unknown>, [step, ...rest]: readonly string[], value: unknown): void {
  if (step === undefined) return;
  if (rest.length === 0) {
    context[step] = value;
    return;
  }
  const inner = context[step];
  const next = typeof inner === "object" && inner !== null && !Array.isArray(inner) ? inner : {};
  context[step] = next;
  put(next as Record<string, unknown>, rest, value);
}

/** Counts what is wrong with a context. */
export type CountProblems = (context: Readonly<Record<string, unknown>>) => Promise<number>;

/** The context with the parts that the agent's schema allows. */
export async function allowedContext(
  parts: readonly ContextPart[],
  problems: CountProblems,
): Promise<Record<string, unknown>> {
  const all = contextOf(parts);
  if ((await problems(all)) === 0) return all;
  const allowed: ContextPart[] = [];
  let present = await problems({});
  for (const part of parts) {
    const found = await problems(contextOf([...allowed, part]));
    if (found > present) continue;
    allowed.push(part);
    present = found;
  }
  return contextOf(allowed);
}
