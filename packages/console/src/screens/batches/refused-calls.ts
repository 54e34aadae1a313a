/** Maps errors of the service, by position in the request, to rows of the source. */

import { faultsOf, type FieldFault } from "../../ui/field-errors.tsx";
import type { BadCall } from "./check-calls.ts";

const AT_CALL = /^calls\.(\d+)(?:\.(.*))?$/s;

/** `indexes` has the position in the source of each sent call. */
export function refusedCalls(error: unknown, indexes: readonly number[]): readonly BadCall[] {
  const found = new Map<number, FieldFault[]>();
  for (const { field, message } of faultsOf(error)) {
    const [, position, inside = ""] = AT_CALL.exec(field) ?? [];
    if (position === undefined) continue;
    const faults = found.get(Number(position)) ?? [];
    faults.push({ field: inside, message });
    found.set(Number(position), faults);
  }
  return [...found].map(([position, faults]) => ({ position, index: indexes[position] ?? position, faults }));
}

/** The position that the service named. */
export function pathOfRefused(position: number, { field }: FieldFault): string {
  return field === "" ? `calls.${String(position)}` : `calls.${String(position)}.${field}`;
}
