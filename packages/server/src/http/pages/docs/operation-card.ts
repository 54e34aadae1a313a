/** One operation on the reference page. */

import { type Card, codeBlock, factsTable } from "./card.ts";
import { type Body, bodyOf, type CardOptions, type Entry, isJoin } from "./entries.ts";
import { type Html, html } from "./html.ts";
import type { OpenApiDocument, Operation } from "./open-api.ts";
import { requestExamples } from "./request-examples.ts";
import { described, fieldsTable, prose, typeOf } from "./schema-view.ts";

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

/** What a request looks like in each language. The page's script makes tabs of them. */
function requestBlock(entry: Entry, document: OpenApiDocument, options: CardOptions): Html {
  const samples = requestExamples(entry, document, options).map(
    ({ language, title, text }) =>
      html`<div data-language="${language}">
        <h4>${title}</h4>
        <pre tabindex="0" aria-label="Request in ${title}">${text}</pre>
      </div>`,
  );
  return html`<div class="code samples" data-copy data-samples>${samples}</div>`;
}

/** An example of each answer; what is no JSON is named. */
function responseBlocks(operation: Operation): Html[] {
  const answers = Object.entries(operation.responses ?? {}).filter(([, { $ref }]) => $ref === undefined);
  return answers.map(([status, { content }]) => {
    const [[type, { example }] = ["", { example: undefined }]] = Object.entries(content ?? {});
    const title = `Response ${status}`;
    if (example !== undefined) return codeBlock(title, JSON.stringify(example, null, 2), "response");
    const words =
      status === "302"
        ? "No body. The header `Location` has the URL."
        : type === ""
          ? "No body."
          : `A body of the type \`${type}\`.`;
    return html`<div class="response">
      <h4>${title}</h4>
      <p>${prose(words)}</p>
    </div>`;
  });
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
      ${isJoin(entry) ? null : requestBlock(entry, document, options)}${isJoin(entry) ? null : responseBlocks(operation)}`,
  };
}
