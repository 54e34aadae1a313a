/** Warnings about names that do not exist. Saving stays possible: the service checks them when a call is created. */

import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import { useApi } from "../../data/api.tsx";
import type { Json } from "./draft.ts";
import { errorPath } from "./draft-context.tsx";
import { pathOf, problemOf } from "./lookups.ts";
import { type Reference, referencesOf } from "./references.ts";

/** Typing pauses for this long before a name is looked up. */
const TYPED_MS = 400;

export interface UnknownNames {
  /** By the path of the field. */
  readonly warnings: ReadonlyMap<string, string>;
  /** Looks up the names of a template now. A failed lookup gives no warning. */
  readonly hasUnknown: (template: Json) => Promise<boolean>;
}

export function useUnknownNames(template: Json): UnknownNames {
  const api = useApi();
  const queries = useQueryClient();
  const settled = useSettled(template);
  const references = useMemo(() => referencesOf(settled), [settled]);
  const lookup = useCallback(
    (reference: Reference) => ({
      queryKey: [pathOf(reference), "named", reference.kind, reference.name],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => problemOf(api, reference, signal),
    }),
    [api],
  );
  const found = useQueries({ queries: references.map(lookup) });
  const problems = found.map(({ data }) => data ?? null);
  const text = JSON.stringify(problems);
  const warnings = useMemo(() => {
    const known = JSON.parse(text) as readonly (string | null)[];
    return new Map(
      references.flatMap(({ path }, index) => {
        const problem = known[index] ?? null;
        return problem === null ? [] : [[errorPath(path), problem] as const];
      }),
    );
  }, [references, text]);
  const hasUnknown = useCallback(
    async (saved: Json) => {
      const all = await Promise.allSettled(
        referencesOf(saved).map(async (reference) => queries.fetchQuery(lookup(reference))),
      );
      return all.some((one) => one.status === "fulfilled" && one.value !== null);
    },
    [queries, lookup],
  );
  return { warnings, hasUnknown };
}

function useSettled(template: Json): Json {
  const [settled, setSettled] = useState(template);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(template), TYPED_MS);
    return () => clearTimeout(timer);
  }, [template]);
  return settled;
}
