import {
  ERROR_CODES,
  openApiDocument,
  parseBody,
  routeOf,
  type RouteName,
  ROUTE_NAMES,
} from "@parley/schema";
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { EXAMPLE_BODIES } from "../plain-routes.ts";
import { allProblems } from "../../api/problems.ts";
import { html } from "./html.ts";
import type { OpenApiDocument } from "./open-api.ts";
import { referencePage } from "./page.ts";
import { exampleOf } from "./schema-view.ts";

const baseUrl = "https://voice.example";
const document = openApiDocument({ baseUrl, version: "0.1.0" }) as unknown as OpenApiDocument;
const page = referencePage(document, { baseUrl, examples: EXAMPLE_BODIES, problems: allProblems() });

function cardOf(id: string): string {
  const start = page.html.indexOf(`<article class="card" id="${id}"`);
  return page.html.slice(start, page.html.indexOf("</article>", start));
}

/** The text of HTML without elements. */
function textOf(content: string): string {
  return content
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}

describe("referencePage", () => {
  it("shows every operation with an example, and every schema", () => {
    for (const name of ROUTE_NAMES) expect(page.html).toContain(`id="${name}"`);
    // The first call has two more commands.
    expect(page.html.match(/^<pre [^>]*>(?:export CALL_ID[^]*?)?curl /gm)).toHaveLength(
      ROUTE_NAMES.length + 2,
    );
    for (const name of Object.keys(document.components?.schemas ?? {})) {
      expect(page.html).toContain(`id="schema-${name}"`);
    }
    for (const code of ERROR_CODES) expect(page.html).toContain(`id="problem-${code}"`);
  });

  it("shows the request of every operation in three languages", () => {
    const languages = [...page.html.matchAll(/data-language="(\w+)"/g)].map((match) => match[1]);
    expect(languages).toEqual(ROUTE_NAMES.flatMap(() => ["curl", "typescript", "python"]));
  });

  it.each(ROUTE_NAMES)("shows what %s answers, as it answers it", (name) => {
    const card = cardOf(name);
    const faults = Object.entries(routeOf(name).responses).map(([status, { schema }]) => {
      const [, shown = ""] =
        new RegExp(`<h4>Response ${status}</h4>\n<(?:pre|p)[^>]*>([^]*?)</`).exec(card) ?? [];
      if (schema === null) return /body/i.test(shown) ? undefined : `${status}: ${shown}`;
      return schema.safeParse(JSON.parse(textOf(shown))).error;
    });
    expect(faults).toEqual(faults.map(() => undefined));
  });

  it("lists each card once in the side bar, and each anchor is its own", () => {
    const anchors = [...page.html.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]);
    expect(anchors).toHaveLength(new Set(anchors).size);
    const cards = [...page.html.matchAll(/<article class="card" id="([^"]+)"/g)].map((match) => match[1]);
    expect([...page.html.matchAll(/data-of="([^"]+)"/g)].map((match) => match[1])).toEqual(cards);
    expect(cards.length).toBeGreaterThan(100);
  });

  it("has a target for each of its links", () => {
    const targets = new Set([...page.html.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]));
    const links = [...page.html.matchAll(/href="#([^"]+)"/g)].map((match) => match[1]);
    expect(links.length).toBeGreaterThan(50);
    expect(links.filter((link) => !targets.has(link))).toEqual([]);
  });

  it("takes nothing from outside, and allows its own style and script by their hashes", () => {
    expect(page.html).not.toMatch(/<(?:link|img|iframe|script|object)[^>]+(?:src|href)=/);
    expect(page.html).not.toMatch(/url\(/);
    for (const [tag, directive] of [
      ["style", "style-src"],
      ["script", "script-src"],
    ] as const) {
      const content = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(page.html)?.[1] ?? "";
      expect(content.length).toBeGreaterThan(100);
      const hash = createHash("sha256").update(content).digest("base64");
      expect(page.contentSecurityPolicy).toContain(`${directive} 'sha256-${hash}'`);
    }
    expect(page.html).not.toMatch(/ (?:style|on[a-z]+)="/);
  });

  it("escapes what the description says", () => {
    const strange = referencePage(
      { ...document, info: { title: "<b>&", version: '"1"' } },
      { baseUrl, examples: {}, problems: [] },
    );
    expect(strange.html).toContain("<h1>&lt;b&gt;&amp;</h1>");
    expect(strange.html).not.toContain("<b>");
  });
});

describe("example bodies", () => {
  const withBody = ROUTE_NAMES.filter((name) => routeOf(name).request !== null);

  it.each(withBody)("of %s are accepted by the operation itself", (name: RouteName) => {
    const { request, partial } = routeOf(name);
    if (request === null) throw new Error("it takes no body");
    const operation = Object.values(document.paths)
      .flatMap((path) => Object.values(path))
      .find(({ operationId }) => operationId === name);
    const schema = operation?.requestBody?.content["application/json"]?.schema ?? {};
    const made = exampleOf(schema, document.components?.schemas ?? {});
    for (const body of [made, (EXAMPLE_BODIES as Record<string, unknown>)[name] ?? made]) {
      expect(parseBody(request, body, { partial })).toBeTypeOf("object");
    }
  });
});

describe("html", () => {
  it("escapes texts and keeps what is HTML already", () => {
    const inner = html`<i>${"<&>\"'"}</i>`;
    expect(html`<p class="${'"x'}">${inner}${[inner]}${null}${5}</p>`.html).toBe(
      '<p class="&quot;x"><i>&lt;&amp;&gt;&quot;&#39;</i><i>&lt;&amp;&gt;&quot;&#39;</i>5</p>',
    );
  });
});
