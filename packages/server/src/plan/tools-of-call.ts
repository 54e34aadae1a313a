/** The tools of a new stage that may have only tools that its call already had, exactly as it had them. */

import type { FieldError, SelectedTool } from "@parley/schema";
import type { CompiledTool } from "./compile-tools.ts";
import type { StagePlan } from "./plan.ts";

/** @param stages in which the tools are looked for, in this order */
export function toolsOfCall(
  selected: readonly SelectedTool[],
  stages: readonly StagePlan[],
): { readonly tools: readonly CompiledTool[] } | { readonly errors: readonly FieldError[] } {
  const errors: FieldError[] = [];
  const tools = new Map<string, CompiledTool>();
  for (const [index, { toolId, toolName, ...rest }] of selected.entries()) {
    const field = `selectedTools.${index}`;
    const [extra] = Object.entries(rest).find(([, value]) => value !== undefined) ?? [];
    if (extra !== undefined) {
      const message =
        "must not be given: this stage may only have tools that the call already had, as they were";
      errors.push({ field: `${field}.${extra}`, message });
      continue;
    }
    const isMeant = ({ plan }: CompiledTool): boolean =>
      toolId === undefined ? plan.name === toolName : plan.toolId?.toLowerCase() === toolId.toLowerCase();
    const found = stages
      .map((stage) => compiledTools(stage).filter(isMeant))
      .find(({ length }) => length > 0);
    if (found === undefined) errors.push({ field, message: "must be a tool that the call already had" });
    for (const tool of found ?? []) tools.set(tool.plan.name, tool);
  }
  return errors.length > 0 ? { errors } : { tools: [...tools.values()] };
}

function compiledTools({ tools, document }: StagePlan): CompiledTool[] {
  return tools.flatMap((plan) => {
    const listed = document.tools.find(({ callToolId }) => callToolId === plan.callToolId);
    return listed === undefined ? [] : [{ plan, listed }];
  });
}
