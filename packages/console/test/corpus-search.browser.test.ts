/** Searches in the browser: the passages of a query with the reasons of their places, and questions without an answer. */

import { beforeAll, describe, expect, test } from "vitest";
import { HAS_CONSOLE, openConsole, type OpenConsole } from "./open-console.ts";

const ID = "0e9f3a52-5b4e-4b57-9d0c-8e8b0a3c9f11";

const HITS = [
  {
    content: "Breakfast is served from seven to ten in the garden room.",
    score: 0.82,
    citation: { sourceId: ID, documentId: ID, publicUrl: null, title: "House rules" },
    ranking: { textRank: 1, vectorRank: 2, fusedRank: null, headingPath: ["Meals", "Morning"], page: 2 },
  },
  {
    content: "The pool is open in summer.",
    score: 0.04,
    citation: { sourceId: ID, documentId: ID, publicUrl: "https://hotel.example/", title: null },
    ranking: { textRank: null, vectorRank: 1, fusedRank: 7, headingPath: [], page: null },
  },
];

const QUESTIONS = [
  { question: "Is there a gym?", asked: 3, bestScore: 0.12, lastAsked: "2030-01-02T03:04:05.000Z" },
];

describe.skipIf(!HAS_CONSOLE)("searches in a corpus", () => {
  let open: OpenConsole;
  let corpusUrl = "";
  beforeAll(async () => {
    open = await openConsole({ account: "corpus-search" });
    const { corpusId } = await open.api.fetch("POST", "/api/corpora", { body: { name: "Searched" } });
    corpusUrl = `/corpora/${corpusId}`;
  });

  test("say that nothing matches in a corpus without documents", async () => {
    const { page } = open;
    await open.visit(`${corpusUrl}?view=search`);
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByText("Enter a question.").waitFor();
    await page.getByLabel("Question").fill("When is breakfast?");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByText("No passage matches.").waitFor();
    expect(await open.findings()).toEqual([]);
  });

  test("show each passage with its source and why it is where it is", async () => {
    const { page } = open;
    await page.route("**/query", (route) => route.fulfill({ json: HITS }));
    await page.getByRole("button", { name: "Search" }).click();
    const list = page.getByRole("list", { name: "Passages" });
    await list.getByText("Full text: place 1 · meaning: place 2").waitFor();
    await list.getByText("House rules · Meals > Morning · page 2").waitFor();
    await list.getByText("Full text: not found · meaning: place 1 · before the reranker: place 7").waitFor();
    expect(await list.getByText(/^Score/).allTextContents()).toEqual(["Score 0.82", "Score 0.04"]);
    await open.screenshot("corpora-search");
    expect(await open.findings()).toEqual([]);
  });

  test("list the questions without an answer, which can be deleted", async () => {
    const { page } = open;
    let isEmpty = false;
    await page.route("**/open_questions*", async (route) => {
      if (route.request().method() === "DELETE") {
        isEmpty = true;
        await route.fulfill({ status: 204 });
        return;
      }
      const results = isEmpty ? [] : QUESTIONS;
      await route.fulfill({ json: { results, next: null, previous: null, total: results.length } });
    });
    await open.visit(`${corpusUrl}?view=questions`);
    const table = page.getByRole("table", { name: "Unanswered questions" });
    await table.getByText("Is there a gym?").waitFor();
    await page.getByRole("button", { name: "Delete all" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete questions" }).click();
    await page.getByText("No unanswered questions").waitFor();
    expect(await open.findings()).toEqual([]);
  });
});
