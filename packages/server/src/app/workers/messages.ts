/** What the primary process and its workers tell each other. Both are of the same version. */

import type { FirstKey } from "../first-key.ts";

/** What a worker serves once it is ready. */
export interface Served {
  readonly publicUrl: string;
  readonly newApiKey: FirstKey | null;
}

export type ToPrimary =
  | { readonly kind: "ready"; readonly served: Served }
  /** Somebody has asked this worker for `/metrics`. */
  | { readonly kind: "metricsWanted"; readonly request: number }
  /** Its own ones. Null: they could not be read. */
  | { readonly kind: "metrics"; readonly request: number; readonly text: string | null };

export type ToWorker =
  | { readonly kind: "stop" }
  | { readonly kind: "readMetrics"; readonly request: number }
  | { readonly kind: "allMetrics"; readonly request: number; readonly text: string };

const FORM = /^--worker=(\d{1,3})\/(\d{1,3})$/;

/** The argument by which a worker knows its place; `ps` shows it. */
export function placeArgument({
  number,
  count,
}: {
  readonly number: number;
  readonly count: number;
}): string {
  return `--worker=${String(number)}/${String(count)}`;
}

/** Null: this process is not a worker. */
export function placeIn(
  processArguments: readonly string[],
): { readonly number: number; readonly count: number } | null {
  for (const argument of processArguments) {
    const [, number, count] = FORM.exec(argument) ?? [];
    if (number !== undefined && count !== undefined) return { number: Number(number), count: Number(count) };
  }
  return null;
}
