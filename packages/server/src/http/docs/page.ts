/** The reference page: one self-contained HTML document made from the interface description. */

import { createHash } from "node:crypto";
import { SCRIPT, STYLE } from "./assets.ts";
import { type Html, html, trusted } from "./html.ts";
import type { JsonSchema, OpenApiDocument } from "./open-api.ts";
import { type Entry, entriesOf, methodLabel, operationCard } from "./operation-card.ts";
import { described, fieldsTable, prose } from "./schema-view.ts";

export interface Page {
  readonly html: string;
  /** Allows the page's own style and script by their hashes, and nothing else. */
  readonly contentSecurityPolicy: string;
}

export interface ReferenceOptions {
  /** Bodies for the curl examples by operation id; others are made from the schema. */
  readonly examples: Readonly<Record<string, unknown>>;
  readonly problems: readonly { readonly code: string; readonly status: number; readonly meaning: string }[];
  /** Put into the examples; without a trailing slash. */
  readonly baseUrl: string;
}

type Groups = ReadonlyMap<string, readonly Entry[]>;

function titleOf(group: string): string {
  return group.charAt(0).toUpperCase() + group.slice(1);
}

function schemaCard(name: string, schema: JsonSchema): Html {
  const words = [name, ...Object.keys(schema.properties ?? {})].join(" ").toLowerCase();
  const { description } = schema;
  return html`<article class="card" id="schema-${name}" data-words="${words}">
    <h3><a class="path" href="#schema-${name}">${name}</a></h3>
    ${description === undefined ? null : html`<p class="summary">${prose(description)}</p>`}
    ${schema.properties === undefined ? described({ ...schema, description: "" }) : fieldsTable(schema)}
  </article>`;
}

function sideBar(document: OpenApiDocument, groups: Groups): Html {
  const link = (entry: Entry): Html =>
    html`<li data-words="${entry.words}">
      <a href="#${entry.id}"
        >${methodLabel(entry.method)} <span>${entry.operation.summary ?? entry.path}</span></a
      >
    </li>`;
  const lists = [...groups].map(
    ([group, entries]) =>
      html`<section data-group>
        <h2>${titleOf(group)}</h2>
        <ul>
          ${entries.map(link)}
        </ul>
      </section>`,
  );
  return html`<header class="side">
    <h1>${document.info.title}</h1>
    <p class="version">Interface version ${document.info.version}</p>
    <input
      id="search"
      type="search"
      placeholder="Search (press /)"
      aria-label="Search operations and schemas"
      autocomplete="off"
    />
    <p id="none" class="none" role="status" hidden>Nothing matches.</p>
    <nav aria-label="Operations">${lists}</nav>
  </header>`;
}

function operationGroups(document: OpenApiDocument, groups: Groups, options: ReferenceOptions): Html[] {
  return [...groups].map(([group, entries]) => {
    const description = document.tags?.find(({ name }) => name === group)?.description;
    return html`<section data-group>
      <h2>${titleOf(group)}</h2>
      ${description === undefined ? null : html`<p class="lead">${prose(description)}</p>`}
      ${entries.map((entry) => operationCard(entry, document, options))}
    </section>`;
  });
}

function failures({ problems, baseUrl }: ReferenceOptions): Html {
  const rows = problems.map(
    ({ code, status, meaning }) =>
      html`<tr>
        <th>
          <a href="${baseUrl}/problems/${code}"><code>${code}</code></a>
        </th>
        <td>${status}</td>
        <td>${prose(meaning)}</td>
      </tr>`,
  );
  return html`<section data-group>
    <h2>Failures</h2>
    <p class="lead">
      Every failure has the same body, of the type <code>application/problem+json</code>: a
      <a href="#schema-Problem">Problem</a>. Branch on its <code>code</code>.
    </p>
    <article class="card" data-words="failures problems errors status codes">
      <div class="wide">
        <table>
          ${rows}
        </table>
      </div>
    </article>
  </section>`;
}

export function referencePage(document: OpenApiDocument, options: ReferenceOptions): Page {
  const groups = entriesOf(document);
  const schemas = Object.entries(document.components?.schemas ?? {}).map(([name, schema]) =>
    schemaCard(name, schema),
  );
  const description = `${options.baseUrl}/api/schema/?format`;
  const body = html`<div class="page">
      ${sideBar(document, groups)}
      <main>
        <section>
          <h2>${document.info.title} reference</h2>
          <p class="lead">${document.info.description ?? ""}</p>
          <p class="lead">
            The same for tools: <a href="${description}=json">OpenAPI as JSON</a>,
            <a href="${description}=yaml">as YAML</a>.
          </p>
        </section>
        ${operationGroups(document, groups, options)}${failures(options)}
        <section data-group>
          <h2>Schemas</h2>
          ${schemas}
        </section>
      </main>
    </div>
    ${element("script", SCRIPT)}`;
  return pageOf(`${document.info.title} reference`, body, SCRIPT);
}

/** A small page in the same style, with nothing to run. */
export function notePage(title: string, content: Html): Page {
  return pageOf(
    title,
    html`<main>
      <h2>${title}</h2>
      ${content}
    </main>`,
    null,
  );
}

function pageOf(title: string, body: Html, script: string | null): Page {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${element("style", STYLE)}
      </head>
      <body>
        ${body}
      </body>
    </html> `;
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(STYLE)}`,
    ...(script === null ? [] : [`script-src ${hashOf(script)}`]),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return { html: page.html, contentSecurityPolicy: policy.join("; ") };
}

/** Without a space around the content, which would change its hash. */
function element(name: "style" | "script", content: string): Html {
  return trusted(`<${name}>${content}</${name}>`);
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
