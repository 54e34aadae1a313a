/**
 * The commands of a page, for a test that runs them as a reader does: what is in its blocks of `sh`, in order. A line
 * such as `export AGENT=…   # the agentId of the answer` takes the value from the last answer.
 */

export interface PageCommand {
  /** The line of the page that it starts at, from 1. */
  readonly line: number;
  readonly text: string;
}

/** An `export` whose value the reader fills in. */
export interface Blank {
  readonly variable: string;
  /** What the comment says about the value. */
  readonly comment: string;
}

const FENCE = /^\s*```(\w*)\s*$/;

export function commandsOf(markdown: string): PageCommand[] {
  const commands: PageCommand[] = [];
  let language: string | null = null;
  let open: { line: number; lines: string[] } | null = null;
  for (const [at, text] of markdown.split("\n").entries()) {
    const fence = FENCE.exec(text);
    if (fence !== null) {
      language = language === null ? (fence[1] ?? "") : null;
      continue;
    }
    if (language !== "sh" || (open === null && text.trim() === "")) continue;
    open ??= { line: at + 1, lines: [] };
    open.lines.push(text);
    const whole = open.lines.join("\n");
    if (!isComplete(whole)) continue;
    commands.push({ line: open.line, text: whole });
    open = null;
  }
  if (open !== null) throw new Error(`The command at line ${String(open.line)} does not end.`);
  return commands;
}

/** Not inside of quotation marks, and not continued by a backslash. */
function isComplete(text: string): boolean {
  let quote: string | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charAt(at);
    if (quote !== "'" && letter === "\\") at += 1;
    else if (quote !== null) quote = letter === quote ? null : quote;
    else if (letter === "'" || letter === '"') quote = letter;
    else if (letter === "#" && /(?:^|\s)$/.test(text.slice(0, at))) at = endOfLine(text, at);
  }
  return quote === null && !text.endsWith("\\");
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

/** Null: the line can be run as it is. */
export function blankOf({ text }: PageCommand): Blank | null {
  const [, variable, comment = ""] = /^export (\w+)=…\s*(?:#\s*(.*))?$/.exec(text) ?? [];
  return variable === undefined ? null : { variable, comment };
}

/** The value of the field that the comment names, such as `the agentId of the answer` or `its callId`. */
export function valueFor({ variable, comment }: Blank, answer: unknown): string {
  const field = /\b(\w+Id)\b/.exec(comment)?.[1];
  if (field === undefined) throw new Error(`The comment of ${variable} names no field: ${comment}`);
  const value = findField(answer, field);
  if (value === null)
    throw new Error(`The answer has no ${field} for ${variable}: ${JSON.stringify(answer)}`);
  return value;
}

function findField(value: unknown, field: string): string | null {
  if (typeof value !== "object" || value === null) return null;
  const own: unknown = Reflect.get(value, field);
  if (typeof own === "string") return own;
  for (const inner of Object.values(value)) {
    const found = findField(inner, field);
    if (found !== null) return found;
  }
  return null;
}
