/**
 * Telephony in the browser: carriers, numbers, dialling rules, SIP, registrations and throttles are set up, changed and
 * removed; secrets stay hidden.
 */

import { beforeAll, describe, expect, test } from "vitest";
import { HAS_CONSOLE, openConsole, type OpenConsole } from "./open-console.ts";

const SECRET = "0123456789abcdef";

describe.skipIf(!HAS_CONSOLE)("telephony", () => {
  let open: OpenConsole;
  let agentId = "";
  beforeAll(async () => {
    open = await openConsole({ account: "telephony" });
    ({ agentId } = await open.api.fetch("POST", "/api/agents", {
      body: { name: "Concierge", callTemplate: {} },
    }));
  });

  test("a carrier is set up, changed without its secret, and removed", async () => {
    const { page, api } = open;
    await open.visit("/telephony");
    await page.getByRole("link", { name: "Set up Twilio" }).click();
    await page.getByRole("heading", { level: 1, name: "Twilio" }).waitFor();
    const form = page.getByRole("form", { name: "Twilio" });
    await form.getByRole("button", { name: "Save carrier" }).click();
    await form.getByText("Is required.").first().waitFor();
    await form.getByLabel("Account SID").fill("AC1");
    await form.getByLabel("Auth token").fill(SECRET);
    await form.getByRole("button", { name: "Add field" }).click();
    await form.getByLabel("Request field").fill("From");
    await form.getByLabel("Variable").fill("user..phone");
    await form.getByRole("button", { name: "Save carrier" }).click();
    await form.getByText(/Must be names separated by dots/).waitFor();
    expect(await form.getByLabel("Variable").getAttribute("aria-invalid")).toBe("true");
    await form.getByLabel("Variable").fill("user.phone");
    await form.getByRole("button", { name: "Add agent" }).click();
    await form.getByRole("combobox", { name: /Agent 1/ }).fill("Conc");
    await page.getByRole("option", { name: /Concierge/ }).click();
    await open.screenshot("telephony-carrier");
    expect(await open.findings()).toEqual([]);
    await form.getByRole("button", { name: "Save carrier" }).click();
    await form.getByText("Stored: 0123…").waitFor();
    expect(await form.getByLabel("Auth token").inputValue()).toBe("");
    await form.getByLabel("Account SID").fill("AC2");
    await form.getByRole("button", { name: "Save carrier" }).click();
    await page.getByText("Twilio saved.").first().waitFor();
    await page.getByRole("link", { name: "Telephony" }).first().click();
    await page.getByText("AC2").waitFor();
    expect(await page.content()).not.toContain(SECRET);
    expect((await api.fetch("GET", "/api/accounts/me/telephony_config")).telephony1).toEqual({
      accountSid: "AC2",
      authTokenPrefix: { prefix: "0123" },
      callCreationAllowAllAgents: false,
      callCreationAllowedAgentIds: [agentId],
      requestContextMapping: { From: "user.phone" },
    });
    await page.getByRole("link", { name: "Open Twilio" }).click();
    await page.getByRole("button", { name: "Remove Twilio" }).click();
    await page.getByRole("button", { name: "Remove carrier" }).click();
    await page.getByRole("link", { name: "Set up Twilio" }).waitFor();
    expect(await api.fetch("GET", "/api/accounts/me/telephony_config")).toEqual({});
  });

  test("a number is assigned, given another agent, and removed", async () => {
    const { page, api } = open;
    await api.fetch("POST", "/api/agents", { body: { name: "Night porter", callTemplate: {} } });
    await open.visit("/telephony?view=numbers");
    const { accountUrl } = await api.fetch("GET", "/api/accounts/me/telephony_urls");
    await page.getByText(accountUrl, { exact: true }).waitFor();
    await page.getByRole("button", { name: "Add number" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Number" }).fill("030 123456");
    await dialog.getByRole("combobox", { name: /Agent/ }).fill("Conc");
    await page.getByRole("option", { name: /Concierge/ }).click();
    await dialog.getByRole("button", { name: "Save number" }).click();
    await dialog.getByText(/Must be a number such as/).waitFor();
    await dialog.getByRole("textbox", { name: "Number" }).fill("+49 (30) 123456");
    await dialog.getByRole("button", { name: "Save number" }).click();
    const row = page.getByRole("row").filter({ hasText: "+4930123456" });
    await row.getByText("Concierge").waitFor();
    await row.getByText("No carrier allows this agent").waitFor();
    await page.getByRole("button", { name: "Change +4930123456" }).click();
    await dialog.getByRole("combobox", { name: /Agent/ }).fill("Night");
    await page.getByRole("option", { name: /Night porter/ }).click();
    await dialog.getByRole("button", { name: "Save number" }).click();
    await row.getByText("Night porter").waitFor();
    await open.screenshot("telephony-numbers");
    expect(await open.findings()).toEqual([]);
    await page.getByRole("button", { name: "Remove +4930123456" }).click();
    await page.getByRole("button", { name: "Remove number" }).click();
    await page.getByRole("heading", { name: "No numbers yet" }).waitFor();
    expect((await api.fetch("GET", "/api/phone_numbers")).total).toBe(0);
  });

  test("dialling rules are changed and cleared", async () => {
    const { page, api } = open;
    await open.visit("/telephony?view=rules");
    await page.getByText("0, no limit").first().waitFor();
    await page.getByRole("button", { name: "Add prefix" }).click();
    await page.getByRole("textbox", { name: "Prefix 1" }).fill("4x");
    await page.getByLabel("Calls in 24 hours").fill("many");
    await page.getByRole("button", { name: "Save rules" }).click();
    await page.getByText(/Must be a whole number from 0/).waitFor();
    await page.getByLabel("Calls in 24 hours").fill("20");
    await page.getByRole("button", { name: "Save rules" }).click();
    await page.getByText(/Must be the beginning of a number/).waitFor();
    await page.getByRole("textbox", { name: "Prefix 1" }).fill("49");
    await page.getByRole("button", { name: "Save rules" }).click();
    await page.getByText("0 of 20").waitFor();
    expect(await page.getByRole("textbox", { name: "Prefix 1" }).inputValue()).toBe("+49");
    expect(await api.fetch("GET", "/api/accounts/me/dialling_rules")).toEqual({
      allowedPrefixes: ["+49"],
      maxCallsPerDay: 20,
      maxMinutesPerDay: null,
    });
    await open.screenshot("telephony-rules");
    expect(await open.findings()).toEqual([]);
    await page.getByRole("button", { name: "Remove prefix 1" }).click();
    await page.getByLabel("Calls in 24 hours").fill("");
    await page.getByRole("button", { name: "Save rules" }).click();
    await page.getByText("0, no limit").nth(1).waitFor();
    expect(await api.fetch("GET", "/api/accounts/me/dialling_rules")).toMatchObject({ allowedPrefixes: [] });
  });

  test("SIP is configured with allowed addresses and agents", async () => {
    const { page, api } = open;
    await open.visit("/telephony");
    await page.getByRole("tab", { name: "SIP" }).click();
    await page.getByText("SIP calls need the setting SIP_HOST").waitFor();
    await page.getByRole("button", { name: "Add range" }).click();
    await page.getByRole("textbox", { name: "Range 1" }).fill("nowhere");
    await page.getByRole("button", { name: "Add agent" }).click();
    await page.getByRole("combobox", { name: "Agent", exact: true }).fill("Conc");
    await page.getByRole("option", { name: /Concierge/ }).click();
    await page.getByLabel(/User pattern/).fill("(");
    await page.getByRole("button", { name: "Save SIP settings" }).click();
    await page.getByText(/Must be an IPv4 range/).waitFor();
    expect(await page.getByLabel(/User pattern/).getAttribute("aria-invalid")).toBe("true");
    await page.getByRole("textbox", { name: "Range 1" }).fill("203.0.113.7/24");
    await page.getByLabel(/User pattern/).fill("30\\d+");
    await page.getByLabel("URL").fill("https://shop.example/sip");
    await page.getByLabel("New secret").fill(SECRET);
    await page.getByRole("button", { name: "Save SIP settings" }).click();
    await page.getByText("SIP settings saved.").first().waitFor();
    expect(await page.getByRole("textbox", { name: "Range 1" }).inputValue()).toBe("203.0.113.0/24");
    expect(await page.getByLabel("New secret").inputValue()).toBe("");
    expect(await api.fetch("GET", "/api/sip")).toMatchObject({
      allowedCidrRanges: ["203.0.113.0/24"],
      allowedAgents: [{ agentId, toUserPattern: "30\\d+" }],
      fallbackHandler: { url: "https://shop.example/sip", secrets: [SECRET] },
    });
    await open.screenshot("telephony-sip");
    expect(await open.findings()).toEqual([]);
  });

  test("a registration is made, changed without its password, and deleted", async () => {
    const { page, api } = open;
    await page.getByRole("tab", { name: "Registrations" }).click();
    await page.getByRole("button", { name: "New registration" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Username", { exact: true }).fill("1000");
    await dialog.getByLabel("Password").fill(SECRET);
    await dialog.getByLabel("Registrar").fill("not a host");
    await dialog.getByRole("button", { name: "Save registration" }).click();
    await dialog.getByText(/Must be a host or a SIP address/).waitFor();
    await dialog.getByLabel("Registrar").fill("sip.carrier.example");
    await dialog.getByRole("button", { name: "Save registration" }).click();
    await page.getByRole("button", { name: "Edit 1000" }).click();
    expect(await dialog.getByLabel("Password").inputValue()).toBe("");
    await dialog.getByLabel("Outbound proxy").fill("proxy.example:5060");
    await dialog.getByRole("button", { name: "Save registration" }).click();
    await dialog.waitFor({ state: "detached" });
    const { results } = await api.fetch("GET", "/api/sip/registrations");
    expect(results.map(({ username, outboundProxy }) => ({ username, outboundProxy }))).toEqual([
      { username: "1000", outboundProxy: "proxy.example:5060" },
    ]);
    await open.screenshot("telephony-registrations");
    expect(await open.findings()).toEqual([]);
    await page.getByRole("button", { name: "Delete 1000" }).click();
    await page.getByRole("button", { name: "Delete registration" }).click();
    await page.getByRole("heading", { name: "No registrations" }).waitFor();
    expect((await api.fetch("GET", "/api/sip/registrations")).total).toBe(0);
  });

  test("a throttle is made, changed and deleted", async () => {
    const { page, api } = open;
    await page.getByRole("tab", { name: "Throttles" }).click();
    await page.getByRole("button", { name: "New throttle" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("gently");
    await dialog.getByLabel("Calls").fill("101");
    await dialog.getByRole("button", { name: "Save throttle" }).click();
    await dialog.getByText("Must be a whole number from 1 to 100.").waitFor();
    await dialog.getByLabel("Calls").fill("2");
    await dialog.getByRole("button", { name: "Add rule" }).click();
    await dialog.getByRole("button", { name: "Save throttle" }).click();
    await page.getByText("2 in 1 s, 10 in 60 s").waitFor();
    await page.getByRole("button", { name: "Edit gently" }).click();
    await dialog.getByRole("button", { name: "Remove rule 2" }).click();
    await dialog.getByRole("button", { name: "Save throttle" }).click();
    await page.getByText("2 in 1 s", { exact: true }).waitFor();
    expect((await api.fetch("GET", "/api/call_throttles")).results.map(({ rules }) => rules)).toEqual([
      [{ maxCalls: 2, windowSeconds: 1 }],
    ]);
    await open.screenshot("telephony-throttles");
    expect(await open.findings()).toEqual([]);
    await page.getByRole("button", { name: "Delete gently" }).click();
    await page.getByRole("button", { name: "Delete throttle" }).click();
    await page.getByRole("heading", { name: "No throttles" }).waitFor();
    expect((await api.fetch("GET", "/api/call_throttles")).total).toBe(0);
  });
});
