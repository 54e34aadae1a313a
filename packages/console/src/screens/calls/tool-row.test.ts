import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import type { ToolLine } from "./lines.ts";
import { ToolRow } from "./tool-row.tsx";

test("the transcript names the sources of passages, and opens no address that is a program", () => {
  const text = JSON.stringify({
    notice: "Passages",
    passages: [
      {
        score: 0.91,
        source: { documentId: "d", title: "House rules", url: "https://hotel.example/rules", page: 2 },
      },
      { score: 0.4, source: { documentId: "e", title: "<b>Evil</b>", url: "javascript:alert(1)" } },
    ],
  });
  const line = { kind: "tool", name: "queryCorpus", call: null, result: { text }, tookMs: 800 };
  const page = renderToStaticMarkup(
    createElement(ToolRow, { line: line as unknown as ToolLine, time: null }),
  );
  const sources = page.slice(page.indexOf("Sources"), page.indexOf("Result"));
  expect(sources).toContain(
    '<a href="https://hotel.example/rules" target="_blank" rel="noreferrer">House rules · page 2</a>',
  );
  expect(sources).toContain("score 0.91");
  expect(sources).toContain("&lt;b&gt;Evil&lt;/b&gt;");
  expect(page).not.toMatch(/href="javascript|<b>/);
});
