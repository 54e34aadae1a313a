/** Prints the OpenAPI document as YAML. */

import { stringify } from "yaml";

/** `value` is plain JSON; ends with a line break. */
export function toYaml(value: unknown): string {
  return stringify(value, {
    aliasDuplicateObjects: false,
    blockQuote: false,
    // Also quotes texts such as `no` and `2026-01-01`, which YAML 1.1 parsers read as other types.
    compat: "yaml-1.1",
    lineWidth: 0,
  });
}
