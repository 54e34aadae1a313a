/** Signing in to the console with keys: valid, invalid, from the URL, and revoked. */

import { describe, expect, test } from "vitest";
import { consoleUrl, HAS_CONSOLE, keyOf, openConsole } from "./open-console.ts";

if (!HAS_CONSOLE) process.stderr.write("skipped: signing in needs a browser\n");

const ACCOUNT = "sign-in";
const open = () => openConsole({ account: ACCOUNT, signedIn: false });
const STORED_KEYS = `[localStorage.getItem("parley.key"), sessionStorage.getItem("parley.key")]`;

describe.skipIf(!HAS_CONSOLE)("signing in", () => {
  test("with a wrong key says so at the field, with a right one opens the place that was asked for", async () => {
    const { page, findings } = await open();
    await page.goto(`${consoleUrl()}/keys`);
    await page.getByLabel("API key").fill("wrongkey.wrongkeywrongkeywrongkeywrongkey");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("This API key is invalid").waitFor();
    expect(await page.getByLabel("API key").getAttribute("aria-invalid")).toBe("true");
    expect(await findings()).toEqual([]);
    await page.getByLabel("API key").fill(`  ${keyOf(ACCOUNT)} `);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
    expect(await page.evaluate(STORED_KEYS)).toEqual([null, keyOf(ACCOUNT)]);
  });

  test("on this computer is a choice, which keeps the key for other tabs", async () => {
    const { page } = await open();
    await page.goto(`${consoleUrl()}/`);
    await page.getByLabel("API key").fill(keyOf(ACCOUNT));
    await page.getByLabel("Keep me signed in on this computer").check();
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    expect(await page.evaluate(STORED_KEYS)).toEqual([keyOf(ACCOUNT), null]);
    const other = await page.context().newPage();
    await other.goto(`${consoleUrl()}/`);
    await other.getByRole("button", { name: "Sign out" }).waitFor();
  });

  test("for this tab, without a choice, leaves nothing on the computer, and signing out nothing at all", async () => {
    const { page } = await open();
    await page.goto(`${consoleUrl()}/`);
    await page.getByLabel("API key").fill(keyOf(ACCOUNT));
    expect(await page.getByLabel("Keep me signed in on this computer").isChecked()).toBe(false);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    expect(await page.evaluate(STORED_KEYS)).toEqual([null, keyOf(ACCOUNT)]);
    await page.reload();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
    expect(await page.evaluate(STORED_KEYS)).toEqual([null, null]);
  });

  test("by the printed address fills the key in and takes it out of the address", async () => {
    const { page } = await open();
    await page.goto(`${consoleUrl()}/#key=${keyOf(ACCOUNT)}`);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    expect(page.url()).not.toContain("key=");
  });

  test("by the printed address works in an open tab, and leaves the key in no history", async () => {
    const { page } = await open();
    await page.goto(`${consoleUrl()}/`);
    await page.getByLabel("API key").waitFor();
    await page.goto(`${consoleUrl()}/#key=${keyOf(ACCOUNT)}`);
    await expect.poll(() => page.getByLabel("API key").inputValue()).toBe(keyOf(ACCOUNT));
    expect(page.url()).not.toContain("key=");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    // The key of this account changes nothing in a tab that is signed in; another one asks before it is used.
    await page.goto(`${consoleUrl()}/#key=${keyOf(ACCOUNT)}`);
    await expect.poll(() => page.url()).not.toContain("key=");
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.goto(`${consoleUrl()}/#key=otherkey.otherkeyotherkeyotherkeyotherkey`);
    await expect
      .poll(() => page.getByLabel("API key").inputValue())
      .toBe("otherkey.otherkeyotherkeyotherkeyotherkey");
    await page.goBack();
    expect(page.url()).not.toContain("key=");
    await page.goBack();
    expect(page.url()).not.toContain("key=");
  });

  test("ends with a sentence when the service takes the key back", async () => {
    const { page, api } = await open();
    const { secret, prefix } = await api.fetch("POST", "/api/api_keys", { body: { name: "for a while" } });
    await page.goto(`${consoleUrl()}/`);
    await page.getByLabel("API key").fill(secret);
    await page.getByRole("button", { name: "Sign in" }).click();
    // The last that the start page reads: what it reads later is refused.
    await page.getByRole("region", { name: "Demo engines" }).waitFor();
    await api.fetch("DELETE", "/api/api_keys/{api_key_prefix}", { params: { api_key_prefix: prefix } });
    await page.getByRole("link", { name: "Agents" }).click();
    await page.getByText("This API key is no longer valid").waitFor();
    expect(await page.evaluate(STORED_KEYS)).toEqual([null, null]);
  });

  test("keeps the theme that was chosen", async () => {
    const { page } = await openConsole({ account: ACCOUNT });
    await page.goto(`${consoleUrl()}/`);
    const theme = () => page.evaluate("document.documentElement.dataset.theme");
    await page.getByRole("button", { name: "Dark theme" }).click();
    expect(await theme()).toBe("dark");
    await page.reload();
    await page.getByRole("button", { name: "Light theme" }).waitFor();
    expect(await theme()).toBe("dark");
  });
});
