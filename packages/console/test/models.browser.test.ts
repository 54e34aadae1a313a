/** The engines of the deployment in the browser. The service is shared, so nothing is changed here. */

import { beforeAll, describe, expect, test } from "vitest";
import { OPERATOR_KEY } from "./accounts.ts";
import { HAS_CONSOLE, openConsole, type OpenConsole, settled } from "./open-console.ts";

describe.skipIf(!HAS_CONSOLE)("models", () => {
  let open: OpenConsole;
  beforeAll(async () => {
    open = await openConsole({ account: "models" });
  });

  test("every account sees which engines run and why", async () => {
    const { page } = open;
    await open.visit("/models");
    const model = page.getByRole("region", { name: "Language model" });
    expect(await model.textContent()).toMatch(/Demo engine.*scripted concierge.*comes with the service/s);
    expect(await page.getByRole("button", { name: "Test the language model" }).count()).toBe(0);
    expect(await page.getByRole("button", { name: "Change" }).count()).toBe(0);
    expect(await open.complaints()).toEqual([]);
  });

  test("the engines that take over are listed in their order, to be read only", async () => {
    const { page } = open;
    const lists = page.getByRole("list", { name: "Engines in order" });
    expect(await lists.count()).toBe(1);
    const list = page.getByRole("region", { name: "Language model" }).getByRole("list");
    const items = await list.getByRole("listitem").allTextContents();
    expect(items).toEqual(["scripted concierge Ready", "Second concierge Ready"]);
    expect(await list.getByRole("button").count()).toBe(0);
  });

  test("a wrong operator key is refused, and the right one opens the forms", async () => {
    const { page } = open;
    const form = page.getByRole("form", { name: "Operator key" });
    await form.getByLabel("Key", { exact: true }).fill("wrong-key-wrong-key-wrong-key");
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByText("The operator key in the X-Operator-Key header is not right.").waitFor();
    // The browser reports the refused request.
    expect((await open.complaints()).every((line) => line.includes("403"))).toBe(true);
    await form.getByLabel("Key", { exact: true }).fill(OPERATOR_KEY);
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByText("Entered", { exact: true }).waitFor();
    await page.getByRole("heading", { name: "Servers on this machine" }).waitFor();
    await settled(page);
    expect(await page.getByRole("button", { name: "Change" }).count()).toBe(3);
  });

  test("an engine is tested", async () => {
    const { page } = open;
    const model = page.getByRole("region", { name: "Language model" });
    await model.getByRole("button", { name: "Test the language model" }).click();
    await model.getByText(/^Works, \d+ ms$/).waitFor();
    expect(await model.getByRole("status").textContent()).toContain("It answered:");
  });

  test("what the service refuses is said at its field, and nothing is changed", async () => {
    const { page } = open;
    const model = page.getByRole("region", { name: "Language model" });
    await model.getByRole("button", { name: "Change" }).click();
    await model.getByLabel("Address of the server").fill("http://127.0.0.1:11434/v1");
    await model.getByRole("button", { name: "Save and use" }).click();
    await model.getByText(/^Is required: the name of the model at this server/).waitFor();
    expect(await model.getByLabel("Model", { exact: true }).getAttribute("aria-invalid")).toBe("true");
    await open.screenshot("models-form");
    expect(await open.findings()).toEqual([]);
    await model.getByRole("button", { name: "Cancel" }).click();
    await model.getByRole("button", { name: "Change" }).waitFor();
    expect(await model.textContent()).toContain("Demo engine");
  });
});
