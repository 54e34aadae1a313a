import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Block } from "./blocks.ts";
import { CHUNK_SIZES, makeChunks } from "./make-chunks.ts";
import { splitText } from "./split-text.ts";
import { estimateTokens } from "./tokens.ts";

const page = null;
const paragraph = (text: string): Block => ({ kind: "paragraph", text, page });
const heading = (level: number, text: string): Block => ({ kind: "heading", level, text, page });

describe("the chunks of a document", () => {
  test("are paragraphs below the same headings", () => {
    const chunks = makeChunks(
      [
        heading(1, "Rules"),
        paragraph("Be quiet."),
        paragraph("Be kind."),
        heading(2, "Breakfast"),
        paragraph("From 7 to 10."),
        heading(2, "Left out"),
        heading(1, "Prices"),
        { kind: "table", rows: ["Room | Price", "Single | 80"], page: 2 },
      ],
      "en",
    );
    expect(chunks.map(({ headingPath, text, page: at }) => [headingPath, text, at])).toEqual([
      [["Rules"], "Be quiet.\n\nBe kind.", null],
      [["Rules", "Breakfast"], "From 7 to 10.", null],
      [["Rules"], "Left out", null],
      [["Prices"], "Room | Price\nSingle | 80", 2],
    ]);
  });

  test("end at the ends of sentences where a paragraph is too long", () => {
    const sentence = "The guests of the house leave their rooms before eleven in the morning. ";
    const chunks = makeChunks([paragraph(sentence.repeat(60))], "en");
    expect(chunks.length).toBeGreaterThan(1);
    for (const { text } of chunks) expect(text).toMatch(/^The .*morning\.$/s);
  });

  test("leave a table whole up to a size, and repeat its first row in the parts of a longer one", () => {
    const rows = (count: number): string[] => [
      "Room | Price",
      ...Array.from({ length: count }, (_, row) => `Room number ${String(row)} | ${String(row)} euros`),
    ];
    const whole = makeChunks([{ kind: "table", rows: rows(80), page }], "en");
    expect(whole).toHaveLength(1);
    expect(whole[0]?.tokens).toBeGreaterThan(CHUNK_SIZES.maxTokens);
    const parts = makeChunks([{ kind: "table", rows: rows(500), page }], "en");
    expect(parts.length).toBeGreaterThan(1);
    for (const { text, tokens } of parts) {
      expect(text).toMatch(/^Room \| Price\n/);
      expect(tokens).toBeLessThanOrEqual(CHUNK_SIZES.maxTableTokens);
    }
    expect(parts.flatMap(({ text }) => text.split("\n").slice(1))).toEqual(rows(500).slice(1));
  });
});

test("neither levels of headings nor white space make chunks larger than their tokens", () => {
  const levels = Array.from({ length: 300 }, (_, index) => heading(index + 1, `Part ${String(index)}`));
  const spaces = " ".repeat(2_000_000);
  const chunks = makeChunks([...levels, paragraph(`Be${spaces}quiet.`)], "en");
  expect(chunks.at(-1)?.text).toMatch(/^Be\s+quiet\.$/);
  expect(chunks.at(-1)?.headingPath).toHaveLength(6);
  for (const { headingPath, text } of chunks)
    expect(headingPath.join("").length + text.length).toBeLessThan(2_000);
  const shown = new Set(chunks.flatMap(({ headingPath, text }) => [...headingPath, text]));
  for (const level of levels) expect(shown.has("text" in level ? level.text : "")).toBe(true);
});

const someText = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 400 }),
  fc.lorem({ maxCount: 60, mode: "sentences" }),
  fc.string({ unit: fc.constantFrom("漢", "字", "。", "ก", "ا", "x", " "), maxLength: 600 }),
);
const someBlock: fc.Arbitrary<Block> = fc.oneof(
  fc.record({ kind: fc.constant("paragraph" as const), text: someText, page: fc.constant(page) }),
  fc.record({
    kind: fc.constant("heading" as const),
    level: fc.integer({ min: 1, max: 6 }),
    text: fc.lorem({ maxCount: 3 }),
    page: fc.constant(page),
  }),
);

const visible = (text: string): string => text.replaceAll(/\s+/gu, "");

describe("for any document", () => {
  test("no text is lost, the order is kept, and no chunk is too long", () => {
    fc.assert(
      fc.property(fc.array(someBlock, { maxLength: 12 }), (blocks) => {
        const chunks = makeChunks(blocks, "en", { maxTokens: 40, maxTableTokens: 100 });
        const texts = blocks
          .filter(({ kind }) => kind === "paragraph")
          .map((block) => ("text" in block ? block.text : ""));
        let rest = visible(chunks.map(({ text }) => text).join(""));
        for (const text of texts) {
          // Headings without text are chunks of their own between the paragraphs.
          const at = rest.indexOf(visible(text));
          expect(at).toBeGreaterThanOrEqual(0);
          rest = rest.slice(at + visible(text).length);
        }
        for (const { text, tokens } of chunks) {
          expect(tokens).toBe(estimateTokens(text));
          expect(tokens).toBeLessThanOrEqual(40);
        }
        const shown = new Set(chunks.flatMap(({ headingPath, text }) => [...headingPath, text]));
        const headings = blocks.flatMap((block) => (block.kind === "heading" ? [block.text] : []));
        for (const text of headings) expect(shown.has(text.replaceAll(/\s+/gu, " ").trim())).toBe(true);
      }),
    );
  });

  test("the parts of a text are the text, within the limit", () => {
    fc.assert(
      fc.property(someText, fc.integer({ min: 1, max: 50 }), (text, maxTokens) => {
        const parts = splitText(text, maxTokens, null);
        expect(visible(parts.map((part) => part.text).join(""))).toBe(visible(text));
        for (const part of parts) expect(part.tokens).toBeLessThanOrEqual(maxTokens);
      }),
    );
  });
});
