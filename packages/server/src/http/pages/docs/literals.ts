/** JSON values as literals of programming languages. */

export interface Notation {
  readonly empty: string;
  readonly yes: string;
  readonly no: string;
  readonly step: string;
  readonly key: (name: string) => string;
}

export const TYPESCRIPT: Notation = {
  empty: "null",
  yes: "true",
  no: "false",
  step: "  ",
  key: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)),
};

export const PYTHON: Notation = {
  empty: "None",
  yes: "True",
  no: "False",
  step: "    ",
  key: (name) => JSON.stringify(name),
};

/** @param indent of the line in which the literal begins */
export function literal(value: unknown, notation: Notation, indent: string): string {
  if (value === null || value === undefined) return notation.empty;
  if (typeof value === "boolean") return value ? notation.yes : notation.no;
  // Both languages read the escapes of JSON texts.
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = indent + notation.step;
  const parts = Array.isArray(value)
    ? value.map((item) => literal(item, notation, inner))
    : Object.entries(value).map(([name, item]) => `${notation.key(name)}: ${literal(item, notation, inner)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (parts.length === 0) return open + close;
  const lines = parts.map((part) => `${inner}${part}`).join(",\n");
  return `${open}\n${lines},\n${indent}${close}`;
}
