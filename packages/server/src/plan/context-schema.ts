/**
 * The variables of an agent's templates as a JSON Schema, and the words in which a context that does not satisfy a
 * schema is refused. Checking itself is handed in.
 */

import type { TemplateNode } from "./template-text.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** One thing that is wrong. `path` leads from the checked value to the place, one key or index per entry. */
export interface SchemaFault {
  readonly path: readonly string[];
  /** Readable after the name of the field, such as `must be text`. */
  readonly message: string;
}

interface Variable {
  required: boolean;
  readonly parts: Map<string, Variable>;
}

/**
 * A schema (2020-12) for the context of these templates: plain variables are required, names used only as sections are
 * optional, a dotted name is an object inside an object, and more than the templates use is allowed.
 *
 * Inside `{{#section}}…{{/section}}` a name may belong to the section's own value, so it is not demanded there.
 * Inside `{{^section}}` nothing is added to what can be seen, so it is.
 */
export function generateContextSchema(templates: readonly (readonly TemplateNode[])[]): JsonSchema {
  const root: Variable = { required: true, parts: new Map() };
  for (const nodes of templates) collect(nodes, root, true);
  return { $schema: "https://json-schema.org/draft/2020-12/schema", ...schemaOf(root, true) };
}

function collect(nodes: readonly TemplateNode[], root: Variable, demanded: boolean): void {
  for (const node of nodes) {
    if (node.kind === "value" && demanded) note(node.name, root, true);
    if (node.kind === "section") {
      if (demanded) note(node.name, root, false);
      collect(node.nodes, root, demanded && node.inverted);
    }
  }
}

function note(name: string, root: Variable, required: boolean): void {
  if (name === ".") return;
  let here = root;
  for (const key of name.split(".")) {
    const part = here.parts.get(key) ?? { required: false, parts: new Map<string, Variable>() };
    part.required ||= required;
    here.parts.set(key, part);
    here = part;
  }
}

/** Keys that name a place of a list, so that `{{guests.0.name}}` also takes a list of guests. */
const LIST_KEY = /^(?:0|[1-9][0-9]*|length)$/;

function schemaOf(variable: Variable, isRoot: boolean): Record<string, unknown> {
  if (variable.parts.size === 0 && !isRoot) return {};
  const entries = [...variable.parts].sort(([left], [right]) => (left < right ? -1 : 1));
  const required = entries.filter(([, part]) => part.required).map(([key]) => key);
  const maybeList = !isRoot && entries.every(([key]) => LIST_KEY.test(key));
  const types = ["object", ...(maybeList ? ["array"] : []), ...(variable.required ? [] : ["null"])];
  return {
    type: types.length === 1 ? types[0] : types,
    properties: Object.fromEntries(entries.map(([key, part]) => [key, schemaOf(part, false)])),
    ...(required.length > 0 ? { required } : {}),
  };
}

/** The dotted name of a fault below `root`, such as `templateContext.user.name`. */
export function faultField(root: string, fault: SchemaFault): string {
  return [root, ...fault.path].join(".");
}
