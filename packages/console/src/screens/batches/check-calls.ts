/** Up to a hundred thousand calls, checked and written as they are sent, without holding up the page. */

import { withoutEval } from "@parley/schema/without-eval";
import type { FieldFault } from "../../ui/field-errors.tsx";
import type { CallsSource } from "./calls-source.ts";
import { inSlices } from "./slices.ts";

export interface BadCall {
  /** In the source. */
  readonly index: number;
  readonly faults: readonly FieldFault[];
  /** In what was sent, where the service says it. */
  readonly position?: number;
}

export interface CheckedCalls {
  /** Those that are good, as JSON. */
  readonly texts: readonly string[];
  /** Of each of them, its position in the source. */
  readonly indexes: readonly number[];
  readonly badCount: number;
  /** The first of them. */
  readonly bad: readonly BadCall[];
}

/** Whoever has more made the same mistake in most of them. */
export const MAX_BAD_SHOWN = 100;

export async function checkCalls(
  { count, callAt, faultsAt }: Pick<CallsSource, "count" | "callAt" | "faultsAt">,
  signal: AbortSignal,
  onProgress?: (done: number) => void,
): Promise<CheckedCalls> {
  withoutEval();
  const { checkCall } = await import("./check-call.ts");
  const texts: string[] = [];
  const indexes: number[] = [];
  const bad: BadCall[] = [];
  let badCount = 0;
  let done = 0;
  function* steps(): Generator<void> {
    for (; done < count; done += 1) {
      const call = callAt(done);
      const faults = [...(faultsAt?.(done) ?? []), ...checkCall(call)];
      if (faults.length === 0) {
        texts.push(JSON.stringify(call));
        indexes.push(done);
      } else {
        badCount += 1;
        if (bad.length < MAX_BAD_SHOWN) bad.push({ index: done, faults });
      }
      yield;
    }
  }
  await inSlices(steps(), signal, () => onProgress?.(done));
  return { texts, indexes, badCount, bad };
}

/** Texts that are made one at a time: a hundred thousand parts would take half a second. */
const TEXTS_PER_PART = 1_000;
/** The size is asked for before the body is sent, and a body that was refused is sent again. */
const made = new WeakMap<readonly string[], Blob>();

function listOf(texts: readonly string[]): Blob {
  const known = made.get(texts);
  if (known !== undefined) return known;
  const parts: string[] = [];
  for (let from = 0; from < texts.length; from += TEXTS_PER_PART) {
    parts.push(from === 0 ? "[" : ",", texts.slice(from, from + TEXTS_PER_PART).join(","));
  }
  const list = new Blob([...parts, "]"]);
  made.set(texts, list);
  return list;
}

/** The body of the request, `settings` being an object as JSON: the calls are texts already, and are not made one text in one piece. */
export function batchBody(settings: string, texts: readonly string[]): Blob {
  const rest = settings.slice(1, -1);
  return new Blob(["{", rest, rest === "" ? "" : ",", '"calls":', listOf(texts), "}"], {
    type: "application/json",
  });
}
