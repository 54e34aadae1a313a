import { expect, test } from "vitest";
import { indexCorpusJob } from "./index-corpus.ts";

test("a job names its corpus, and what an earlier version has stored beside it is not needed", () => {
  const corpus = { accountId: "a", corpusId: "c" };
  expect(indexCorpusJob.read(corpus)).toEqual(corpus);
  expect(indexCorpusJob.read({ ...corpus, afterId: 7 })).toEqual(corpus);
  expect(() => indexCorpusJob.read({ accountId: "a" })).toThrow("no corpus");
  expect(indexCorpusJob.ofAccount?.idOf(corpus)).toBe("a");
});
