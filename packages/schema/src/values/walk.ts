/** The structure that a schema describes, without its rules, to read input and render responses. */

import { z } from "zod";
import type { FieldMarks } from "./fields.ts";

/** A schema reduced to its structure. `leaf` has no inner schemas. */
export type Structure =
  | { readonly kind: "object"; readonly fields: ReadonlyMap<string, z.core.$ZodType> }
  /** `most`: largest number of entries. */
  | { readonly kind: "list"; readonly item: z.core.$ZodType; readonly most: number }
  /** Keys are free; values have a schema. */
  | { readonly kind: "map"; readonly item: z.core.$ZodType }
  | {
      readonly kind: "union";
      readonly options: readonly z.core.$ZodType[];
      readonly discriminator: string | null;
    }
  | { readonly kind: "leaf"; readonly type: string };

export interface SchemaView {
  /** The schema inside the wrappers. */
  readonly core: z.core.$ZodType;
  readonly structure: Structure;
  readonly marks: FieldMarks;
  readonly optional: boolean;
  readonly nullable: boolean;
}

const views = new WeakMap<z.core.$ZodType, SchemaView>();

/** The view of a schema, wrappers removed; computed once per schema. */
export function viewOf(schema: z.core.$ZodType): SchemaView {
  const known = views.get(schema);
  if (known !== undefined) return known;
  const view = computeView(schema);
  views.set(schema, view);
  return view;
}

function computeView(schema: z.core.$ZodType): SchemaView {
  let marks: FieldMarks = {};
  let optional = false;
  let nullable = false;
  let current = schema as z.core.$ZodTypes;
  for (;;) {
    // An outer mark wins over the same mark further in.
    marks = { ...(z.globalRegistry.get(current) as FieldMarks | undefined), ...marks };
    const def = current._zod.def;
    if (def.type === "optional" || def.type === "default") optional = true;
    if (def.type === "nullable") nullable = true;
    const inner = innerOf(def);
    if (inner === null) return { core: current, structure: structureOf(current), marks, optional, nullable };
    current = inner as z.core.$ZodTypes;
  }
}

const WRAPPERS = ["optional", "nullable", "default", "prefault", "nonoptional", "readonly"];

function innerOf(def: z.core.$ZodTypes["_zod"]["def"]): z.core.$ZodType | null {
  if (def.type === "pipe") return def.in;
  return WRAPPERS.includes(def.type) && "innerType" in def ? def.innerType : null;
}

function structureOf(schema: z.core.$ZodTypes): Structure {
  const def = schema._zod.def;
  if (def.type === "object") return { kind: "object", fields: new Map(Object.entries(def.shape)) };
  if (def.type === "array") return { kind: "list", item: def.element, most: mostOf(def.checks ?? []) };
  if (def.type === "record") return { kind: "map", item: def.valueType };
  if (def.type === "union") {
    const discriminator = "discriminator" in def ? String(def.discriminator) : null;
    return { kind: "union", options: def.options, discriminator };
  }
  return { kind: "leaf", type: def.type };
}

function mostOf(checks: readonly z.core.$ZodCheck[]): number {
  const limits = checks.map(({ _zod: { def } }) =>
    def.check === "max_length" && "maximum" in def ? Number(def.maximum) : Number.POSITIVE_INFINITY,
  );
  return Math.min(...limits);
}

/** The option of a discriminated union that fits the value, or null. */
export function chooseOption(
  structure: Structure & { kind: "union" },
  value: unknown,
): z.core.$ZodType | null {
  const { discriminator, options } = structure;
  if (discriminator === null || typeof value !== "object" || value === null) return null;
  const wanted = (value as Record<string, unknown>)[discriminator];
  return (
    options.find((option) => {
      const view = viewOf(option).structure;
      const field = view.kind === "object" ? view.fields.get(discriminator) : undefined;
      return field !== undefined && z.core.safeParse(field, wanted).success;
    }) ?? null
  );
}
