/** What can be said about a tool before the service is asked: the interface's own rules about definitions. */

import { checkDefinition } from "@parley/schema/tool-rules";
import type { FieldFault } from "../../ui/field-errors.tsx";
import type { ToolDraft } from "./tool-draft.ts";

export function checkTool({ name, definition }: ToolDraft): readonly FieldFault[] {
  const faults: FieldFault[] = [];
  if (name.trim() === "") faults.push({ field: "name", message: "must not be empty" });
  checkDefinition(definition, (path, message) => {
    faults.push({ field: ["definition", ...path].join("."), message });
  });
  return faults;
}
