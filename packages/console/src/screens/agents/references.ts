/**
 * The names in a template that the service looks up when a call is created, not when the agent is saved: the model, the
 * voice and the stored tools.
 */

import { isObject, type Json } from "./draft.ts";

export interface Reference {
  /** In the template, such as `selectedTools.0.toolName`. */
  readonly path: string;
  readonly kind: "model" | "voice" | "toolName" | "toolId";
  readonly name: string;
}

export function referencesOf(template: Json): readonly Reference[] {
  const { model, voice, selectedTools } = template;
  const tools: readonly unknown[] = Array.isArray(selectedTools) ? selectedTools : [];
  return [
    ...named("model", "model", model),
    ...named("voice", "voice", voice),
    ...tools.flatMap((tool, index) => {
      if (!isObject(tool)) return [];
      const path = `selectedTools.${String(index)}`;
      return [
        ...named(`${path}.toolName`, "toolName", tool["toolName"]),
        ...named(`${path}.toolId`, "toolId", tool["toolId"]),
      ];
    }),
  ];
}

/** An empty name is refused when the agent is saved. */
function named(path: string, kind: Reference["kind"], name: unknown): Reference[] {
  return typeof name === "string" && name !== "" ? [{ path, kind, name }] : [];
}
