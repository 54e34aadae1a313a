/** One operation on the reference page. */

import { type Html, html } from "./html.ts";
import type { OpenApiDocument, Operation } from "./open-api.ts";
import { described, exampleOf, fieldsTable, prose, typeOf } from "./schema-view.ts";

export interface Entry {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  /** What the search looks through, in lower case. */
  readonly words: string;
}

export interface CardOptions {
  /** Bodies for the curl examples by operation id; others are made from the schema. */
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
      const names = operation.parameters?.map(({ name }) => name) ?? [];
      const texts = [method, path, id, group, ...names, operation.summary ?? "", operation.description ?? ""];
      const words = texts.join(" ").toLowerCase();
      groups.set(group, [...(groups.get(group) ?? []), { id, method, path, operation, words }]);
    }
  }
  return groups;
}

export function methodLabel(method: string): Html {
  return html`<span class="method ${method}">${method.toUpperCase()}</span>`;
}

function parameters(operation: Operation): Html | null {
  const rows = (operation.parameters ?? []).map((one) => {
    const schema =
      one.description === undefined ? one.schema : { ...one.schema, description: one.description };
    const required = one.required === true ? html`<span class="required">required</span>` : null;
    return html`<tr>
      <th><code>${one.name}</code>${required}</th>
      <td>${described(schema ?? {}, [`in the ${one.in}`])}</td>
    </tr>`;
  });
  return rows.length === 0
    ? null
    : html`<h4>Parameters</h4>
        <div class="wide">
          <table>
            ${rows}
          </table>
        </div>`;
}

function requestBody(operation: Operation): Html | null {
  const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  if (type === undefined || content?.schema === undefined) return null;
  const { schema } = content;
  const fields = schema.properties === undefined ? null : fieldsTable(schema);
  return html`<h4>Body</h4>
    <p>${typeOf(schema)} as <code>${type}</code></p>
    ${fields}`;
}

function answers(operation: Operation, baseUrl: string): Html {
  const rows: Html[] = [];
  const failures: Html[] = [];
  for (const [status, { $ref, description, content }] of Object.entries(operation.responses ?? {})) {
    if ($ref !== undefined) {
      const code = $ref.split("/").pop() ?? "";
      failures.push(html` <a class="failure" href="${baseUrl}/problems/${code}">${status} ${code}</a>`);
      continue;
    }
    const types = Object.entries(content ?? {}).map(
      ([type, { schema }]) =>
        html` ${schema === undefined || type !== "application/json" ? null : html`${typeOf(schema)} as `}<code
            >${type}</code
          >`,
    );
    rows.push(
      html`<tr>
        <th><code>${status}</code></th>
        <td><p>${description ?? ""}${types}</p></td>
      </tr>`,
    );
  }
  return html`<h4>Answers</h4>
    <div class="wide">
      <table>
        ${rows}
        <tr>
          <th>Failures</th>
          <td><p class="failures">${failures}</p></td>
        </tr>
      </table>
    </div>`;
}

/** A command that works once the key and the ids are put in. */
function curlExample(entry: Entry, document: OpenApiDocument, { baseUrl, examples }: CardOptions): string {
  const { method, operation } = entry;
  const path = entry.path.replaceAll(/\{([a-z_]+)\}/gi, (_, name: string) => `$${name.toUpperCase()}`);
  const needsKey = (operation.security ?? document.security ?? []).some((one) => Object.keys(one).length > 0);
  const lines = [`curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}"${baseUrl}${path}"`];
  if (needsKey) lines.push('-H "X-API-Key: $API_KEY"');
  const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  if (type !== undefined && content?.schema !== undefined) {
    const body = examples[entry.id] ?? exampleOf(content.schema, document.components?.schemas ?? {});
    const text = JSON.stringify(body).replaceAll("'", String.raw`'\''`);
    lines.push(`-H "Content-Type: ${type}"`, `-d '${text}'`);
  }
  if (operation.responses?.["200"]?.content?.["audio/wav"] !== undefined) lines.push("-o recording.wav");
  return lines.join(" \\\n  ");
}

/** Websocket operations have no curl example: it cannot speak them. */
function example(entry: Entry, document: OpenApiDocument, options: CardOptions): Html | null {
  if (entry.operation.responses?.["101"] !== undefined) return null;
  const command = curlExample(entry, document, options);
  return html`<h4>Example</h4>
    <div class="curl"><pre tabindex="0">${command}</pre></div>`;
}

export function operationCard(entry: Entry, document: OpenApiDocument, options: CardOptions): Html {
  const { summary, description } = entry.operation;
  return html`<article class="card" id="${entry.id}" data-words="${entry.words}">
    <h3>${methodLabel(entry.method)}<a class="path" href="#${entry.id}">${entry.path}</a></h3>
    ${summary === undefined ? null : html`<p class="summary">${summary}.</p>`}
    ${description === undefined ? null : html`<p class="summary">${prose(description)}</p>`}
    ${parameters(entry.operation)}${requestBody(entry.operation)}${answers(entry.operation, options.baseUrl)}
    ${example(entry, document, options)}
  </article>`;
}
