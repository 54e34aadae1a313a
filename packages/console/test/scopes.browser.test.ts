/** The console with a key that may not do everything, and the audit log. */

import { describe, expect, test } from "vitest";
import {
  consoleUrl,
  HAS_CONSOLE,
  openConsole,
  type OpenConsole,
  settled,
  type Size,
} from "./open-console.ts";

const THEMES = ["light", "dark"] as const;

async function pictures({ page, screenshot }: OpenConsole, name: string): Promise<void> {
  if ((page.viewportSize()?.width ?? 0) > 1_000) await page.setViewportSize({ width: 1440, height: 900 });
  for (const theme of THEMES) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    await screenshot(`${name}-${theme}`);
  }
}

/** Signs in with a new key of the account that has this scope. */
async function signedInWith(scope: "read" | "calls", size: Size = "desktop"): Promise<OpenConsole> {
  const open = await openConsole({ account: "scopes", size, signedIn: false });
  const body = { name: `only ${scope}`, scopes: [scope] };
  const { secret } = await open.api.fetch("POST", "/api/api_keys", { body });
  await open.page.goto(`${consoleUrl()}/`);
  await open.page.getByLabel("API key").fill(secret);
  await open.page.getByRole("button", { name: "Sign in" }).click();
  await open.page.getByRole("button", { name: size === "phone" ? "More" : "Sign out" }).waitFor();
  return open;
}

describe.skipIf(!HAS_CONSOLE)("a key that may only read", () => {
  test("sees what it may do, cannot create keys, and is told which scope it needs", async () => {
    const open = await signedInWith("read");
    const { page } = open;
    await open.visit("/keys");
    await page.getByText("It can view data, but cannot make changes or create calls.").waitFor();
    expect(await page.getByRole("button", { name: "New API key" }).isDisabled()).toBe(true);
    await page.getByRole("row").filter({ hasText: "only read" }).first().waitFor();
    await pictures(open, "scope-keys-desktop");
    expect(await open.findings()).toEqual([]);
    for (const path of ["agents", "tools", "voices", "corpora", "webhooks", "batches"]) {
      await open.visit(`/${path}`);
      const create = page.getByRole("button", { name: /^(New|Create)/ }).first();
      expect([path, await create.isDisabled()]).toEqual([path, true]);
    }
    for (const [path, name] of [
      ["/telephony/telephony1", "Save carrier"],
      ["/telephony?view=numbers", "Add number"],
      ["/telephony?view=rules", "Save rules"],
      ["/calls", "Place a call"],
    ] as const) {
      await open.visit(path);
      const button = page.getByRole("button", { name });
      expect([name, await button.isDisabled()]).toEqual([name, true]);
    }
    await open.api.fetch("POST", "/api/agents", { body: { name: "Night porter" } });
    await open.visit("/agents");
    await page.getByRole("button", { name: "Actions for Night porter" }).click();
    for (const [name, scope] of [
      ["Talk", "calls"],
      ["Duplicate", "admin"],
      ["Delete", "admin"],
    ] as const) {
      const item = page.getByRole("menuitem", { name });
      const title = `Requires an API key with the scope ${scope}`;
      expect(await item.getAttribute("aria-disabled")).toBe("true");
      expect(await item.getAttribute("title")).toBe(title);
    }
    await pictures(open, "scope-menu-desktop");
    await page.keyboard.press("Escape");
    await open.visit("/agents/new?starter=blank");
    await page.getByRole("button", { name: "Create agent" }).click();
    await page.getByText("Your API key does not allow this").scrollIntoViewIfNeeded();
    await page.getByText(/needs an API key with the scope admin; this key has only read\./).waitFor();
    await pictures(open, "scope-refused-desktop");
  });

  test("is refused the audit log with a sentence", async () => {
    const open = await signedInWith("calls", "phone");
    await open.visit("/audit");
    await open.page.getByText("It can view data and create calls and batches").waitFor();
    await open.page.getByText(/needs an API key with the scope admin; this key has only calls\./).waitFor();
    await pictures(open, "scope-audit-phone");
    expect(await open.findings()).toEqual([]);
  });
});

describe.skipIf(!HAS_CONSOLE)("the audit log", () => {
  test.each(["desktop", "phone"] as const)("lists and filters changes at %s width", async (size) => {
    const open = await openConsole({ account: "audit", size });
    const { page, api } = open;
    const { agentId } = await api.fetch("POST", "/api/agents", { body: { name: `Porter ${size}` } });
    await api.fetch("PATCH", "/api/agents/{agent_id}", {
      params: { agent_id: agentId },
      body: { name: "Night" },
    });
    await api
      .fetch("DELETE", "/api/tools/{tool_id}", {
        params: { tool_id: "00000000-0000-4000-8000-000000000000" },
      })
      .catch(() => undefined);
    await open.visit("/audit");
    await page.getByRole("cell", { name: "Create agent" }).first().waitFor();
    await page.getByText("not_found").first().waitFor();
    expect(await page.getByText("It can view data").count()).toBe(0);
    await pictures(open, `audit-${size}`);
    expect([...(await open.findings()), ...(await open.complaints())]).toEqual([]);
    await page.getByLabel("Target ID").fill(agentId);
    await page.getByText("2 of 2").waitFor();
    await page.getByLabel("Operation").fill("updateAgent");
    await page.getByText("1 of 1").waitFor();
    expect(await page.getByRole("cell", { name: `Porter ${size}` }).count()).toBe(1);
    await page.getByLabel("Result").selectOption("refused");
    await page.getByText("No matching entries").waitFor();
    await settled(page);
  });
});
