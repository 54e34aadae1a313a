/** Prints JSON values as YAML 1.2 block style. Only what the interface description needs: no reading, no tags. */

/** Texts that need no quotes: they start with a letter and cannot be read as another type, a key or a comment. */
const PLAIN = /^[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./()-]+)*$/;
const RESERVED = /^(?:true|false|null|yes|no|on|off|y|n|inf|nan)$/i;

function scalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  // Every JSON text is a YAML double-quoted one.
  return PLAIN.test(value) && !RESERVED.test(value) ? value : JSON.stringify(value);
}

function isCollection(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

function block(value: object, indent: string, lines: string[]): void {
  const list = Array.isArray(value);
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const lead = list ? `${indent}-` : `${indent}${scalar(key)}:`;
    if (isCollection(item)) {
      lines.push(lead);
      block(item, `${indent}  `, lines);
    } else {
      lines.push(
        `${lead} ${Array.isArray(item) ? "[]" : typeof item === "object" && item !== null ? "{}" : scalar(item)}`,
      );
    }
  }
}

/** `value` is plain JSON; ends with a line break. */
export function toYaml(value: unknown): string {
  const lines: string[] = [];
  if (isCollection(value)) block(value, "", lines);
  else lines.push(JSON.stringify(value));
  return `${lines.join("\n")}\n`;
}
