import { expect, test } from "vitest";
import { passageSources } from "./passages.ts";

const result = (...passages: unknown[]): string => JSON.stringify({ notice: "Passages", passages });

test("names the document, the heading and the page of each passage", () => {
  const source = {
    documentId: "d",
    title: "House rules",
    url: "https://hotel.example/",
    page: 2,
    heading: "Meals",
  };
  expect(passageSources(result({ number: 1, score: 0.9, source, text: "t" }))).toEqual([
    { text: "House rules · Meals · page 2", url: "https://hotel.example/", score: 0.9 },
  ]);
  expect(passageSources(result({ source: { documentId: "d" } }))).toEqual([
    { text: "d", url: null, score: null },
  ]);
  expect(passageSources(result())).toEqual([]);
});

test.each(["", "three rooms", "[]", "null", '{"passages":[]}', '{"notice":"x","passages":1}'])(
  "knows that %j is another result",
  (text) => {
    expect(passageSources(text)).toBeNull();
  },
);

test("has no address that a browser would run", () => {
  const sources = passageSources(
    result({ source: { documentId: "d", url: "javascript:alert(1)" } }, { source: null }, null, 7),
  );
  expect(sources).toEqual([{ text: "javascript:alert(1)", url: null, score: null }]);
});
