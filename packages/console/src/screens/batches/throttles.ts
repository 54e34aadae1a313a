/** The throttles to choose from. */

import { useRead } from "../../data/api.tsx";
import type { ComboboxOption } from "../../ui/combobox.tsx";

export function useThrottles(): readonly ComboboxOption[] {
  const { data } = useRead("/api/call_throttles", { query: { pageSize: 100 } });
  return (data?.results ?? []).map(({ throttleId, name, rules }) => ({
    value: throttleId,
    label: name,
    detail: rules
      .map(({ maxCalls, windowSeconds }) => `${String(maxCalls)} in ${String(windowSeconds)} s`)
      .join(", "),
  }));
}
