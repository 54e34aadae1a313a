/** Follows the references of an OpenAPI document, and puts the schemas that a tool shows in one piece. */

export type Json = Readonly<Record<string, unknown>>;

/** References to references; real documents have one or two. */
const MAX_REFERENCE_CHAIN = 8;
/** Schemas nest this deep in what a model is shown; deeper parts may be anything. */
const MAX_SCHEMA_DEPTH = 12;
/** Schemas of one operation after all references were followed; bounds documents that multiply themselves. */
const MAX_SCHEMA_NODES = 5_000;
/** Of no use to a model, or with another meaning outside of OpenAPI. */
const DROPPED = new Set([
  "example",
  "examples",
  "xml",
  "externalDocs",
  "discriminator",
  "deprecated",
  "nullable",
]);

export function objectOf(value: unknown): Json | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : null;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** What is wrong with the document, and where: `paths./orders.get.parameters.0`. */
export class OpenApiFault extends Error {
  override readonly name = "OpenApiFault";
  readonly place: string;

  constructor(place: string, message: string) {
    super(message);
    this.place = place;
  }
}

/** The object itself, or what it refers to. Null: neither is an object. */
export function resolve(document: Json, value: unknown, place: string): Json | null {
  let found = objectOf(value);
  for (let steps = 0; steps < MAX_REFERENCE_CHAIN; steps += 1) {
    const reference = found?.["$ref"];
    if (reference === undefined) return found;
    found = objectOf(lookUp(document, reference, place));
    if (found === null)
      throw new OpenApiFault(place, `refers to ${JSON.stringify(reference)}, which is not there`);
  }
  throw new OpenApiFault(place, "refers in a circle");
}

function lookUp(document: Json, reference: unknown, place: string): unknown {
  if (typeof reference !== "string" || !reference.startsWith("#/")) {
    throw new OpenApiFault(
      place,
      "refers to another document; only references that begin with #/ are followed",
    );
  }
  let found: unknown = document;
  for (const step of reference.slice(2).split("/")) {
    const name = decodeStep(step, place);
    const around = Array.isArray(found) ? (found as unknown as Json) : objectOf(found);
    found = around !== null && Object.hasOwn(around, name) ? around[name] : undefined;
  }
  return found;
}

function decodeStep(step: string, place: string): string {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    throw new OpenApiFault(place, "has a reference that is not valid");
  }
}

export interface SchemaBudget {
  left: number;
}

export function schemaBudget(): SchemaBudget {
  return { left: MAX_SCHEMA_NODES };
}

/** The schema without references, as JSON Schema. Where it contains itself, or is too deep, anything is allowed. */
export function wholeSchema(document: Json, schema: unknown, place: string, budget: SchemaBudget): Json {
  return inline(document, schema, place, budget, []);
}

const MAPS = new Set(["properties", "patternProperties"]);
const SINGLE = new Set(["items", "additionalProperties", "not"]);
const LISTS = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);

function inline(
  document: Json,
  value: unknown,
  place: string,
  budget: SchemaBudget,
  around: readonly Json[],
): Json {
  const schema = resolve(document, value, place);
  budget.left -= 1;
  if (budget.left < 0) throw new OpenApiFault(place, `needs more than ${MAX_SCHEMA_NODES} schemas`);
  if (schema === null || around.includes(schema) || around.length >= MAX_SCHEMA_DEPTH) return {};
  const inside = [...around, schema];
  const part = (item: unknown): unknown =>
    typeof item === "boolean" ? item : inline(document, item, place, budget, inside);
  const entries = Object.entries(schema).flatMap(([key, item]): [string, unknown][] => {
    if (DROPPED.has(key) || key.startsWith("x-")) return [];
    if (MAPS.has(key)) {
      return [
        [
          key,
          Object.fromEntries(Object.entries(objectOf(item) ?? {}).map(([name, each]) => [name, part(each)])),
        ],
      ];
    }
    if (SINGLE.has(key)) return [[key, part(item)]];
    return [[key, LISTS.has(key) ? listOf(item).map(part) : item]];
  });
  return fromVersion30(Object.fromEntries(entries), schema["nullable"] === true);
}

/** OpenAPI 3.0 has words of its own for null and for open bounds. */
function fromVersion30(schema: Json, nullable: boolean): Json {
  const { exclusiveMinimum, exclusiveMaximum, ...rest } = schema;
  const changed: Record<string, unknown> = { ...rest };
  for (const [open, name, bound] of [
    [exclusiveMinimum, "exclusiveMinimum", "minimum"],
    [exclusiveMaximum, "exclusiveMaximum", "maximum"],
  ] as const) {
    if (open === true && changed[bound] !== undefined) {
      changed[name] = changed[bound];
      delete changed[bound];
    } else if (typeof open === "number") changed[name] = open;
  }
  if (nullable && typeof changed["type"] === "string") changed["type"] = [changed["type"], "null"];
  return changed;
}
