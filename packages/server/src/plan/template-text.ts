/**
 * Template strings: mustache without HTML escaping, partials, lambdas or changed delimiters. Parsing is handed in; the
 * walk is here because it must see own properties only, stop at a size limit and never run code of the context.
 */

/** One piece of a parsed template. `name` is `.` or a name with dots. */
export type TemplateNode =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "value"; readonly name: string }
  | {
      readonly kind: "section";
      readonly name: string;
      /** True for `{{^name}}`: rendered when the value is missing or empty. */
      readonly inverted: boolean;
      readonly nodes: readonly TemplateNode[];
    };

export type ParsedTemplate =
  | { readonly nodes: readonly TemplateNode[] }
  /** Why the text is not a template, readable after the name of its field. */
  | { readonly problem: string };

export type ParseTemplate = (text: string) => ParsedTemplate;

export type TemplateContext = Readonly<Record<string, unknown>>;

/** Bytes of UTF-8 that the filled texts of one call may have together (D92); the same as the largest request body. */
export const MAX_FILLED_BYTES = 1_048_576;

/**
 * Steps of rendering for one call: a piece of template visited, or a part of a name looked up in one scope. Nested
 * sections over lists multiply, and a section can loop without printing anything, so the size alone does not bound
 * the work; half a million steps take some 30 ms.
 */
export const MAX_RENDER_STEPS = 500_000;

/** What is left for the texts of one call; shared by all of them and used up as they are rendered. */
export interface RenderBudget {
  bytes: number;
  steps: number;
}

export function newRenderBudget(): RenderBudget {
  return { bytes: MAX_FILLED_BYTES, steps: MAX_RENDER_STEPS };
}

/** Thrown by `renderTemplate`; `message` reads after the name of the field. */
export class TemplateTooLarge extends Error {
  override readonly name = "TemplateTooLarge";
}

/** The text with its values filled in once: a value that holds braces is printed, not filled again. */
export function renderTemplate(
  nodes: readonly TemplateNode[],
  context: TemplateContext,
  budget: RenderBudget,
): string {
  const pieces: string[] = [];
  renderNodes(nodes, { value: context, parent: null }, budget, pieces);
  return pieces.join("");
}

interface Scope {
  readonly value: unknown;
  readonly parent: Scope | null;
}

function renderNodes(
  nodes: readonly TemplateNode[],
  scope: Scope,
  budget: RenderBudget,
  pieces: string[],
): void {
  for (const node of nodes) {
    takeSteps(1, budget);
    switch (node.kind) {
      case "text":
        put(node.text, budget, pieces);
        break;
      case "value":
        put(printed(lookUp(node.name, scope, budget)), budget, pieces);
        break;
      case "section":
        renderSection(node, scope, budget, pieces);
        break;
    }
  }
}

function renderSection(
  node: Extract<TemplateNode, { kind: "section" }>,
  scope: Scope,
  budget: RenderBudget,
  pieces: string[],
): void {
  const value = lookUp(node.name, scope, budget);
  const empty = isEmpty(value);
  if (node.inverted) {
    if (empty) renderNodes(node.nodes, scope, budget, pieces);
    return;
  }
  if (empty) return;
  if (Array.isArray(value)) {
    for (const item of value) renderNodes(node.nodes, { value: item, parent: scope }, budget, pieces);
    return;
  }
  renderNodes(node.nodes, value === true ? scope : { value, parent: scope }, budget, pieces);
}

/** Mustache's idea of false: missing, null, false, 0, the empty text and the empty list. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === undefined || value === null || value === false || value === 0 || value === "";
}

function takeSteps(count: number, budget: RenderBudget): void {
  budget.steps -= count;
  if (budget.steps < 0) throw new TemplateTooLarge("repeats its sections too many times");
}

function put(text: string, budget: RenderBudget, pieces: string[]): void {
  if (text === "") return;
  budget.bytes -= utf8Length(text);
  if (budget.bytes < 0) {
    throw new TemplateTooLarge(`brings the filled texts of the call over ${MAX_FILLED_BYTES} bytes`);
  }
  pieces.push(text);
}

/** Bytes of the text in UTF-8; a lone surrogate counts as the three bytes of its replacement. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.codePointAt(at) ?? 0;
    if (code > 0xffff) at += 1;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code <= 0xffff ? 3 : 4;
  }
  return bytes;
}

/** Text as it is, null as nothing, numbers and booleans in JSON's spelling, objects and lists as JSON. */
function printed(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * The value of a name: in the innermost scope that has it, else in the ones around. A dotted name must resolve
 * entirely in one scope.
 */
function lookUp(name: string, scope: Scope, budget: RenderBudget): unknown {
  if (name === ".") return scope.value;
  const path = name.split(".");
  for (let at: Scope | null = scope; at !== null; at = at.parent) {
    takeSteps(path.length, budget);
    const found = valueAt(at.value, path);
    if (found !== NOT_FOUND) return found;
  }
  return undefined;
}

const NOT_FOUND: unique symbol = Symbol("not found");

/** Own properties only, so that names such as `constructor` never reach into the language. */
function valueAt(value: unknown, path: readonly string[]): unknown {
  let here = value;
  for (const key of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, key)) return NOT_FOUND;
    here = (here as Record<string, unknown>)[key];
  }
  return here;
}
