/** One operation on the reference page. */

import { type Card, codeBlock, factsTable } from "./card.ts";
import { type Html, html } from "./html.ts";
import { type JsonSchema, type OpenApiDocument, type Operation, schemaName } from "./open-api.ts";
import { described, exampleOf, fieldsTable, prose, typeOf } from "./schema-view.ts";

export interface Entry {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export interface CardOptions {
  /** Bodies for the curl examples by operation id; other bodies are made from the schema. */
  readonly examples: Readonly<Record<string, unknown>>;
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

const METHODS: ReadonlySet<string> = new Set(["get", "post", "put", "patch", "delete"]);

/** The operations of each tag, in the order of the document. */
export function entriesOf(document: OpenApiDocument): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      if (!METHODS.has(method)) continue;
      const group = operation.tags?.[0] ?? "other";
      const id = operation.operationId ?? `${method}-${path.replaceAll(/[^a-z0-9]+/gi, "-")}`;
      groups.set(group, [...(groups.get(group) ?? []), { id, method, path, operation }]);
    }
  }
  return groups;
}

function methodLabel(method: string): Html {
  return html`<span class="method ${method}">${method.toUpperCase()}</span>`;
}

function parameters(operation: Operation): Html | null {
  const rows = (operation.parameters ?? []).map((one): readonly [Html, Html] => {
    const schema =
      one.description === undefined ? one.schema : { ...one.schema, description: one.description };
    const required = one.required === true ? html`<span class="required">required</span>` : null;
    return [html`<code>${one.name}</code>${required}`, described(schema ?? {}, [`in the ${one.in}`])];
  });
  return rows.length === 0
    ? null
    : html`<h4>Parameters</h4>
        ${factsTable(rows)}`;
}

interface Body {
  readonly type: string;
  readonly schema: JsonSchema;
  /** The value itself, or what it refers to. */
  readonly whole: JsonSchema;
}

function bodyOf({ operation }: Entry, document: OpenApiDocument): Body | null {
  const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  if (type === undefined || content?.schema === undefined) return null;
  const { schema } = content;
  const whole = document.components?.schemas?.[schemaName(schema) ?? ""] ?? schema;
  return { type, schema, whole };
}

function requestBody({ operation }: Entry, body: Body | null): Html | null {
  if (body === null) return null;
  const { type, schema, whole } = body;
  const count = Object.keys(whole.properties ?? {}).length;
  const needed = operation.requestBody?.required === true ? "required" : "may be left out";
  return html`<h4>Body</h4>
    <p class="type">${typeOf(schema)} as <code>${type}</code>, ${needed}</p>
    ${
      count === 0
        ? null
        : html`<details>
            <summary>Its ${count} ${count === 1 ? "field" : "fields"}</summary>
            ${fieldsTable(whole)}
          </details>`
    }`;
}

function answers(operation: Operation): Html {
  const rows: (readonly [Html, Html])[] = [];
  const failures: Html[] = [];
  for (const [status, { $ref, description, content }] of Object.entries(operation.responses ?? {})) {
    if ($ref !== undefined) {
      const code = $ref.split("/").pop() ?? "";
      failures.push(html` <a class="failure" href="#problem-${code}">${status} ${code}</a>`);
      continue;
    }
    const types = Object.entries(content ?? {}).map(
      ([type, { schema }]) =>
        html` ${schema === undefined || type !== "application/json" ? null : html`${typeOf(schema)} as `}<code
            >${type}</code
          >`,
    );
    rows.push([html`<code>${status}</code>`, html`<p>${prose(description ?? "")}${types}</p>`]);
  }
  return html`<h4>Answers</h4>
    ${factsTable([...rows, [html`Failures`, html`<p class="failures">${failures}</p>`]])}`;
}

/** A command that works once the key and the ids are filled in. */
export function curlExample(
  entry: Entry,
  document: OpenApiDocument,
  { baseUrl, examples }: CardOptions,
): string {
  const { method, operation } = entry;
  const path = entry.path.replaceAll(/\{([a-z_]+)\}/gi, (_, name: string) => `$${name.toUpperCase()}`);
  const needsKey = (operation.security ?? document.security ?? []).some((one) => Object.keys(one).length > 0);
  const lines = [`curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}"${baseUrl}${path}"`];
  if (needsKey) lines.push('-H "X-API-Key: $API_KEY"');
  const body = bodyOf(entry, document);
  if (body !== null) {
    const example = examples[entry.id] ?? exampleOf(body.schema, document.components?.schemas ?? {});
    const text = JSON.stringify(example, null, 2).replaceAll("'", String.raw`'\''`);
    lines.push(`-H "Content-Type: ${body.type}"`, `-d '${text}'`);
  }
  // With --fail, a problem's body is not saved as a recording.
  if (operation.responses?.["200"]?.content?.["audio/wav"] !== undefined)
    lines.push("--fail -o recording.wav");
  return lines.join(" \\\n  ");
}

/** Whether it is a call's medium, which curl does not support. */
function isJoin({ path }: Entry): boolean {
  return path.startsWith("/calls/");
}

function wordsOf({ method, path, id, operation }: Entry, body: Body | null): string {
  const { tags = [], parameters: named = [], summary = "", description = "" } = operation;
  const names = [...named.map(({ name }) => name), ...Object.keys(body?.whole.properties ?? {})];
  return [method, path, id, ...tags, ...names, summary, description].join(" ").toLowerCase();
}

export function operationCard(entry: Entry, document: OpenApiDocument, options: CardOptions): Card {
  const { id, method, path, operation } = entry;
  const { summary, description, "x-required-scope": scope } = operation;
  const body = bodyOf(entry, document);
  return {
    id,
    entry: html`${methodLabel(method)} <span>${summary ?? path}</span>`,
    words: wordsOf(entry, body),
    content: html`<h3>${methodLabel(method)}<a class="path" href="#${id}">${path}</a></h3>
      ${summary === undefined ? null : html`<p class="summary">${prose(summary)}.</p>`}
      ${description === undefined ? null : html`<p class="summary">${prose(description)}</p>`}
      ${scope === undefined ? null : html`<p class="summary">${prose(`Needs the scope \`${scope}\`.`)}</p>`}
      ${parameters(operation)}${requestBody(entry, body)}${answers(operation)}
      ${isJoin(entry) ? null : codeBlock("Example", curlExample(entry, document, options))}`,
  };
}
