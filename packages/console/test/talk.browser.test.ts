/** Calls in the browser: by voice and by typing, over both media, with tools, interruptions, refusals and losses. */

import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { consoleUrl, HAS_CONSOLE, openConsole, type OpenConsole } from "./open-console.ts";

const ACCOUNT = "talk";
const GREETING = "Good evening.";
const STORY = Array.from({ length: 12 }, () => "Once upon a time there was a small hotel by the sea.").join(
  " ",
);

/** What the README tells readers to press and say, in order: a changed label must change there as well. */
const README = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
const FIRST_CALL = README.slice(README.indexOf("## First call"), README.indexOf("## Real models"));
const [TALK = "", CREATE = "", PHRASE = "", HANG_UP = "", OPEN_CALL = "", AGENTS = ""] = [
  ...FIRST_CALL.matchAll(/"([^"]+)"/g),
].map(([, label]) => label);

/** The conversation as the page shows it. */
function conversation(page: Page): Locator {
  return page.getByRole("region", { name: "Conversation" });
}

/** A line of one side that contains these words. */
function line(page: Page, who: string, words: string | RegExp): Locator {
  return conversation(page).getByRole("listitem").filter({ hasText: who }).filter({ hasText: words });
}

/** The microphone repeats its words. On a busy machine the recogniser fails until it gets enough of a core. */
const SPOKEN = { timeout: 200_000 };

function spokenWords(page: Page): Locator {
  return line(page, "You", /ten meters/i).first();
}

async function makeAgent({ api }: OpenConsole, name: string, callTemplate: object): Promise<string> {
  return (await api.fetch("POST", "/api/agents", { body: { name, callTemplate } })).agentId;
}

const greets = (text: string) => ({ firstSpeakerSettings: { agent: { text } } });

/** The call that the page links to after its end. */
async function hangUp({ page, api }: OpenConsole) {
  await page.getByRole("button", { name: HANG_UP }).click();
  await page.getByRole("heading", { name: "Call ended" }).waitFor();
  await page.getByText("You hung up").waitFor();
  const address = await page.getByRole("link", { name: OPEN_CALL }).getAttribute("href");
  const call_id = address?.split("/").at(-1) ?? "";
  return api.fetch("GET", "/api/calls/{call_id}", { params: { call_id } });
}

/** Refuses the microphone as a browser does. */
const REFUSE_MICROPHONE = `navigator.mediaDevices.getUserMedia = () =>
  Promise.reject(new DOMException("Permission denied", "NotAllowedError"));`;

describe.skipIf(!HAS_CONSOLE)("talking", () => {
  let open: OpenConsole;
  beforeAll(async () => {
    open = await openConsole({ account: ACCOUNT });
  });

  test("begins with one press where there is no agent, is heard, answers, and shows how long it took", async () => {
    const { page, api } = open;
    await open.visit("/");
    await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: TALK }).click();
    await page.getByRole("button", { name: CREATE }).click();
    await page.getByRole("heading", { level: 1, name: "Concierge" }).waitFor();
    // The demo engines understand certain phrases, and the starter's first words name some.
    await line(page, "Concierge", "Try saying").waitFor();
    await spokenWords(page).waitFor(SPOKEN);
    // The answer, with the latency that the service measured. A busy machine makes two turns of the words.
    await line(page, "Concierge", /after \d+\.\d\d s/)
      .first()
      .waitFor();
    await page
      .getByRole("img", { name: /Waiting for the end of the turn/ })
      .first()
      .waitFor();
    await page.getByRole("button", { name: `“${PHRASE}”` }).waitFor();
    await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: AGENTS }).waitFor();
    await open.screenshot("talk-live-desktop-light");
    // `npm run picture`
    const picture = process.env["README_PICTURE"];
    if (picture !== undefined) await page.screenshot({ path: picture });
    expect(await open.findings()).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    await open.screenshot("talk-live-desktop-dark");
    expect(await open.findings()).toEqual([]);
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    // Words of the microphone would interrupt the answer.
    await page.getByRole("button", { name: "Mute" }).click();
    await page.getByRole("button", { name: "“ten of clubs”" }).click();
    await line(page, "You", "ten of clubs").waitFor();
    await line(page, "Concierge", "first card in your hand").waitFor();
    const call = await hangUp(open);
    expect(call.agent?.name).toBe("Concierge");
    expect(call.medium).toHaveProperty("webRtc");
    expect(call.endReason).toBe("hangup");
    await open.screenshot("talk-over-desktop-light");
    expect(await open.findings()).toEqual([]);
    expect(await open.complaints()).toEqual([]);
    const params = { call_id: call.callId };
    const billing = async () => (await api.fetch("GET", "/api/calls/{call_id}", { params })).billingStatus;
    await expect.poll(billing, { timeout: 60_000 }).toBe("BILLING_STATUS_FREE_CONSOLE");
    expect((await api.fetch("GET", "/api/agents")).total).toBe(1);
  });

  test("continues with another call, and asks before it is left", async () => {
    const { page } = open;
    await page.getByRole("button", { name: "Talk again" }).click();
    await page.getByRole("heading", { level: 2, name: "Listening" }).waitFor();
    await page.getByRole("button", { name: "Mute" }).click();
    await page.getByText("You are muted.").waitFor();
    expect(await page.getByRole("button", { name: "Unmute" }).getAttribute("aria-pressed")).toBe("true");
    await page.getByRole("link", { name: "Agents", exact: true }).click();
    await page.getByRole("dialog", { name: "Hang up and leave?" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("heading", { level: 2, name: "Listening" }).waitFor();
    await page.getByRole("link", { name: "Agents", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Hang up" }).click();
    await page.getByRole("heading", { level: 1, name: "Agents" }).waitFor();
    expect(await open.complaints()).toEqual([]);
  });

  test("types a phrase of the demo engines that was chosen on another page", async () => {
    const { page } = open;
    await open.visit("/");
    await page.getByRole("link", { name: "“go forward ten meters”" }).click();
    await page.getByText("“go forward ten meters” is typed for you").waitFor();
    await page.getByLabel("Microphone").selectOption({ label: "None (type only)" });
    await open.screenshot("talk-demo-desktop-light");
    expect(await open.findings()).toEqual([]);
    await page.getByRole("button", { name: "Talk", exact: true }).click();
    await line(page, "You", "typed").filter({ hasText: "go forward ten meters" }).waitFor();
    await line(page, "Concierge", "ten meters").waitFor();
    // It was typed after the greeting, not in the moment between the join and its first word.
    const first = conversation(page).getByRole("listitem").first();
    expect(await first.textContent()).toContain("Try saying");
    await hangUp(open);
    await page.setViewportSize({ width: 390, height: 844 });
    await open.visit("/talk?say=ten+of+clubs");
    await open.screenshot("talk-demo-phone-light");
    await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    await open.visit("/");
    await open.screenshot("home-demo-phone-dark");
    expect(await open.findings()).toEqual([]);
    expect(await open.complaints()).toEqual([]);
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test("is by typing over a websocket, with a tool of the page that the agent uses", async () => {
    const { page } = open;
    const agentId = await makeAgent(open, "Porter", greets(GREETING));
    await open.visit(`/agents/${agentId}`);
    await page.getByRole("link", { name: "Talk" }).last().click();
    await page.getByLabel("Microphone").selectOption({ label: "None (type only)" });
    await page.getByLabel("Medium").selectOption({ label: "WebSocket" });
    await page.getByLabel("Enable a demo client tool").check();
    await page.getByRole("button", { name: "Talk", exact: true }).click();
    await line(page, "Porter", GREETING).waitFor();
    await page.getByLabel("Message").fill("show note: breakfast at seven");
    await page.getByLabel("Message").press("Enter");
    await line(page, "You", "typed").waitFor();
    await page.getByText("A note from Porter").waitFor();
    await conversation(page).getByText("done").waitFor();
    // The offline model speaks the result of a tool.
    await line(page, "Porter", "The note is on the user's screen.").waitFor();
    await open.screenshot("talk-tool-desktop-light");
    expect(await open.findings()).toEqual([]);
    const call = await hangUp(open);
    expect(call.medium).toHaveProperty("serverWebSocket");
    expect(await open.complaints()).toEqual([]);
  });

  test("marks where an agent was interrupted", async () => {
    const { page } = open;
    const agentId = await makeAgent(open, "Storyteller", greets(STORY));
    await open.visit(`/talk?agent=${agentId}`);
    await page.getByRole("button", { name: "Talk", exact: true }).click();
    await page.getByRole("heading", { level: 2, name: "Speaking" }).waitFor();
    await page.getByText("interrupted here").waitFor();
    await open.screenshot("talk-interrupted-desktop-light");
    expect(await open.findings()).toEqual([]);
    const call = await hangUp(open);
    const { results } = await open.api.fetch("GET", "/api/calls/{call_id}/messages", {
      params: { call_id: call.callId },
    });
    expect(results[0]?.metadata).toMatchObject({ interrupted: "true" });
    await page.getByRole("link", { name: "Open the call" }).click();
    await page.waitForURL(`${consoleUrl()}/calls/${call.callId}`);
    await page.getByRole("heading", { level: 1, name: "Storyteller" }).waitFor();
  });

  test("shows a refusal at its field, and continues when it is fixed", async () => {
    const { page } = open;
    const agentId = await makeAgent(open, "Reminder", {
      systemPrompt: "You call {{guest}}.",
      ...greets(GREETING),
    });
    await open.visit(`/talk?agent=${agentId}`);
    await page.getByRole("button", { name: "Talk", exact: true }).click();
    await page.getByText("Is required.").waitFor();
    expect(await page.getByLabel("guest").getAttribute("aria-invalid")).toBe("true");
    await open.screenshot("talk-refused-desktop-light");
    expect(await open.findings()).toEqual([]);
    await page.getByLabel("guest").fill("Eva");
    await page.getByRole("button", { name: "Talk", exact: true }).click();
    await line(page, "Reminder", GREETING).waitFor();
    expect((await hangUp(open)).systemPrompt).toBe("You call Eva.");
  });

  test("an agent that is gone is said to be gone", async () => {
    const { page } = open;
    await open.visit("/talk?agent=00000000-0000-4000-8000-000000000000");
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("alert").textContent()).toMatch(/no such agent/);
  });
});

describe.skipIf(!HAS_CONSOLE)("talking on a phone", () => {
  test("continues by typing where the microphone is refused", async () => {
    const open = await openConsole({ account: ACCOUNT, size: "phone", theme: "dark" });
    const { page } = open;
    await page.addInitScript(REFUSE_MICROPHONE);
    const agentId = await makeAgent(open, "Night desk", greets(GREETING));
    await open.visit(`/talk?agent=${agentId}`);
    await page.getByRole("button", { name: "Talk", exact: true }).click();
    await page.getByText("The browser does not let this page use the microphone.").waitFor();
    expect(await page.getByRole("button", { name: "Mute" }).isDisabled()).toBe(true);
    await line(page, "Night desk", GREETING).waitFor();
    await page.getByLabel("Message").fill("What can you do?");
    await page.getByRole("button", { name: "Send" }).click();
    await line(page, "Night desk", /book a table/).waitFor();
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await open.screenshot(`talk-live-phone-${colorScheme}`);
      expect(await open.findings()).toEqual([]);
    }
    expect(await open.complaints()).toEqual([]);
    await hangUp(open);
    await open.screenshot("talk-over-phone-light");
    expect(await open.findings()).toEqual([]);
  });

  test("seeks a connection that is lost, and has it back", async () => {
    const open = await openConsole({ account: ACCOUNT, size: "phone" });
    const { page } = open;
    const agentId = await makeAgent(open, "Patient", greets(GREETING));
    const closers: (() => Promise<void>)[] = [];
    await page.routeWebSocket(new RegExp(`^ws${consoleUrl().slice("http".length)}/calls/`), (socket) => {
      const server = socket.connectToServer();
      closers.push(async () => {
        await Promise.all([server.close({ code: 3001 }), socket.close({ code: 1011 })]);
      });
    });
    await open.visit(`/talk?agent=${agentId}`);
    await page.getByLabel("Medium").selectOption({ label: "WebSocket" });
    await page.getByRole("button", { name: "Talk", exact: true }).click();
    await line(page, "Patient", GREETING).waitFor();
    await closers[0]?.();
    await conversation(page).getByText("Reconnected.").waitFor();
    // The microphone uses the new connection. The recogniser of a busy machine may not understand it.
    await spokenWords(page)
      .or(conversation(page).getByText("Your speech was not understood.").first())
      .first()
      .waitFor(SPOKEN);
    await page.getByLabel("Message").fill("What can you do?");
    await page.getByRole("button", { name: "Send" }).click();
    await line(page, "Patient", /book a table/).waitFor();
    const call = await hangUp(open);
    const { results } = await open.api.fetch("GET", "/api/calls/{call_id}/events", {
      params: { call_id: call.callId },
    });
    expect(results.map(({ type }) => type)).toContain("media.reconnected");
  });
});
