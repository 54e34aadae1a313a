/**
 * SIP in the browser: the configuration and a trunk are checked, a registration shows what its registrar answered, and
 * the messages of a call are a ladder. The trunk is a socket of this test that answers as trunks do.
 */

import { createSocket, type Socket } from "node:dgram";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { HAS_CONSOLE, openConsole, type OpenConsole } from "./open-console.ts";

const PATIENT = { timeout: 60_000, interval: 50 };

const STATUS_LINES: Readonly<Record<string, string>> = {
  OPTIONS: "SIP/2.0 200 OK",
  REGISTER: "SIP/2.0 403 Forbidden",
  INVITE: "SIP/2.0 486 Busy Here",
};

async function openTrunk(): Promise<Socket> {
  const socket = createSocket("udp4");
  socket.on("message", (bytes, from) => {
    const request = bytes.toString("utf8");
    const status = STATUS_LINES[request.split(" ", 1)[0] ?? ""];
    if (status === undefined) return;
    const copied = request.split("\r\n").filter((line) => /^(?:Via|From|To|Call-ID|CSeq):/i.test(line));
    const lines = copied.map((line) => (/^To:/i.test(line) ? `${line};tag=trunk` : line));
    const answer = [status, ...lines, "Server: Test trunk", "Content-Length: 0", "", ""].join("\r\n");
    socket.send(answer, from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return socket;
}

describe.skipIf(!HAS_CONSOLE)("SIP", () => {
  let open: OpenConsole;
  let phone: OpenConsole;
  let trunk: Socket;
  let address = "";
  beforeAll(async () => {
    trunk = await openTrunk();
    address = `127.0.0.1:${String(trunk.address().port)}`;
    open = await openConsole({ account: "sip" });
    phone = await openConsole({ account: "sip", size: "phone", theme: "dark" });
  });
  afterAll(() => new Promise<void>((resolve) => trunk.close(() => resolve())));

  test("the configuration and a trunk are checked", async () => {
    const { page } = open;
    await open.visit("/telephony?view=sip");
    const form = page.getByRole("form", { name: "SIP check" });
    // The account may use SIP.
    expect(await page.getByText("SIP calls need the setting").count()).toBe(0);
    await form.getByRole("button", { name: "Check SIP" }).click();
    await page.getByText("there is no allowed source and no registration").waitFor();
    await form.getByLabel("Trunk").fill("not a trunk");
    await form.getByRole("button", { name: "Check SIP" }).click();
    await form.getByText(/Must be a host or a SIP address/).waitFor();
    await form.getByLabel("Trunk").fill(address);
    await form.getByRole("button", { name: "Check SIP" }).click();
    const answers = page.getByRole("list", { name: "Answers" });
    await answers.getByText("200 OK").waitFor();
    expect(await answers.innerText()).toContain(`from ${address} over UDP, Test trunk`);
    await open.screenshot("sip-check");
    expect(await open.findings()).toEqual([]);
    expect(await phone.complaints()).toEqual([]);
  });

  test("the rules for calls are changed, and say what follows from them", async () => {
    const { page, api } = open;
    await open.visit("/telephony?view=sip");
    const form = page.getByRole("form", { name: "SIP rules" });
    await form.getByText("Answered with 603").waitFor();
    await form.getByLabel("Transfers by the other side (REFER)").selectOption("follow");
    await form.getByText(/needs a list of prefixes/).waitFor();
    await form.getByLabel("Encrypted media (SRTP) of dialled calls over TLS").selectOption("preferred");
    await form.getByRole("button", { name: "Save SIP rules" }).click();
    await page.getByText("SIP rules saved.").first().waitFor();
    expect(await api.fetch("GET", "/api/sip/rules")).toEqual({
      incomingRefer: "follow",
      dialledSrtp: "preferred",
    });
    await open.screenshot("sip-rules");
    expect(await open.findings()).toEqual([]);
    await phone.visit("/telephony?view=sip");
    await phone.page.getByRole("button", { name: "Save SIP rules" }).waitFor();
    await phone.screenshot("sip-rules-phone");
    expect(await phone.complaints()).toEqual([]);
  });

  test("a registration shows what its registrar answered, and is checked", async () => {
    const { page, api } = open;
    await api.fetch("POST", "/api/sip/registrations", {
      body: { username: "1000", password: "a password", proxy: address },
    });
    await open.visit("/telephony?view=registrations");
    const row = page.getByRole("row").filter({ hasText: "1000" });
    await row.getByText("403 Forbidden").waitFor();
    await row.getByText("failed").waitFor();
    await row.getByText("Next attempt:").waitFor();
    await open.screenshot("sip-registrations");
    expect(await open.findings()).toEqual([]);
    await page.getByRole("button", { name: "Check 1000" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Ask the registrar" }).click();
    await dialog.getByText("The registrar forbids 1000 to register (403 Forbidden)").waitFor();
    await open.screenshot("sip-registration-check");
    expect(await open.findings()).toEqual([]);
    await phone.visit("/telephony?view=registrations");
    await phone.page.getByText("403 Forbidden").waitFor();
    await phone.screenshot("sip-registrations-phone");
    expect(await phone.complaints()).toEqual([]);
  });

  test("the messages of a call are a ladder", async () => {
    const { page, api } = open;
    const { callId } = await api.fetch("POST", "/api/calls", {
      body: {
        medium: {
          sip: {
            outgoing: { to: `sip:ann@${address}`, from: "+4930", username: "u", password: "hidden-password" },
          },
        },
      },
    });
    await vi.waitFor(async () => {
      const { results } = await api.fetch("GET", "/api/calls/{call_id}/sip_messages", {
        params: { call_id: callId },
      });
      expect(results.at(-1)?.firstLine).toMatch(/^ACK /);
    }, PATIENT);
    await open.visit(`/calls/${callId}`);
    await page.getByText("End at the other side").waitFor();
    await page.getByRole("tab", { name: "SIP" }).click();
    const ladder = page.getByRole("list", { name: "SIP messages" });
    await ladder.getByText("486 Busy Here (INVITE)").waitFor();
    const labels = (await ladder.getByRole("listitem").allInnerTexts()).map((text) =>
      text.replaceAll(/\s+/g, " "),
    );
    expect(labels).toHaveLength(3);
    expect(labels[0]).toContain(`INVITE sent to ${address}`);
    await ladder.getByText("486 Busy Here (INVITE)").click();
    await page.getByRole("region", { name: "Message 486 Busy Here (INVITE)" }).waitFor();
    expect(await page.content()).not.toContain("hidden-password");
    await open.screenshot("sip-ladder");
    expect(await open.findings()).toEqual([]);
    await phone.visit(`/calls/${callId}?view=sip`);
    await phone.page.getByText("486 Busy Here (INVITE)").waitFor();
    await phone.screenshot("sip-ladder-phone");
    expect(await phone.complaints()).toEqual([]);
    expect(await phone.findings()).toEqual([]);
  });
});
