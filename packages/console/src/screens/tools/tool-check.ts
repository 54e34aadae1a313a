/** Checks a tool by the API's own rules, before it is sent. */

import { checkDefinition } from "@parley/schema/tools/tool-rules";
import type { FieldFault } from "../../ui/field-errors.tsx";
import type { ToolDraft } from "./tool-draft.ts";

export function checkTool({ name, definition }: ToolDraft): readonly FieldFault[] {
  const faults: FieldFault[] = [];
  if (name.trim() === "") faults.push({ field: "name", message: "is required" });
  checkDefinition(definition, (path, message) => {
    faults.push({ field: ["definition", ...path].join("."), message });
  });
  return faults;
}
