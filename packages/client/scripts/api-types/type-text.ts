/** JSON schemas as TypeScript. */

import { comment, textOf } from "./comments.ts";
import { componentOf, type JsonSchema } from "@parley/schema/openapi/described-schema";

const MAX_LINE = 110;
const STEP = "  ";

/** Names of the types that a text uses from elsewhere. */
export type Used = Set<string>;

export interface Field {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  null: "null",
};

function fieldsOf({ properties = {}, required = [] }: JsonSchema): Field[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    required: required.includes(name),
  }));
}

function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** Fields between braces. Optional fields may also be given as undefined, which is the same as absent. */
export function fieldsText(fields: readonly Field[], indent: string, used: Used): string {
  const inner = indent + STEP;
  const lines = fields.map(({ name, schema, required }) => {
    const forms = formsOf(schema, inner, used);
    const type = union(required ? forms : [...forms, "undefined"], inner);
    const key = `${inner}${keyOf(name)}${required ? "" : "?"}:`;
    return `${comment(textOf(schema), inner)}${key}${type.startsWith("\n") ? "" : " "}${type};\n`;
  });
  return `{\n${lines.join("")}${indent}}`;
}

/** The keys of which exactly one is set, from `oneOf` with a required field each. */
function chosenKeys({ properties, oneOf = [] }: JsonSchema): string[] {
  const names = oneOf.map(({ required }) => required?.[0]).filter((name) => name !== undefined);
  return properties !== undefined && names.length > 0 && names.length === oneOf.length ? names : [];
}

function objectText(schema: JsonSchema, indent: string, used: Used): string {
  const { properties, additionalProperties: more, maxProperties, minProperties } = schema;
  if (properties === undefined || Object.keys(properties).length === 0) {
    // An object without fields says so in a response as well, where more fields are always allowed.
    if (more === false || (properties !== undefined && more === undefined)) return "Record<string, never>";
    return `Record<string, ${typeof more === "object" ? typeText(more, indent, used) : "unknown"}>`;
  }
  const fields = fieldsOf(schema);
  if (maxProperties === 1) {
    const choice = minProperties === 1 ? "ExactlyOne" : "AtMostOne";
    used.add(choice);
    const all = fields.map((field) => ({ ...field, required: true }));
    return `${choice}<${fieldsText(all, indent, used)}>`;
  }
  const keys = new Set(chosenKeys(schema));
  if (keys.size === 0) return fieldsText(fields, indent, used);
  used.add("ExactlyOne");
  const chosen = fields.filter(({ name }) => keys.has(name)).map((field) => ({ ...field, required: true }));
  const others = fields.filter(({ name }) => !keys.has(name));
  return `ExactlyOne<${fieldsText(chosen, indent, used)}> & ${fieldsText(others, indent, used)}`;
}

function union(texts: readonly string[], indent: string): string {
  const different = [...new Set(texts)];
  if (different.includes("unknown")) return "unknown";
  const line = different.join(" | ");
  const inner = indent + STEP;
  return different.length < 3 || (!line.includes("\n") && inner.length + line.length < MAX_LINE)
    ? line
    : different.map((text) => `\n${inner}| ${text.replaceAll("\n", `\n${STEP}`)}`).join("");
}

/** @param indent of the line that the text begins in; more lines follow it. */
export function typeText(schema: JsonSchema, indent: string, used: Used): string {
  return union(formsOf(schema, indent, used), indent);
}

/** The types that a value may have. */
function formsOf(schema: JsonSchema, indent: string, used: Used): string[] {
  const name = componentOf(schema);
  if (name !== null) {
    used.add(name);
    return [name];
  }
  if (schema.const !== undefined) return [JSON.stringify(schema.const)];
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value));
  const forms = schema.properties === undefined ? (schema.anyOf ?? schema.oneOf) : undefined;
  if (forms !== undefined) return forms.flatMap((form) => formsOf(form, indent, used));
  const { type } = schema;
  if (typeof type === "object") return type.flatMap((one) => formsOf({ ...schema, type: one }, indent, used));
  if (type === undefined && schema.properties === undefined) return ["unknown"];
  if (type === "array") return [listText(schema.items ?? {}, indent, used)];
  if (type === undefined || type === "object") return [objectText(schema, indent, used)];
  const primitive = PRIMITIVES[type];
  if (primitive === undefined) throw new Error(`There is no type for ${type}.`);
  return [primitive];
}

function listText(items: JsonSchema, indent: string, used: Used): string {
  const text = typeText(items, indent, used);
  return /^\w+$/.test(text) ? `${text}[]` : `Array<${text}>`;
}

/** An exported declaration with its comment. */
export function declaration(name: string, schema: JsonSchema, used: Used): string {
  const { description, deprecated } = schema;
  const about = [
    ...(description === undefined ? [] : [description]),
    ...(deprecated === true ? ["@deprecated"] : []),
  ];
  const text = typeText(schema, "", used);
  const declared = text.startsWith("{")
    ? `interface ${name} ${text}`
    : `type ${name} =${text.startsWith("\n") ? "" : " "}${text};`;
  return `${comment(about, "")}export ${declared}\n`;
}
