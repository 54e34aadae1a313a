/**
 * Phone calls in the browser: a carrier is checked, calls are placed through a fake that keeps to the carrier's rules,
 * and their progress is shown as the carrier's signed callbacks bring it.
 */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openFakePlivo } from "../../server/src/providers/carriers/testing/fake-plivo.ts";
import { openFakeTelnyx } from "../../server/src/providers/carriers/testing/fake-telnyx.ts";
import { HAS_CONSOLE, openConsole, type OpenConsole } from "./open-console.ts";

type Plivo = Awaited<ReturnType<typeof openFakePlivo>>;

const FROM = "+4930654321";
const TO = "+4930123456";

describe.skipIf(!HAS_CONSOLE)("phone calls", () => {
  let open: OpenConsole;
  let phone: OpenConsole;
  /** Signs as the fake that the service uses, which has the same account. */
  let plivo: Plivo;
  let agentId = "";
  beforeAll(async () => {
    plivo = await openFakePlivo();
    open = await openConsole({ account: "phone calls" });
    phone = await openConsole({ account: "phone calls", size: "phone", theme: "dark" });
    ({ agentId } = await open.api.fetch("POST", "/api/agents", {
      body: { name: "Reminder", callTemplate: { systemPrompt: "Remind {{guest}}." } },
    }));
  });
  afterAll(async () => plivo.stop());

  const publicUrl = async () => (await open.api.fetch("GET", "/api/accounts/me/telephony_urls")).publicUrl;

  async function post(fields: Readonly<Record<string, string>>, path: string): Promise<Response> {
    const { url, headers, body } = plivo.sign(fields, `${await publicUrl()}${path}`);
    const texts = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
    return fetch(url, { method: "POST", headers: texts, body: Buffer.from(body) });
  }

  async function callback(
    callId: string,
    state: Parameters<Plivo["callback"]>[0],
    more: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const { carrierCallId } = await open.api.fetch("GET", "/api/calls/{call_id}/dial", {
      params: { call_id: callId },
    });
    const fields = { ...plivo.callback(state, carrierCallId ?? ""), ...more };
    const { status } = await post(fields, `/calls/${callId}/carrier_status`);
    expect(status).toBe(204);
  }

  const placedCall = () => new URL(open.page.url()).searchParams.get("call") ?? "";

  test("without a carrier, the page leads to the carriers", async () => {
    const { page } = open;
    await open.visit(`/agents/${agentId}`);
    await page.getByRole("link", { name: "Call a number" }).click();
    await page.getByRole("heading", { name: "No carrier is set up" }).waitFor();
    await page.getByRole("link", { name: "Set up a carrier" }).click();
    await page.getByText("Carriers connect only to https addresses").waitFor();
    expect(new URL(page.url()).pathname).toBe("/telephony");
  });

  test("a check explains each problem of a carrier", async () => {
    const { page } = open;
    await page.getByRole("link", { name: "Set up Plivo" }).click();
    const form = page.getByRole("form", { name: "Plivo" });
    await form.getByLabel("Auth ID").fill(plivo.account.settings["authId"] ?? "");
    await form.getByLabel("Auth token").fill("a-wrong-token-0123456789");
    await form.getByRole("button", { name: "Save carrier" }).click();
    await page.getByRole("button", { name: "Check Plivo" }).click();
    await page.getByText("Calls fail until these problems are solved:").waitFor();
    const problems = page.getByRole("list", { name: "Problems" }).getByRole("listitem");
    const wrong = await problems.allTextContents();
    expect(wrong.some((text) => text.startsWith("Error · Auth token"))).toBe(true);
    expect(wrong.some((text) => text.includes("Set PUBLIC_URL to an https address"))).toBe(true);
    expect(wrong.at(-1)).toMatch(/^Warning · Agents that may be called/);
    await open.screenshot("phone-check");
    expect(await open.findings()).toEqual([]);
    await form.getByLabel("Auth token").fill(plivo.account.secrets["authToken"] ?? "");
    await form.getByLabel("Allow incoming calls to all agents").check();
    await form.getByRole("button", { name: "Save carrier" }).click();
    await form.getByText(/Stored: pliv/).waitFor();
    await page.getByRole("button", { name: "Check Plivo" }).click();
    await page.getByText("Calls fail until these problems are solved:").waitFor();
    // Only the address of this service is left.
    expect(await problems.allTextContents()).toEqual([expect.stringContaining("Set PUBLIC_URL")]);
  });

  test("a call is refused with words at its field, then placed, rings and is busy", async () => {
    const { page, api } = open;
    await api.fetch("PATCH", "/api/accounts/me/dialling_rules", { body: { allowedPrefixes: ["+49"] } });
    await open.visit(`/calls/new?agent=${agentId}`);
    await page.getByText("Allowed prefixes: +49.").waitFor();
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByText("Is required.").first().waitFor();
    await page.getByLabel("Number to call").fill("+4412345678");
    await page.getByRole("combobox", { name: "From" }).fill(FROM);
    await page.getByLabel("guest").fill("Ann");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByText("Has none of the prefixes that the account allows: +49.").waitFor();
    await page.getByText("Nobody was called. See the errors above.").waitFor();
    await open.screenshot("phone-place-refused");
    expect(await open.findings()).toEqual([]);
    await page.getByLabel("Number to call").fill(TO);
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByText("Plivo is dialling.").waitFor();
    const callId = placedCall();
    await callback(callId, "ringing");
    await page.getByText("The phone is ringing.").waitFor();
    await open.screenshot("phone-ringing");
    expect(await open.findings()).toEqual([]);
    await callback(callId, "busy", { HangupCauseName: "Busy Line" });
    await page.getByText("The line was busy: Busy Line.").waitFor();
    await phone.visit(`/calls/new?agent=${agentId}&call=${callId}`);
    await phone.page.getByText("The line was busy: Busy Line.").waitFor();
    await phone.screenshot("phone-busy-dark");
    expect([...(await phone.findings()), ...(await phone.complaints())]).toEqual([]);
    await page.getByRole("link", { name: "Open the call" }).click();
    await page.getByText("Plivo, outgoing").waitFor();
    await page.getByText(FROM).waitFor();
    await page.getByText("the dialled call has failed: the line was busy").first().waitFor();
    await open.screenshot("phone-call");
    expect([...(await open.findings()), ...(await open.complaints())]).toEqual([
      expect.stringContaining("400"),
    ]);
  });

  test("an answered call has its steps and its length, and a ringing one is stopped", async () => {
    const { page } = open;
    await open.visit(`/calls/new?agent=${agentId}`);
    await page.getByLabel("Number to call").fill(TO);
    await page.getByLabel("guest").fill("Bob");
    // By keyboard: the text counts although the field keeps the focus.
    await page.getByRole("combobox", { name: "From" }).fill(FROM);
    await page.keyboard.press("Enter");
    await page.getByText("Plivo is dialling.").waitFor();
    const callId = placedCall();
    await callback(callId, "answered");
    await page.getByText("Answered. The carrier connects the agent.").waitFor();
    await callback(callId, "completed", { Duration: "61" });
    await page.getByText("The call has ended after 61 s.").waitFor();
    await page.getByRole("button", { name: "Place another call" }).click();
    await page.getByLabel("Number to call").fill(TO);
    await page.getByRole("combobox", { name: "From" }).fill(FROM);
    await page.getByLabel("guest").fill("Eve");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByRole("button", { name: "Stop calling" }).click();
    await page.getByText("The call ended before anybody answered.").waitFor();
    await page.getByRole("button", { name: "Place another call" }).click();
    await page.getByLabel("Number to call").waitFor();
    await open.visit("/telephony?view=rules");
    await page.getByText("3, no limit").waitFor();
    expect(await open.api.fetch("GET", "/api/accounts/me/dialling_use")).toEqual({ calls: 3, talked: "61s" });
  });

  test("the refusal of a carrier is shown in its own words", async () => {
    const { page, api } = open;
    const telnyx = await openFakeTelnyx();
    const { settings, secrets } = telnyx.account;
    await telnyx.stop();
    await api.fetch("PATCH", "/api/accounts/me/telephony_config", {
      body: { telephony2: { ...settings, ...secrets } },
    });
    await open.visit(`/calls/new?agent=${agentId}`);
    await page.getByLabel("Carrier").selectOption("Telnyx");
    // Too short for the carrier.
    await page.getByLabel("Number to call").fill("+49301");
    await page.getByRole("combobox", { name: "From" }).fill(FROM);
    await page.getByLabel("guest").fill("Dora");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByText(/^The call was refused by the carrier: .*To is not a phone number/).waitFor();
    await open.screenshot("phone-refused");
    expect(await open.findings()).toEqual([]);
  });

  test("a carrier that cannot be reached calls nobody", async () => {
    const { page, api } = open;
    await api.fetch("POST", "/api/telephony_configs/{carrier}", {
      params: { carrier: "telephony1" },
      body: { accountSid: "AC0123456789", authToken: "0123456789abcdef" },
    });
    await open.visit(`/calls/new?agent=${agentId}`);
    await page.getByLabel("Carrier").selectOption("Twilio");
    await page.getByLabel("Number to call").fill(TO);
    await page.getByRole("combobox", { name: "From" }).fill(FROM);
    await page.getByLabel("guest").fill("Cem");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByRole("alert").filter({ hasText: "Twilio" }).waitFor();
    await open.screenshot("phone-unreachable");
    expect(await open.findings()).toEqual([]);
  });

  test("a call that comes in has its numbers in the list and on its page", async () => {
    const { page, api } = open;
    await api.fetch("POST", "/api/phone_numbers", { body: { number: "+4930777", agentId } });
    const { accountUrl } = await api.fetch("GET", "/api/accounts/me/telephony_urls");
    await api.fetch("PATCH", "/api/telephony_configs/{carrier}", {
      params: { carrier: "telephony3" },
      body: { requestContextMapping: { From: "guest" } },
    });
    const fields = { CallUUID: "plivo-77", From: "+4930888", To: "+4930777", CallStatus: "ringing" };
    const answer = await post(fields, new URL(accountUrl).pathname);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("<Stream")]);
    await open.visit("/calls");
    const row = page.getByRole("row").filter({ hasText: "Plivo, incoming" });
    await row.getByText("+4930888").waitFor();
    await page.getByRole("row").filter({ hasText: "Plivo, outgoing" }).first().getByText(TO).waitFor();
    await row.getByRole("link", { name: "Reminder" }).click();
    await page.getByText("plivo-77").waitFor();
    await page.getByText("+4930777", { exact: true }).first().waitFor();
    await open.screenshot("phone-incoming");
    expect(await open.findings()).toEqual([]);
    await phone.visit("/calls");
    await phone.screenshot("phone-calls-dark");
    expect([...(await phone.findings()), ...(await phone.complaints())]).toEqual([]);
  });
});
