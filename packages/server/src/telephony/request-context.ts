/** The template context of an incoming call, from the fields of the carrier's request. Pure. */

type Context = { [name: string]: string | Context };

/**
 * `mapping`: the name of a field → the dotted path in the context. Fields that are missing are left out. The paths do
 * not meet: that is checked when the mapping is stored.
 */
export function mappedContext(
  fields: ReadonlyMap<string, string>,
  mapping: Readonly<Record<string, string>>,
): Context {
  const context: Context = {};
  for (const [field, path] of Object.entries(mapping)) {
    const value = fields.get(field);
    if (value !== undefined) put(context, path.split("."), value);
  }
  return context;
}

function put(context: Context, steps: readonly string[], value: string): void {
  const [step = "", ...rest] = steps;
  if (rest.length === 0) {
    context[step] = value;
    return;
  }
  const inner = Object.hasOwn(context, step) ? context[step] : undefined;
  const next: Context = typeof inner === "object" ? inner : {};
  context[step] = next;
  put(next, rest, value);
}
