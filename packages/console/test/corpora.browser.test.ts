/** Corpora in the browser: created, given sources of each kind, loaded, changed, deleted. */

import { beforeAll, describe, expect, test } from "vitest";
import { HAS_CONSOLE, openConsole, type OpenConsole } from "./open-console.ts";

const SOURCES = "/api/corpora/{corpus_id}/sources";

describe.skipIf(!HAS_CONSOLE)("corpora", () => {
  let open: OpenConsole;
  let corpusId = "";
  beforeAll(async () => {
    open = await openConsole({ account: "corpora" });
  });

  test("a corpus is made", async () => {
    const { page, api } = open;
    await open.visit("/corpora");
    await page.getByRole("button", { name: "New corpus" }).first().click();
    await page.getByRole("dialog").getByLabel("Name").fill("House rules");
    await page.getByRole("button", { name: "Create corpus" }).click();
    await page.getByRole("heading", { name: "House rules" }).waitFor();
    const { results } = await api.fetch("GET", "/api/corpora");
    expect(results.map(({ name }) => name)).toEqual(["House rules"]);
    corpusId = results[0]?.corpusId ?? "";
  });

  test("pages of the web become a source, and faults are at their fields", async () => {
    const { page, api } = open;
    await page.getByRole("button", { name: "Add source" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Our pages");
    await dialog.getByRole("textbox", { name: "URL 1" }).fill("nowhere");
    await dialog.getByLabel("Link depth").fill("21");
    await dialog.getByRole("button", { name: "Add source" }).click();
    await dialog.getByText("Must be a URL such as https://hotel.example/.").waitFor();
    await dialog.getByText("Must be a whole number from 1 to 20.").waitFor();
    await dialog.getByRole("textbox", { name: "URL 1" }).fill("https://hotel.example/");
    await dialog.getByLabel("Link depth").fill("2");
    await dialog.getByLabel("Include types").fill("no type");
    await dialog.getByRole("button", { name: "Add source" }).click();
    await dialog.getByText(/Must be a type such as/).waitFor();
    await dialog.getByLabel("Include types").fill("text/html, application/pdf");
    await open.screenshot("corpora-source");
    expect(await open.findings()).toEqual([]);
    await dialog.getByRole("button", { name: "Add source" }).click();
    await page.getByRole("table", { name: "Sources" }).getByText("https://hotel.example/").waitFor();
    const { results } = await api.fetch("GET", SOURCES, { params: { corpus_id: corpusId } });
    expect(results[0]?.crawl).toEqual({
      startUrls: ["https://hotel.example/"],
      maxDepth: 2,
      relevantDocumentTypes: { include: { mimeTypes: ["text/html", "application/pdf"] } },
    });
  });

  test("a source keeps its kind when it is changed, and is deleted", async () => {
    const { page, api } = open;
    await page.getByRole("button", { name: "Edit Our pages" }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByLabel("Type", { exact: true }).isDisabled()).toBe(true);
    await dialog.getByLabel("Link depth").fill("");
    await dialog.getByRole("button", { name: "Save source" }).click();
    await dialog.waitFor({ state: "detached" });
    const list = () => api.fetch("GET", SOURCES, { params: { corpus_id: corpusId } });
    expect((await list()).results[0]?.crawl?.maxDepth).toBeUndefined();
    await page.getByRole("button", { name: "Delete Our pages" }).click();
    await page.getByRole("button", { name: "Delete source" }).click();
    await page.getByRole("heading", { name: "No sources" }).waitFor();
    expect((await list()).total).toBe(0);
  });

  test("files are uploaded and loaded, and their chunks and failures are shown", async () => {
    const { page } = open;
    await page.getByRole("button", { name: "Add source" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Our files");
    await dialog.getByLabel("Type", { exact: true }).selectOption({ label: "Uploaded documents" });
    await dialog.getByRole("button", { name: "Add document by its ID" }).click();
    await dialog.getByRole("textbox", { name: "Document 1" }).fill("seven");
    await dialog.getByRole("button", { name: "Add source" }).click();
    await dialog.getByText("Must be a UUID.").waitFor();
    await dialog.getByRole("textbox", { name: "Document 1" }).fill("");
    await dialog.getByRole("button", { name: "Add source" }).click();
    await dialog.getByText(/at least one document/).waitFor();
    await dialog.getByLabel("Drop files here, or choose them").setInputFiles([
      {
        name: "rules.md",
        mimeType: "text/markdown",
        buffer: Buffer.from("# Rules\n\nBreakfast is from 7 to 10."),
      },
      { name: "broken.pdf", mimeType: "application/pdf", buffer: Buffer.from("no PDF") },
      { name: "picture.png", mimeType: "image/png", buffer: Buffer.from("x") },
    ]);
    await dialog.getByText("picture.png is not of a type that can be read.").waitFor();
    await dialog.getByText("broken.pdf").waitFor();
    expect(await open.findings()).toEqual([]);
    await dialog.getByRole("button", { name: "Add source" }).click();
    await page.getByRole("link", { name: "Our files" }).click();
    await page.getByText("The file is damaged: it is not a complete PDF.").waitFor();
    await page.getByRole("button", { name: "Chunks" }).first().click();
    await page.getByRole("dialog").getByText("Breakfast is from 7 to 10.").waitFor();
    await open.screenshot("corpora-chunks");
    expect(await open.findings()).toEqual([]);
    await open.visit(`/corpora/${corpusId}`);
  });

  test("a corpus is renamed and deleted", async () => {
    const { page, api } = open;
    await page.getByRole("tab", { name: "About" }).click();
    await page.getByLabel("Name").fill("Rules of the house");
    await page.getByRole("button", { name: "Save corpus" }).click();
    await page.getByRole("heading", { name: "Rules of the house" }).waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete corpus" }).click();
    await page.waitForURL("**/corpora");
    expect((await api.fetch("GET", "/api/corpora")).total).toBe(0);
  });
});
