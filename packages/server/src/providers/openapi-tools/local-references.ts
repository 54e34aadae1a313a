/** Follows the references of an OpenAPI document. */

export type Json = Readonly<Record<string, unknown>>;

/** Limit of references to references; real documents have one or two. */
const MAX_REFERENCE_CHAIN = 8;

export function objectOf(value: unknown): Json | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : null;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** An error in the document, and its place: `paths./orders.get.parameters.0`. */
export class OpenApiFault extends Error {
  override readonly name = "OpenApiFault";
  readonly place: string;

  constructor(place: string, message: string) {
    super(message);
    this.place = place;
  }
}

/** The object itself, or the object that it refers to. Null: neither is an object. */
export function resolve(document: Json, value: unknown, place: string): Json | null {
  let found = objectOf(value);
  for (let steps = 0; steps < MAX_REFERENCE_CHAIN; steps += 1) {
    const reference = found?.["$ref"];
    if (reference === undefined) return found;
    found = objectOf(lookUp(document, reference, place));
    if (found === null)
      throw new OpenApiFault(place, `refers to ${JSON.stringify(reference)}, which does not exist`);
  }
  throw new OpenApiFault(place, "contains a circular reference");
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
