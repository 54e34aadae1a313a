/** Calls in the browser: found in the list, opened, played, sent messages while they run, deleted. */

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { RestClient } from "@parley/client/rest";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { wavHeader } from "../../server/src/media/wav.ts";
import { consoleUrl, HAS_CONSOLE, openConsole, type OpenConsole, settled } from "./open-console.ts";
import { ended, joinCall, recordCall } from "./recorded-call.ts";

if (!HAS_CONSOLE) process.stderr.write("skipped: the calls' screens need a browser\n");

const ACCOUNT = "calls";
/** Longer than recordings that are loaded without a request: 1015 seconds. */
const LONG_BYTES = 65_000_000;

/** Whether both sides of the waveform are drawn: the upper and the lower image have coloured pixels. */
const PAINTED = `(() => {
  const hosts = [...document.querySelectorAll('[role="slider"] *')].map((one) => one.shadowRoot).filter(Boolean);
  const pictures = hosts.flatMap((root) => [...root.querySelectorAll(".canvases canvas")]);
  return pictures.filter((picture) =>
    picture.getContext("2d").getImageData(0, 0, picture.width, picture.height).data.some((value) => value !== 0)
  ).length;
})()`;

/** Waits until a call is found by a word that was said. */
const searchable = async (api: RestClient, transcriptSearch: string): Promise<void> => {
  await vi.waitFor(
    async () =>
      expect((await api.fetch("GET", "/api/calls", { query: { transcriptSearch } })).results).toHaveLength(1),
    { timeout: 60_000, interval: 200 },
  );
};

const sliderAt = async (page: Page) =>
  Number(await page.getByRole("slider", { name: "Position in the recording" }).getAttribute("aria-valuenow"));

describe.skipIf(!HAS_CONSOLE)("calls", () => {
  let open: OpenConsole;
  let agentId = "";
  let recorded = "";
  let plain = "";
  beforeAll(async () => {
    open = await openConsole({ account: ACCOUNT });
    const { api } = open;
    ({ agentId } = await api.fetch("POST", "/api/agents", { body: { name: "Porter", callTemplate: {} } }));
    recorded = await recordCall(api, agentId);
    const call = await joinCall(api, agentId, { metadata: { room: "77" } });
    plain = call.callId;
    await call.leave();
  });

  test("are listed, narrowed and sorted, and the address keeps it", async () => {
    const { page, visit } = open;
    const only = async (callId: string) => {
      await page.getByText("1 of 1").waitFor();
      await page.locator(`main a[href$="${callId}"]`).waitFor();
    };
    await visit("/calls");
    await page.getByText("2 of 2").waitFor();
    await page.getByRole("searchbox", { name: "Search calls" }).fill(recorded);
    await only(recorded);
    await page.reload();
    await settled(page);
    await only(recorded);
    await page.getByRole("button", { name: "Clear all filters" }).click();
    await page.getByText("2 of 2").waitFor();
    await searchable(open.api, "forward");
    const said = page.getByRole("searchbox", { name: "Words that were said" });
    await said.fill("evening FORW");
    await only(recorded);
    await page
      .locator("main q")
      .filter({ hasText: /go forward/i })
      .waitFor();
    await open.screenshot("calls-said");
    await page.getByRole("combobox", { name: "End" }).selectOption("System error");
    await page.waitForURL(/said=evening\+FORW&end=system_error/);
    await page.getByText("A new call is found some seconds after its end").waitFor();
    await page.reload();
    await page.getByText("A new call is found some seconds after its end").waitFor();
    await page.getByRole("button", { name: "Clear all filters" }).click();
    await page.getByText("2 of 2").waitFor();
    // The address holds the state of the box, so it changes a moment after the click.
    await page.getByLabel("With errors").click();
    await page.waitForURL(/errors=true/);
    // The recogniser of a busy machine fails now and then.
    const { results } = await open.api.fetch("GET", "/api/calls");
    const erring = results.filter(({ hasErrors }) => hasErrors).length;
    const found = erring === 0 ? "No matching calls" : `${String(erring)} of ${String(erring)}`;
    await page.getByText(found).first().waitFor();
    await page.getByRole("button", { name: "Clear all filters" }).click();
    await page.getByText("2 of 2").waitFor();
    await page.getByRole("combobox", { name: "Agent" }).fill("Port");
    await page.getByRole("option", { name: /Porter/ }).click();
    await page.getByRole("button", { name: "Remove filter: Porter" }).waitFor();
    await page.getByRole("button", { name: "More filters" }).click();
    await page.getByLabel("Metadata").fill("room=77");
    await page.getByRole("button", { name: "Apply" }).click();
    await only(plain);
    expect(await open.findings()).toEqual([]);
    await open.screenshot("calls-filtered");
    await page.getByLabel("Metadata").fill("");
    await page.getByLabel("Minimum duration").fill("3");
    await page.getByRole("button", { name: "Apply" }).click();
    await only(recorded);
    await page.getByLabel("Minimum duration").fill("three");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("durationMin").waitFor();
    await visit("/calls?from=2020-01-01&to=2020-01-02");
    await page.getByRole("heading", { name: "No matching calls" }).waitFor();
    await visit("/calls");
    await page.getByRole("button", { name: "Created" }).click();
    await page.waitForURL(/sort=created/);
    await settled(page);
    await page.getByRole("row").nth(1).getByText("Recorded").waitFor({ state: "attached" });
    expect(await open.complaints()).toEqual([expect.stringContaining("400")]);
  });

  test("keep two filters that are set before the first is shown", async () => {
    const { page, visit } = open;
    await visit("/calls");
    await page.getByText("2 of 2").waitFor();
    const clicked = await page.evaluate(`(() => {
      const box = document.querySelector("main input[type=checkbox]");
      const headers = [...document.querySelectorAll("main th button")];
      const header = headers.find(({ textContent }) => textContent === "Created");
      box?.click();
      header?.click();
      return box !== null && header !== undefined;
    })()`);
    expect(clicked).toBe(true);
    await page.waitForURL(/errors=true&sort=created/);
  });

  test("show what was said, heard and done, and nothing that opens a door", async () => {
    const { page, api, visit } = open;
    await visit(`/calls/${recorded}`);
    await page.getByRole("heading", { level: 1, name: "Porter" }).waitFor();
    const lines = page.getByRole("list", { name: "Conversation" });
    await lines.getByText("Good evening.").waitFor();
    await lines
      .getByText(/go forward/i)
      .first()
      .waitFor();
    await lines
      .getByText(/^Latency/)
      .first()
      .click();
    await lines.getByText("First audio").first().waitFor();
    await lines
      .getByText(/characters, .* spoken/)
      .first()
      .waitFor();
    await lines.getByText("goForward").click();
    await lines.getByText('"meters": 10').waitFor();
    await lines.getByText('"moved": true').waitFor();
    await lines.getByText(/The text shows what the caller heard/).waitFor();
    await lines.getByText("typed").first().waitFor();
    await page.getByRole("slider", { name: "Position in the recording" }).waitFor();
    await open.screenshot("call-conversation");
    expect(await open.findings()).toEqual([]);
    const params = { call_id: recorded };
    const { joinUrl } = await api.fetch("GET", "/api/calls/{call_id}", { params });
    const token = joinUrl?.split("/").at(-1) ?? "";
    expect(token.length).toBeGreaterThan(8);
    await page.getByRole("tab", { name: "JSON" }).click();
    await page.getByText('"billingStatus"').waitFor();
    expect(await page.content()).not.toContain(token);
    await page.getByRole("tab", { name: "Engines" }).click();
    const engines = page.getByRole("table", { name: "Engines of the call" });
    await engines.getByText("eSpeak NG").waitFor();
    expect(await engines.getByRole("row").count()).toBe(4);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await open.findings()).toEqual([]);
    expect(await open.complaints()).toEqual([]);
    await open.screenshot("call-engines-390");
    await page.setViewportSize({ width: 1280, height: 844 });
    await page.getByRole("tab", { name: "Setup" }).click();
    await page.getByRole("heading", { name: "Stage 1" }).waitFor();
    await page.getByText("Moves the robot.").waitFor();
    expect(await page.content()).not.toContain(token);
    expect(await open.findings()).toEqual([]);
    expect(await open.complaints()).toEqual([]);
  });

  test("are heard: both sides are painted, a line plays from its moment, keys move the sound", async () => {
    const { page, visit } = open;
    await visit(`/calls/${recorded}`);
    await page.getByRole("slider", { name: "Position in the recording" }).waitFor();
    await expect.poll(() => page.evaluate<number>(PAINTED), { timeout: 45_000 }).toBe(2);
    const line = page.getByRole("listitem").filter({ hasText: /go forward/i });
    await line
      .getByRole("button", { name: /^Play from/ })
      .first()
      .click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    const label = await line
      .getByRole("button", { name: /^Play from/ })
      .first()
      .innerText();
    const from = Number(label.trim().split(":")[1]);
    expect(from).toBeGreaterThan(0);
    const moved = async (test: (at: number) => boolean) => {
      await expect.poll(async () => test(await sliderAt(page)), { timeout: 45_000 }).toBe(true);
    };
    await moved((at) => at > from);
    await page.locator("main").focus();
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: "Play", exact: true }).waitFor();
    const paused = await sliderAt(page);
    await page.keyboard.press("ArrowLeft");
    await moved((at) => at < paused);
    await page.getByRole("slider", { name: "Position in the recording" }).press("Home");
    await moved((at) => at === 0);
    await page.getByRole("button", { name: "Zoom in" }).click();
    await expect.poll(() => page.evaluate<number>(PAINTED), { timeout: 45_000 }).toBeGreaterThan(1);
    await open.screenshot("call-nearer");
    expect(await open.complaints()).toEqual([]);
  });

  test("with a long recording are heard line by line, until the whole is asked for", async () => {
    const { page, visit } = open;
    const header = wavHeader({ sampleRateHz: 16_000, channels: 2 }, LONG_BYTES);
    const body = Buffer.alloc(header.byteLength + LONG_BYTES, header);
    await page.route("**/recording", (route) => route.fulfill({ contentType: "audio/wav", body }));
    await visit(`/calls/${recorded}`);
    await page.getByText("A long recording (65 MB).").waitFor();
    const part = page.waitForResponse(/\/messages\/\d+\/audio$/);
    const line = page.getByRole("listitem").filter({ hasText: "Good evening." });
    await line.getByRole("button", { name: /^Play from/ }).click();
    expect((await part).headers()["content-type"]).toBe("audio/wav");
    await page.getByRole("button", { name: "Show the waveform" }).click();
    await page.getByText("/ 16:55").waitFor();
    await expect.poll(() => page.evaluate<number>(PAINTED), { timeout: 45_000 }).toBe(2);
    await page.unroute("**/recording");
    expect(await open.complaints()).toEqual([]);
    // A deployment that redirects to its store: the page does not follow, and lines come from the service.
    const headers = { location: "https://store.example/recording" };
    await page.route("**/recording", (route) => route.fulfill({ status: 302, headers }));
    await visit(`/calls/${recorded}`);
    await page.getByText("The recording is in external storage").waitFor();
    await line.getByRole("button", { name: /^Play from/ }).waitFor();
    await page.unroute("**/recording");
    expect(await open.complaints()).toEqual([]);
  });

  test("have events that are filtered, and files to take away", async () => {
    const { page, visit } = open;
    await visit(`/calls/${recorded}?view=events`);
    const rows = page.getByRole("table", { name: "Events" }).getByRole("row");
    await rows.filter({ hasText: "call.joined" }).waitFor();
    await page.getByLabel("Type").fill("turn.interrupted");
    await rows.filter({ hasText: "call.joined" }).waitFor({ state: "detached" });
    await rows.filter({ hasText: "turn.interrupted" }).waitFor();
    await page.getByLabel("Severity").selectOption("error");
    await page.getByRole("heading", { name: "No matching events" }).waitFor();
    expect(await open.findings()).toEqual([]);
    const folder = await mkdtemp(join(tmpdir(), "parley-downloads-"));
    const fileOf = async (name: string) => {
      await page.getByRole("button", { name: "Download" }).click();
      const [file] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("menuitem", { name }).click(),
      ]);
      const path = join(folder, file.suggestedFilename());
      await file.saveAs(path);
      return { name: file.suggestedFilename(), bytes: await readFile(path) };
    };
    const sound = await fileOf("Recording");
    expect(sound.name).toBe(`${recorded}.wav`);
    expect(sound.bytes.subarray(0, 4).toString()).toBe("RIFF");
    const log = await fileOf("Event log");
    expect(log.bytes.toString().startsWith('{"plan"')).toBe(true);
    await rm(folder, { recursive: true });
  });

  test("that run get a message and are ended, and cannot be deleted before", async () => {
    const { page, api, visit } = open;
    const call = await joinCall(api, agentId, { recordingEnabled: true });
    await visit(`/calls/${call.callId}`);
    await page.getByText("Recording in progress").waitFor();
    await page.getByRole("button", { name: "Send message" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Send message" }).click();
    await dialog.getByText("Enter a message.").waitFor();
    await dialog.getByLabel("Type", { exact: true }).selectOption({ label: "Agent message" });
    await dialog.getByLabel("Text").fill("The taxi is here.");
    await dialog.getByLabel("When").selectOption({ label: "Immediately, interrupting the agent" });
    expect(await open.findings()).toEqual([]);
    await dialog.getByRole("button", { name: "Send message" }).click();
    // Live: the page is not loaded again.
    await page.getByRole("list", { name: "Conversation" }).getByText("The taxi is here.").waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete call" }).click();
    await dialog.getByText(/can be deleted when it has ended/).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Hang up" }).click();
    await page.getByRole("button", { name: "Hang up now" }).click();
    await page.getByText("Agent hung up").waitFor();
    await ended(api, call.callId);
    expect(await open.complaints()).toEqual([expect.stringContaining("425")]);
  });

  test("that were not recorded, not joined or never there say so", async () => {
    const { page, api, visit } = open;
    await visit(`/calls/${plain}`);
    await page.getByText("Not recorded").waitFor();
    const { callId } = await api.fetch("POST", "/api/calls", { body: { recordingEnabled: true } });
    await visit(`/calls/${callId}`);
    await page.getByText("Nothing recorded yet").waitFor();
    await page.getByRole("button", { name: "Copy join URL" }).waitFor();
    await open.complaints();
    await visit("/calls/00000000-0000-4000-8000-000000000000");
    await page.getByText("There is no such call.").waitFor();
    expect(await open.complaints()).toContainEqual(expect.stringContaining("404"));
  });

  test("are deleted, and a note stays", async () => {
    const { page, api, visit } = open;
    await visit(`/calls/${recorded}`);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete call" }).click();
    await page.waitForURL(`${consoleUrl()}/calls`);
    const params = { call_id: recorded };
    await expect(api.fetch("GET", "/api/calls/{call_id}", { params })).rejects.toMatchObject({ status: 404 });
    await page.getByRole("tab", { name: "Deleted" }).click();
    await page.getByRole("link", { name: recorded }).click();
    await page.getByRole("heading", { level: 1, name: "Deleted call" }).waitFor();
    await page.getByText("Caller hung up").waitFor();
    await open.screenshot("call-deleted");
    expect(await open.findings()).toEqual([]);
  });
});
