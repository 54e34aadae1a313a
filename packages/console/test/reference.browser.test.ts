/** The reference page: the languages of its requests, by keyboard, on a phone and at the next visit. */

import { describe, expect, test } from "vitest";
import { consoleUrl, HAS_CONSOLE, openConsole } from "./open-console.ts";

if (!HAS_CONSOLE) process.stderr.write("skipped: the reference page needs a browser\n");

const open = (size: "desktop" | "phone") => openConsole({ account: "sign-in", signedIn: false, size });

describe.skipIf(!HAS_CONSOLE)("the reference page", () => {
  test("changes the language of all requests by the keys of tabs, and remembers it", async () => {
    const { page, complaints, findings } = await open("desktop");
    await page.goto(`${consoleUrl()}/docs`);
    const card = page.locator("#createAgent");
    const chosen = () => card.locator('[role="tab"][aria-selected="true"]').textContent();
    const shown = () => card.locator('[role="tabpanel"]:not([hidden]) pre').textContent();
    expect(await chosen()).toBe("curl");
    expect(await shown()).toContain("curl -X POST");
    await card.locator('[role="tab"][aria-selected="true"]').focus();
    await page.keyboard.press("ArrowRight");
    expect([await chosen(), await page.locator(":focus").textContent()]).toEqual([
      "TypeScript",
      "TypeScript",
    ]);
    expect(await shown()).toContain('parley.fetch("POST", "/api/agents"');
    await page.keyboard.press("End");
    expect(await chosen()).toBe("Python");
    expect(await shown()).toContain("requests.post(");
    await page.keyboard.press("ArrowRight");
    expect(await chosen()).toBe("curl");
    await page.keyboard.press("ArrowLeft");
    expect(await page.locator('[role="tabpanel"][id$="-curl"]:not([hidden])').count()).toBe(0);
    // One stop of the tab key for each list of tabs.
    expect(await card.locator('[role="tab"][tabindex="0"]').count()).toBe(1);
    expect(await findings("aria-valid-attr-value")).toEqual([]);
    await page.reload();
    expect(await chosen()).toBe("Python");
    expect(await complaints()).toEqual([]);
  });

  test("is no wider than a phone, and copies the request that it shows", async () => {
    const { page, complaints } = await open("phone");
    await page.goto(`${consoleUrl()}/docs`);
    const card = page.locator("#createCall");
    await card.getByRole("tab", { name: "TypeScript" }).click();
    await card.locator(".samples .copy").click();
    await card.locator(".samples .copy", { hasText: "Copied" }).waitFor();
    const copied = await page.evaluate<string>("navigator.clipboard.readText()");
    expect(copied).toContain('parley.fetch("POST", "/api/calls"');
    expect(await complaints()).toEqual([]);
  });
});
