/** Checks and serialises up to a hundred thousand calls without blocking the page. */

import { withoutEval } from "@parley/schema/values/without-eval";
import type { FieldFault } from "../../ui/field-errors.tsx";
import { inSlices } from "./slices.ts";

export interface UncheckedCalls {
  readonly count: number;
  readonly callAt: (index: number) => unknown;
  /** Problems of the text of an entry itself. */
  readonly faultsAt?: (index: number) => readonly FieldFault[];
}

export interface BadCall {
  /** Position in the source. */
  readonly index: number;
  readonly faults: readonly FieldFault[];
  /** Position in the request, in errors of the service. */
  readonly position?: number;
}

export interface CheckedCalls {
  /** Valid calls, as JSON. */
  readonly texts: readonly string[];
  /** For each valid call, its position in the source. */
  readonly indexes: readonly number[];
  readonly badCount: number;
  /** The first bad calls. */
  readonly bad: readonly BadCall[];
}

/** More errors are usually one mistake that repeats. */
export const MAX_BAD_SHOWN = 100;

export async function checkCalls(
  { count, callAt, faultsAt }: UncheckedCalls,
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

/** Texts per part of the body: a hundred thousand parts would take half a second. */
const TEXTS_PER_PART = 1_000;
/** The size is needed before the body is sent, and a refused body can be sent again. */
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

/** The request body, with `settings` as a JSON object. The calls are texts already and are not joined in one piece. */
export function batchBody(settings: string, texts: readonly string[]): Blob {
  const rest = settings.slice(1, -1);
  return new Blob(["{", rest, rest === "" ? "" : ",", '"calls":', listOf(texts), "}"], {
    type: "application/json",
  });
}
