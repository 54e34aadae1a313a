/** The variables in an agent's template strings. */

type Json = Readonly<Record<string, unknown>>;

/** Names in double braces, which every call must provide, in the order of their first use. */
export function variablesOf(template: Json): readonly string[] {
  const text = JSON.stringify(template);
  return [
    ...new Set(Array.from(text.matchAll(/\{\{\{?[#^/&]?\s*([\w.]+)\s*\}?\}\}/g), ([, name = ""]) => name)),
  ];
}

/** Whether values can be more than text: sections are lists and conditions, a schema can require numbers. */
export function needsDocument(template: Json): boolean {
  return template["contextSchema"] !== undefined || /\{\{\{?\s*[#^]/.test(JSON.stringify(template));
}

/** An object with these values at their dotted names. A name below another name's text is dropped. */
export function contextOf(values: ReadonlyMap<string, string>): Record<string, unknown> {
  const context: Record<string, unknown> = {};
  for (const [name, value] of values) {
    const keys = name.split(".");
    const last = keys.pop() ?? name;
    let here: Record<string, unknown> | null = context;
    for (const key of keys) here = here === null ? null : within(here, key);
    if (here !== null) here[last] = value;
  }
  return context;
}

function within(parent: Record<string, unknown>, key: string): Record<string, unknown> | null {
  const there = Object.hasOwn(parent, key) ? parent[key] : undefined;
  if (typeof there === "object" && there !== null) return there as Record<string, unknown>;
  if (there !== undefined) return null;
  const made: Record<string, unknown> = {};
  parent[key] = made;
  return made;
}
