/** Webhooks in the browser: created, changed, secrets rotated, deliveries viewed, deleted. */

import { beforeAll, describe, expect, test } from "vitest";
import { HAS_CONSOLE, openConsole, type OpenConsole, settled } from "./open-console.ts";

describe.skipIf(!HAS_CONSOLE)("webhooks", () => {
  let open: OpenConsole;
  let agentId = "";
  beforeAll(async () => {
    open = await openConsole({ account: "webhooks" });
    ({ agentId } = await open.api.fetch("POST", "/api/agents", {
      body: { name: "Concierge", callTemplate: {} },
    }));
  });

  test("a webhook is made for one agent, and faults are said at their fields", async () => {
    const { page, api } = open;
    await open.visit("/webhooks");
    await page.getByRole("link", { name: "New webhook" }).first().click();
    await page.getByLabel("URL").fill("nowhere");
    await page.getByLabel("Call ended").uncheck();
    await page.getByRole("button", { name: "Create webhook" }).click();
    await page.getByText("Must be a URL such as https://shop.example/calls.").waitFor();
    await page.getByText("Must include at least one event.").waitFor();
    await open.screenshot("webhook-form");
    expect(await open.findings()).toEqual([]);
    // The error of the service: requests to this address are not allowed.
    await page.getByLabel("URL").fill("http://10.0.0.1/calls");
    await page.getByLabel("Call joined").check();
    await page.getByRole("button", { name: "Create webhook" }).click();
    await page.getByText(/Is not allowed/).waitFor();
    await page.getByLabel("URL").fill("http://127.0.0.1:9/calls");
    await page.getByRole("combobox", { name: /Agent/ }).fill("Conc");
    await page.getByRole("option", { name: /Concierge/ }).click();
    await page.getByRole("button", { name: "Create webhook" }).click();
    await page.getByRole("heading", { name: "127.0.0.1:9" }).waitFor();
    const { results } = await api.fetch("GET", "/api/webhooks");
    expect(results.map(({ url, events, agentId: of }) => ({ url, events, of }))).toEqual([
      { url: "http://127.0.0.1:9/calls", events: ["call.joined"], of: agentId },
    ]);
  });

  test("secrets are added and removed one by one", async () => {
    const { page, api } = open;
    await page.getByRole("tab", { name: "Secrets" }).click();
    const first = (await api.fetch("GET", "/api/webhooks")).results[0]?.secrets ?? [];
    expect(first.length).toBe(1);
    await page.getByRole("button", { name: "Add secret" }).click();
    await page.getByRole("dialog").getByRole("textbox", { name: "Secret" }).fill("a secret of ours");
    await page.getByRole("dialog").getByRole("button", { name: "Add secret" }).click();
    await page.getByRole("button", { name: "Show secret 2" }).click();
    await page.getByText("a secret of ours").waitFor();
    await page.getByRole("button", { name: "Remove secret 1" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove secret" }).click();
    await page.getByRole("button", { name: "Remove secret 2" }).waitFor({ state: "detached" });
    expect((await api.fetch("GET", "/api/webhooks")).results[0]?.secrets).toEqual(["a secret of ours"]);
    expect(await open.findings()).toEqual([]);
  });

  test("health and deliveries are there, or said to be missing", async () => {
    const { page } = open;
    await page.getByRole("tab", { name: "Health" }).click();
    await page.getByText("No recent failures").waitFor();
    await page.getByRole("tab", { name: "Deliveries" }).click();
    await page.getByText("No deliveries yet").first().waitFor();
    await settled(page);
    await open.screenshot("webhook-deliveries");
    expect(await open.findings()).toEqual([]);
  });

  test("it is changed and deleted", async () => {
    const { page, api } = open;
    await page.getByRole("tab", { name: "Settings" }).click();
    await page.getByLabel("Call billed").check();
    await page.getByRole("button", { name: "Save webhook" }).click();
    await page.getByText("Pending deliveries are sent to this URL").first().waitFor();
    expect((await api.fetch("GET", "/api/webhooks")).results[0]?.events).toEqual([
      "call.joined",
      "call.billed",
    ]);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete webhook" }).click();
    await page.getByRole("heading", { name: "No webhooks yet" }).waitFor();
    expect((await api.fetch("GET", "/api/webhooks")).total).toBe(0);
  });
});
