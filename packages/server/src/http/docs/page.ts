/** The reference page: one self-contained HTML document made from the interface description. */

import { createHash } from "node:crypto";
import { SCRIPT, STYLE } from "./assets.ts";
import { type Html, html, trusted } from "./html.ts";
import type { JsonSchema, OpenApiDocument, Operation } from "./open-api.ts";
import { described, exampleOf, fieldsTable, typeOf } from "./schema-view.ts";

export interface ReferencePage {
  readonly html: string;
  /** Allows the page's own style and script by their hashes, and nothing else. */
  readonly contentSecurityPolicy: string;
}

export interface ReferenceOptions {
  /** Bodies for the curl examples by operation id; others are made from the schema. */
  readonly examples: Readonly<Record<string, unknown>>;
  readonly problems: readonly { readonly code: string; readonly status: number; readonly meaning: string }[];
}

interface Entry {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  /** What the search looks through, in lower case. */
  readonly words: string;
}

const METHODS: ReadonlySet<string> = new Set(["get", "post", "put", "patch", "delete"]);

function entriesOf(document: OpenApiDocument): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      if (!METHODS.has(method)) continue;
      const group = operation.tags?.[0] ?? "Other";
      const id = operation.operationId ?? `${method}-${path.replaceAll(/[^a-z0-9]+/gi, "-")}`;
      const texts = [method, path, id, operation.summary, operation.description, group];
      const names = operation.parameters?.map(({ name }) => name) ?? [];
      const words = [...texts, ...names]
        .filter((text) => text !== undefined)
        .join(" ")
        .toLowerCase();
      groups.set(group, [...(groups.get(group) ?? []), { id, method, path, operation, words }]);
    }
  }
  return groups;
}

function methodLabel(method: string): Html {
  return html`<span class="method ${method}">${method.toUpperCase()}</span>`;
}

function parameters(operation: Operation): Html | null {
  const rows = (operation.parameters ?? []).map(
    (one) =>
      html`<tr>
        <th>
          <code>${one.name}</code
          >${one.required === true ? html`<span class="required">required</span>` : null}
        </th>
        <td>
          ${described({ ...one.schema, ...(one.description === undefined ? {} : { description: one.description }) })}<span
            class="type"
            >in the ${one.in}</span
          >
        </td>
      </tr>`,
  );
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
  return html`<h4>Body</h4>
    <p><code>${type}</code>: ${typeOf(schema)}</p>
    ${schema.properties === undefined ? null : fieldsTable(schema)}`;
}

function responses(operation: Operation): Html {
  const rows = Object.entries(operation.responses ?? {}).map(([status, { description, content }]) => {
    const types = Object.entries(content ?? {}).map(
      ([type, { schema }]) =>
        html`<p><code>${type}</code>${schema === undefined ? null : html`: ${typeOf(schema)}`}</p>`,
    );
    return html`<tr>
      <th><code>${status}</code></th>
      <td>
        <p>${description ?? ""}</p>
        ${types}
      </td>
    </tr>`;
  });
  return html`<h4>Answers</h4>
    <div class="wide">
      <table>
        ${rows}
      </table>
    </div>`;
}

/** A command that works once the key and the ids are put in. */
function curlExample(
  entry: Entry,
  document: OpenApiDocument,
  baseUrl: string,
  examples: ReferenceOptions["examples"],
): string {
  const { method, operation } = entry;
  const path = entry.path.replaceAll(/\{([a-z_]+)\}/gi, (_, name: string) => `$${name.toUpperCase()}`);
  const needsKey = (operation.security ?? document.security ?? []).some((one) => Object.keys(one).length > 0);
  const lines = [`curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}"${baseUrl}${path}"`];
  if (needsKey) lines.push('-H "X-API-Key: $API_KEY"');
  const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  if (type !== undefined && content?.schema !== undefined) {
    const body = examples[entry.id] ?? exampleOf(content.schema, document.components?.schemas ?? {});
    lines.push(
      `-H "Content-Type: ${type}"`,
      `-d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`,
    );
  }
  if (operation.responses?.["200"]?.content?.["audio/wav"] !== undefined) lines.push("-o recording.wav");
  return lines.join(" \\\n  ");
}

function operationCard(
  entry: Entry,
  document: OpenApiDocument,
  baseUrl: string,
  options: ReferenceOptions,
): Html {
  const { operation } = entry;
  return html`<article class="card" id="${entry.id}" data-words="${entry.words}">
    <h3>${methodLabel(entry.method)}<a class="path" href="#${entry.id}">${entry.path}</a></h3>
    ${operation.summary === undefined ? null : html`<p class="summary">${operation.summary}</p>`}
    ${operation.description === undefined ? null : html`<p class="summary">${operation.description}</p>`}
    ${parameters(operation)}${requestBody(operation)}${responses(operation)}
    <h4>Example</h4>
    <div class="curl"><pre>${curlExample(entry, document, baseUrl, options.examples)}</pre></div>
  </article>`;
}

function schemaCard(name: string, schema: JsonSchema): Html {
  const words = [name, ...Object.keys(schema.properties ?? {})].join(" ").toLowerCase();
  return html`<article class="card" id="schema-${name}" data-words="${words}">
    <h3><a class="path" href="#schema-${name}">${name}</a></h3>
    ${schema.description === undefined ? null : html`<p class="summary">${schema.description}</p>`}
    ${schema.properties === undefined ? described({ ...schema, description: "" }) : fieldsTable(schema)}
  </article>`;
}

function sideBar(document: OpenApiDocument, groups: ReadonlyMap<string, readonly Entry[]>): Html {
  const lists = [...groups].map(
    ([group, entries]) =>
      html`<section data-group>
        <h2>${group}</h2>
        <ul>
          ${entries.map(
            (entry) =>
              html`<li data-words="${entry.words}">
                <a href="#${entry.id}"
                  >${methodLabel(entry.method)}<span>${entry.operation.summary ?? entry.path}</span></a
                >
              </li>`,
          )}
        </ul>
      </section>`,
  );
  return html`<header class="side">
    <h1>${document.info.title}</h1>
    <p class="version">Version ${document.info.version}</p>
    <input
      id="search"
      type="search"
      placeholder="Search (press /)"
      aria-label="Search operations and schemas"
      autocomplete="off"
    />
    <p id="none" class="none" hidden>Nothing matches.</p>
    <nav>${lists}</nav>
  </header>`;
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** `baseUrl` has no trailing slash and is put into the examples. */
export function referencePage(
  document: OpenApiDocument,
  baseUrl: string,
  options: ReferenceOptions,
): ReferencePage {
  const groups = entriesOf(document);
  const operations = [...groups].map(
    ([group, entries]) =>
      html`<section data-group>
        <h2>${group}</h2>
        ${entries.map((entry) => operationCard(entry, document, baseUrl, options))}
      </section>`,
  );
  const problems = options.problems.map(
    ({ code, status, meaning }) =>
      html`<tr>
        <th>
          <a href="${baseUrl}/problems/${code}"><code>${code}</code></a>
        </th>
        <td>${status}</td>
        <td>${meaning}</td>
      </tr>`,
  );
  const schemas = Object.entries(document.components?.schemas ?? {}).map(([name, schema]) =>
    schemaCard(name, schema),
  );
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${document.info.title}: reference</title>
        <style>
          ${trusted(STYLE)}
        </style>
      </head>
      <body>
        <div class="page">
          ${sideBar(document, groups)}
          <main>
            <h2>Reference</h2>
            <p class="lead">${document.info.description ?? ""}</p>
            <p class="lead">
              The same as a document for tools:
              <a href="${baseUrl}/api/schema/?format=json">OpenAPI as JSON</a>,
              <a href="${baseUrl}/api/schema/?format=yaml">as YAML</a>.
            </p>
            ${operations}
            <section data-group>
              <h2>Failures</h2>
              <article class="card" data-words="failures problems errors status codes">
                <p class="summary">Every failure has the same body, of the type application/problem+json.</p>
                <div class="wide">
                  <table>
                    ${problems}
                  </table>
                </div>
              </article>
            </section>
            <section data-group>
              <h2>Schemas</h2>
              ${schemas}
            </section>
          </main>
        </div>
        <script>
          ${trusted(SCRIPT)};
        </script>
      </body>
    </html> `;
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(STYLE)}`,
    `script-src ${hashOf(SCRIPT)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return { html: page.html, contentSecurityPolicy: policy.join("; ") };
}

/** A small page in the same style, with nothing to run. */
export function problemPage(title: string, content: Html): ReferencePage {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          ${trusted(STYLE)}
        </style>
      </head>
      <body>
        <main>
          <h2>${title}</h2>
          ${content}
          <p><a href="../docs">Reference</a></p>
        </main>
      </body>
    </html> `;
  const policy = `default-src 'none'; style-src ${hashOf(STYLE)}; base-uri 'none'; frame-ancestors 'none'`;
  return { html: page.html, contentSecurityPolicy: policy };
}
