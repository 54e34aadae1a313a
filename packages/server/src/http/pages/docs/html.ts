/** HTML whose inserted texts are always escaped. */

export interface Html {
  readonly html: string;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

type Part = string | number | Html | null | readonly Html[];

function print(part: Part): string {
  if (part === null) return "";
  if (typeof part === "string") return part.replaceAll(/[&<>"']/g, (letter) => ESCAPES[letter] ?? letter);
  if (typeof part === "number") return String(part);
  if ("html" in part) return part.html;
  return part.map((one) => one.html).join("");
}

/** The indentation of the code here is a third of a long page. Inserted texts, such as examples, keep theirs. */
function withoutIndent(text: string): string {
  return text.replaceAll(/\n\s+/g, "\n");
}

/** A template tag: texts are escaped, other HTML and lists of it are inserted unchanged, null is empty. */
export function html(fixed: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { html: fixed.map((text, index) => withoutIndent(text) + print(parts[index] ?? null)).join("") };
}

/** Only for constants of this code. */
export function trusted(text: string): Html {
  return { html: text };
}
