/** API keys in the browser: created, shown once, used, revoked. */

import { ParleyError, createRestClient } from "@parley/client/rest";
import { beforeAll, describe, expect, test } from "vitest";
import { consoleUrl, HAS_CONSOLE, keyOf, openConsole, type OpenConsole, settled } from "./open-console.ts";

describe.skipIf(!HAS_CONSOLE)("keys", () => {
  let open: OpenConsole;
  let made = "";
  beforeAll(async () => {
    open = await openConsole({ account: "keys" });
  });

  test("a key is made, shown once, and works", async () => {
    const { page } = open;
    await open.visit("/keys");
    await page.getByRole("button", { name: "New API key" }).click();
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByText("Is required.").waitFor();
    await page.getByLabel("Name").fill("Reporting");
    await page.getByLabel("Expires").fill("2020-01-01T00:00");
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByText("Must be in the future.").waitFor();
    await page.getByLabel("Expires").fill("2099-01-01T00:00");
    await page.getByLabel("Scope").selectOption("calls");
    await open.screenshot("key-new");
    await page.getByRole("button", { name: "Create key" }).click();
    made = (await page.getByRole("region", { name: "New API key" }).textContent()) ?? "";
    await open.screenshot("key-made");
    expect(await open.findings()).toEqual([]);
    const client = createRestClient({ baseUrl: consoleUrl(), apiKey: made });
    expect((await client.fetch("GET", "/api/accounts/me")).name).toBe("keys");
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("cell", { name: `${made.slice(0, 8)}…` }).waitFor();
    const row = page.getByRole("row").filter({ hasText: made.slice(0, 8) });
    expect(await row.getByText("calls", { exact: true }).count()).toBe(1);
    await expect(client.fetch("GET", "/api/audit_log")).rejects.toThrow(/scope admin/);
    expect(await page.content()).not.toContain(made);
  });

  test("the key of this browser is marked, and the last one cannot be revoked", async () => {
    const { page } = open;
    const own = page.getByRole("row").filter({ hasText: keyOf("keys").slice(0, 8) });
    expect(await own.textContent()).toContain("This browser");
    await page.getByRole("button", { name: "Actions for Reporting" }).click();
    await page.getByRole("menuitem", { name: "Revoke" }).click();
    await page.getByRole("button", { name: "Revoke key" }).click();
    await page.getByText("Revoked", { exact: true }).waitFor();
    await settled(page);
    const client = createRestClient({ baseUrl: consoleUrl(), apiKey: made });
    await expect(client.fetch("GET", "/api/accounts/me")).rejects.toBeInstanceOf(ParleyError);
    await page.getByRole("button", { name: "Actions for test" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete key" }).click();
    // The dialog shows the error of the service.
    await page.getByRole("dialog").getByRole("alert").waitFor();
    await open.screenshot("key-refused");
    expect(await open.findings()).toEqual([]);
  });
});
