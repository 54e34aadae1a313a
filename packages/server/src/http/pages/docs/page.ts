/** The reference page: one self-contained HTML document generated from the interface description. */

import { createHash } from "node:crypto";
import { SCRIPT, STYLE } from "./assets.ts";
import type { Card, Part } from "./card.ts";
import { type CardOptions, entriesOf } from "./entries.ts";
import { firstCards } from "./first-steps.ts";
import { type Html, html, trusted } from "./html.ts";
import { joiningCards } from "./joining.ts";
import { clientMessageCards, serverMessageCards } from "./message-cards.ts";
import type { JsonSchema } from "@parley/schema/openapi/described-schema";
import type { OpenApiDocument } from "./open-api.ts";
import { operationCard } from "./operation-card.ts";
import { described, fieldsTable, prose } from "./schema-view.ts";

export interface Page {
  readonly html: string;
  /** Allows the page's own style and script by their hashes, and nothing else. */
  readonly contentSecurityPolicy: string;
}

export interface ProblemText {
  readonly code: string;
  readonly title: string;
  readonly status: number;
  readonly meaning: string;
}

export interface ReferenceOptions extends CardOptions {
  readonly problems: readonly ProblemText[];
}

/** The group of the operation that opens a websocket. */
const JOIN_GROUP = "join";

function titleOf(group: string): string {
  return group.charAt(0).toUpperCase() + group.slice(1);
}

function schemaCard(name: string, schema: JsonSchema): Card {
  const id = `schema-${name}`;
  const { description } = schema;
  return {
    id,
    entry: html`<code>${name}</code>`,
    words: [name, "schema", ...Object.keys(schema.properties ?? {})].join(" ").toLowerCase(),
    content: html`<h3><a class="path" href="#${id}">${name}</a></h3>
      ${description === undefined ? null : html`<p class="summary">${prose(description)}</p>`}
      ${schemaBody(name, schema)}`,
  };
}

/** The unions of messages have a card for each of their forms elsewhere. */
function schemaBody(name: string, schema: JsonSchema): Html {
  if (name === "ClientDataMessage") return html`<p><a href="#messages-to">Its forms</a></p>`;
  if (name === "ServerDataMessage") return html`<p><a href="#messages-from">Its forms</a></p>`;
  return schema.properties === undefined ? described({ ...schema, description: "" }) : fieldsTable(schema);
}

function problemCard({ code, title, status, meaning }: ProblemText): Card {
  const id = `problem-${code}`;
  return {
    id,
    entry: html`<span class="status">${status}</span> <code>${code}</code>`,
    words: `${code} ${status} ${title} problem failure error status`.toLowerCase(),
    content: html`<h3><span class="status">${status}</span><a class="path" href="#${id}">${code}</a></h3>
      <p class="summary">${title}.</p>
      <p>${prose(meaning)}</p>`,
  };
}

const FAILURES_LEAD = html`Every failure has a <a href="#schema-Problem">Problem</a> as its body, of the type
  <code>application/problem+json</code>. Branch on its <code>code</code>; <code>detail</code> is for people.`;

const MESSAGES_LEAD = html`JSON objects beside the audio, in text frames of the <a href="#join">websocket</a>,
  distinguished by their <code>type</code>. Names of fields are as shown.`;

function partsOf(document: OpenApiDocument, options: ReferenceOptions): Part[] {
  const groups = entriesOf(document);
  const operations = ([group, entries]: readonly [string, Parameters<typeof operationCard>[0][]]): Part => {
    const description = document.tags?.find(({ name }) => name === group)?.description;
    const cards = entries.map((entry) => operationCard(entry, document, options));
    return {
      id: `group-${group}`,
      title: titleOf(group),
      lead: description === undefined ? null : prose(description),
      cards: group === JOIN_GROUP ? [...joiningCards(), ...cards] : cards,
      folded: false,
    };
  };
  const schemas = Object.entries(document.components?.schemas ?? {});
  const part = (id: string, title: string, lead: Html | null, cards: readonly Card[]): Part => ({
    id,
    title,
    lead,
    cards,
    folded: id !== "start",
  });
  const all = [...groups.values()].flat();
  return [
    part("start", "Start", null, firstCards(all, document, options)),
    ...[...groups].map(operations),
    part("messages-to", "Messages to the service", MESSAGES_LEAD, clientMessageCards(document)),
    part("messages-from", "Messages from the service", MESSAGES_LEAD, serverMessageCards(document)),
    part("problems", "Failures", FAILURES_LEAD, options.problems.map(problemCard)),
    part(
      "schemas",
      "Schemas",
      null,
      schemas.map(([name, schema]) => schemaCard(name, schema)),
    ),
  ];
}

function entryList({ title, cards, folded }: Part): Html {
  const list = html`<ul>
    ${cards.map(
      (card) =>
        html`<li data-of="${card.id}">
          <a href="#${card.id}">${card.entry}</a>
        </li>`,
    )}
  </ul>`;
  return html`<details data-group ${folded ? null : html`open`}>
    <summary>${title}</summary>
    ${list}
  </details>`;
}

function sideBar(document: OpenApiDocument, parts: readonly Part[]): Html {
  return html`<header class="side" id="contents">
    <a class="skip" href="#main">Skip the contents</a>
    <h1>${document.info.title}</h1>
    <p class="version">Interface version ${document.info.version}</p>
    <input
      id="search"
      type="search"
      placeholder="Search (press /)"
      aria-label="Search operations, messages and schemas"
      autocomplete="off"
    />
    <p id="found" class="found" role="status"></p>
    <nav aria-label="Contents">${parts.map(entryList)}</nav>
  </header>`;
}

function partSection({ id, title, lead, cards }: Part): Html {
  const articles = cards.map(
    (card) =>
      html`<article class="card" id="${card.id}" data-words="${card.words}">${card.content}</article> `,
  );
  return html`<section data-group>
    <h2 id="${id}">${title}</h2>
    ${lead === null ? null : html`<p class="lead">${lead}</p>`}${articles}
  </section>`;
}

export function referencePage(document: OpenApiDocument, options: ReferenceOptions): Page {
  const parts = partsOf(document, options);
  const description = `${options.baseUrl}/api/schema/?format`;
  const body = html`<div class="page">
      ${sideBar(document, parts)}
      <main id="main" tabindex="-1">
        <section class="opening">
          <h2>${document.info.title} reference</h2>
          <p class="lead">${document.info.description ?? ""}</p>
          <p class="lead">
            The same for tools: <a href="${description}=json">OpenAPI as JSON</a>,
            <a href="${description}=yaml">as YAML</a>.
          </p>
        </section>
        ${parts.map(partSection)}
      </main>
      <a class="up" href="#contents">Contents</a>
    </div>
    ${element("script", SCRIPT)}`;
  return pageOf(`${document.info.title} reference`, body, SCRIPT);
}

/** A small page in the same style, without a script. */
export function notePage(title: string, content: Html): Page {
  return pageOf(
    title,
    html`<main class="alone">
      <article class="card">
        <h2>${title}</h2>
        ${content}
      </article>
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

/** No space around the content, which would change its hash. */
function element(name: "style" | "script", content: string): Html {
  return trusted(`<${name}>${content}</${name}>`);
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
