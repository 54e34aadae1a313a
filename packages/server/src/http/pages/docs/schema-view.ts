/** Shows JSON schemas as tables, and makes small examples of them. */

import { type Html, html } from "./html.ts";
import { componentOf, type JsonSchema } from "@parley/schema/openapi/described-schema";

/** Limit of tables inside tables; deeper parts are shown by their type only. Bounds the page. */
const MAX_TABLE_DEPTH = 3;
/** Nesting of an example; schemas may refer to themselves. */
const MAX_EXAMPLE_DEPTH = 5;

/** Names of formats; the others use their own names. */
const FORMAT_NAMES: Readonly<Record<string, string>> = {
  "duration-seconds": "duration",
  "date-time": "date-time",
  uuid: "UUID",
  uri: "URL",
};

/** The number replaces `#`. */
const BOUNDS: readonly (readonly [keyof JsonSchema, string])[] = [
  ["minimum", "at least #"],
  ["exclusiveMinimum", "more than #"],
  ["maximum", "at most #"],
  ["exclusiveMaximum", "less than #"],
  ["minLength", "at least # characters"],
  ["maxLength", "at most # characters"],
  ["minItems", "at least # entries"],
  ["maxItems", "at most # entries"],
  ["minProperties", "at least # keys"],
  ["maxProperties", "at most # keys"],
  ["x-minimum", "at least #"],
  ["x-maximum", "at most #"],
];

function typeName(schema: JsonSchema): string {
  if (schema.type === undefined) return schema.properties === undefined ? "any value" : "object";
  const types = typeof schema.type === "string" ? [schema.type] : schema.type;
  const plain = types.join(" or ");
  return schema.format === undefined ? plain : (FORMAT_NAMES[schema.format] ?? `${plain} (${schema.format})`);
}

/** The fields of such a value, if any: of its entries, or of its form that is not null. */
function fieldsOf(schema: JsonSchema): JsonSchema | null {
  const inner = schema.items ?? schema;
  const options = [inner, ...(inner.properties === undefined ? (inner.oneOf ?? inner.anyOf ?? []) : [])];
  const withFields = options.filter(({ properties }) => properties !== undefined);
  return withFields.length === 1 ? (withFields[0] ?? null) : null;
}

const PLURALS: ReadonlySet<string> = new Set([
  "string",
  "number",
  "integer",
  "boolean",
  "object",
  "UUID",
  "URL",
]);

function pluralOf(schema: JsonSchema): Html {
  const isPlain = schema.oneOf === undefined && schema.anyOf === undefined && schema.items === undefined;
  const name = typeName(schema);
  return isPlain && PLURALS.has(name) ? html`${name}s` : typeOf(schema);
}

/** One line that describes the allowed values; names of schemas are links. */
export function typeOf(schema: JsonSchema): Html {
  const name = componentOf(schema);
  if (name !== null) return html`<a href="#schema-${name}">${name}</a>`;
  const options = schema.oneOf ?? schema.anyOf;
  // Beside fields of its own, options only define which of them go together.
  if (options !== undefined && schema.properties === undefined) {
    return html`${options.map((option, index) => (index === 0 ? typeOf(option) : html` or ${typeOf(option)}`))}`;
  }
  if (schema.allOf?.length === 1 && schema.allOf[0] !== undefined) return typeOf(schema.allOf[0]);
  if (schema.items !== undefined) {
    const entries = componentOf(schema.items) === null ? pluralOf(schema.items) : typeOf(schema.items);
    return html`list of ${entries}`;
  }
  const values = schema.additionalProperties;
  if (schema.properties === undefined && typeof values === "object")
    return html`map of text to ${typeOf(values)}`;
  return html`${typeName(schema)}`;
}

/** Values as code, marked up as `prose` reads it. */
function listed(values: readonly unknown[], last: string): string {
  const marked = values.map((value) => `\`${typeof value === "string" ? value : JSON.stringify(value)}\``);
  return marked.length < 2
    ? marked.join("")
    : `${marked.slice(0, -1).join(", ")} ${last} ${marked.at(-1) ?? ""}`;
}

function boundsOf(schema: JsonSchema): string[] {
  const { properties, minProperties, maxProperties } = schema;
  if (properties !== undefined && maxProperties === 1) {
    return [`${minProperties === 1 ? "exactly" : "at most"} one of its fields`];
  }
  const rules: string[] = [];
  for (const [key, words] of BOUNDS) {
    const bound = schema[key];
    // The largest safe integer only means "any whole number".
    if (typeof bound === "string") rules.push(words.replace("#", bound));
    if (typeof bound !== "number" || Math.abs(bound) === Number.MAX_SAFE_INTEGER) continue;
    const counted = words.replace("#", String(bound));
    rules.push(bound === 1 ? counted.replace("entries", "entry").replace(/s$/, "") : counted);
  }
  return rules;
}

/** Which fields exclude each other, as `oneOf` with a required field each. */
function choiceOf({ properties, oneOf = [] }: JsonSchema): string[] {
  const names = oneOf.map(({ required }) => required?.[0]);
  const chosen = names.filter((name) => name !== undefined);
  if (properties === undefined || chosen.length === 0 || chosen.length !== oneOf.length) return [];
  return [`exactly one of ${listed(chosen, "and")}`];
}

/** Sentences without their first words, marked up as `prose` reads it. */
function rulesOf(schema: JsonSchema): string[] {
  const rules: string[] = [];
  if (schema.const !== undefined) rules.push(`always ${listed([schema.const], "")}`);
  if (schema.enum !== undefined) rules.push(`one of ${listed(schema.enum, "or")}`);
  rules.push(...choiceOf(schema), ...boundsOf(schema));
  if (schema.pattern !== undefined && schema.format === undefined) rules.push(`like \`${schema.pattern}\``);
  // A value that may be null, or has several forms, has its rules in the forms.
  const forms = schema.properties === undefined ? (schema.oneOf ?? schema.anyOf ?? []) : [];
  if (componentOf(schema) === null) rules.push(...forms.flatMap(rulesOf));
  if (schema.items !== undefined && componentOf(schema.items) === null) {
    rules.push(...rulesOf(schema.items).map((rule) => `each ${rule}`));
  }
  if (schema.default !== undefined) rules.push(`default \`${JSON.stringify(schema.default)}\``);
  if (schema.readOnly === true) rules.push("read-only");
  if (schema.writeOnly === true) rules.push("never answered");
  if (schema.deprecated === true) rules.push("deprecated");
  return rules;
}

/** Rows of a table: one per field, with its type, its rules and its description. */
export function fieldsTable(schema: JsonSchema, depth = 0): Html {
  const required = new Set(schema.required);
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const inner = fieldsOf(field);
    const nested = inner !== null && depth + 1 < MAX_TABLE_DEPTH;
    const always = required.has(name) ? html`<span class="required">required</span>` : null;
    return html`<tr>
      <th scope="row"><code>${name}</code>${always}</th>
      <td>${described(field)}${nested ? fieldsTable(inner, depth + 1) : null}</td>
    </tr>`;
  });
  const table = html`<table>
    ${rows}
  </table>`;
  // Inner tables follow a line that already has it.
  const [choice] = depth === 0 ? choiceOf(schema) : [];
  return choice === undefined
    ? table
    : html`${table}
        <p class="type">It has ${prose(choice)}.</p>`;
}

/** A text of the description; text between backticks is code. */
export function prose(text: string): Html {
  const parts = text.split("`");
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}

/** Type, rules and description of one value. */
export function described(schema: JsonSchema, more: readonly string[] = []): Html {
  const rules = [...more, ...rulesOf(schema)].map((rule) => `, ${rule}`).join("");
  const text = schema.description ?? "";
  return html`<p class="type">${typeOf(schema)}${prose(rules)}</p>
    ${text === "" ? null : html`<p>${prose(text)}</p>`}`;
}

const BY_FORMAT: Readonly<Record<string, unknown>> = {
  uuid: "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11",
  "date-time": "2026-01-02T03:04:05.678Z",
  date: "2026-01-02",
  uri: "https://example.com/",
  "duration-seconds": "30s",
};

/** A small value that fits the schema: only what is required. */
export function exampleOf(
  schema: JsonSchema,
  schemas: Readonly<Record<string, JsonSchema>>,
  depth = 0,
): unknown {
  const name = componentOf(schema);
  const known = name === null ? undefined : schemas[name];
  if (known !== undefined) return depth > MAX_EXAMPLE_DEPTH ? {} : exampleOf(known, schemas, depth + 1);
  const given = schema.example ?? schema.examples?.[0] ?? schema.default ?? schema.const ?? schema.enum?.[0];
  if (given !== undefined) return given;
  const option = schema.oneOf?.[0] ?? schema.anyOf?.[0] ?? schema.allOf?.[0];
  if (option !== undefined && schema.properties === undefined) return exampleOf(option, schemas, depth + 1);
  const type = typeof schema.type === "string" ? schema.type : schema.type?.[0];
  switch (type) {
    case "string":
      return BY_FORMAT[schema.format ?? ""] ?? "text";
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    case "array":
      return schema.items === undefined || depth > MAX_EXAMPLE_DEPTH
        ? []
        : [exampleOf(schema.items, schemas, depth + 1)];
    case undefined:
    default:
      return Object.fromEntries(
        (schema.required ?? []).map((key) => [
          key,
          exampleOf(schema.properties?.[key] ?? {}, schemas, depth + 1),
        ]),
      );
  }
}
