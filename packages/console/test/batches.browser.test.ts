/** Batches in the browser: created from a table with bad rows, JSON or very many rows; watched, changed, deleted. */

import { beforeAll, describe, expect, test } from "vitest";
import { HAS_CONSOLE, openConsole, type OpenConsole, settled } from "./open-console.ts";

const PATH = "/api/agents/{agent_id}/scheduled_batches";

describe.skipIf(!HAS_CONSOLE)("batches", () => {
  let open: OpenConsole;
  let agentId = "";
  let batchId = "";
  beforeAll(async () => {
    open = await openConsole({ account: "batches" });
    ({ agentId } = await open.api.fetch("POST", "/api/agents", {
      body: {
        name: "Reminder",
        callTemplate: {
          systemPrompt: "Remind {{guest}}.",
          contextSchema: {
            type: "object",
            properties: { guest: { type: "string", maxLength: 5 } },
            required: ["guest"],
          },
        },
      },
    }));
    await open.api.fetch("POST", "/api/call_throttles", {
      body: { name: "gently", rules: [{ maxCalls: 2, windowSeconds: 1 }] },
    });
  });

  test("an agent and calls are asked for before anything is sent", async () => {
    const { page } = open;
    await open.visit("/batches");
    await page.getByRole("heading", { name: "No batches yet" }).waitFor();
    await page.getByRole("link", { name: "New batch" }).first().click();
    await page.getByRole("button", { name: "Create batch" }).click();
    await page.getByText("Is required.").waitFor();
    await page.getByText("Choose a file or paste rows.").waitFor();
    expect(await open.findings()).toEqual([]);
  });

  test("an agent that calls over SIP is marked, because the service must be set up for it", async () => {
    const { page, api } = open;
    await api.fetch("POST", "/api/agents", {
      body: {
        name: "Dialler",
        callTemplate: { medium: { sip: { outgoing: { to: "sip:ann@example.com", from: "parley" } } } },
      },
    });
    await open.visit("/batches/new");
    const agent = page.getByRole("combobox", { name: "Agent" });
    await agent.fill("Diall");
    await page.getByRole("option", { name: /Dialler/ }).click();
    const warning = page.getByText("This agent makes SIP calls");
    await warning.waitFor();
    await agent.fill("Remi");
    await page.getByRole("option", { name: /Reminder/ }).click();
    await warning.waitFor({ state: "detached" });
    expect(await open.findings()).toEqual([]);
  });

  test("a table is mapped, and bad rows are said with their reasons", async () => {
    const { page } = open;
    await open.visit("/batches/new");
    await page.getByRole("combobox", { name: "Agent" }).fill("Remi");
    await page.getByRole("option", { name: /Reminder/ }).click();
    await page.getByLabel("File").setInputFiles({
      name: "guests.csv",
      mimeType: "text/csv",
      buffer: Buffer.from("phone;guest;order\n+49 30 1;Ann;7\n0301;Bob;8\n+49302;Benjamin;9\n+49303;Eve;\n"),
    });
    // Nothing is dialled by accident: a number is metadata until a medium that dials is chosen.
    expect(await page.getByLabel("Medium", { exact: true }).inputValue()).toBe("agent");
    expect(await page.getByLabel("Use phone as").inputValue()).toBe("metadata");
    await page.getByLabel("Medium", { exact: true }).selectOption({ label: "Phone by Twilio" });
    expect(await page.getByLabel("Use phone as").inputValue()).toBe("to");
    // Errors that concern every row are shown first.
    await page.getByText("Caller number is required here or in a column").waitFor();
    await page.getByRole("button", { name: "Create batch" }).click();
    await page.getByText("Is required here or in a column.").waitFor();
    await page.getByLabel("Caller number").fill("+4930999");
    await page.getByText("3 valid").waitFor();
    const bad = page.getByRole("table", { name: "Calls with errors" });
    expect(await bad.getByRole("row").nth(1).textContent()).toMatch(/Row 3.*must be a number such as.*Bob/s);
    await page.getByLabel("Use order as").selectOption({ label: "Metadata" });
    await page.getByLabel("Name for order").fill("order.id");
    expect(await page.getByRole("table", { name: "First rows" }).getByRole("row").count()).toBe(5);
    await page.getByText("Preview of the first call").click();
    await page.getByRole("region", { name: "The first call" }).getByText('"order.id": "7"').waitFor();
    await page.getByRole("button", { name: "Create batch" }).click();
    await page.getByText("Fix or skip 1 call with errors.").waitFor();
    await open.screenshot("batch-new");
    expect(await open.findings()).toEqual([]);
  });

  test("what the service refuses is said at its row", async () => {
    const { page, api } = open;
    await page.getByLabel("Skip calls with errors").check();
    await page.getByRole("button", { name: "Create batch" }).click();
    const refused = page.getByRole("table", { name: "Rejected calls" });
    // The second sent call is the fourth row of the file.
    await refused.getByText("Row 4").waitFor();
    expect(await refused.textContent()).toContain("Benjamin");
    expect((await api.fetch("GET", PATH, { params: { agent_id: agentId } })).total).toBe(0);
    await open.screenshot("batch-refused");
  });

  test("a batch is made, paused, with a throttle and a window", async () => {
    const { page, api } = open;
    await page.getByLabel("File").setInputFiles({
      name: "guests.csv",
      mimeType: "text/csv",
      buffer: Buffer.from("phone;guest;metadata.order\n+49 30 1;Ann;7\n+49303;Eve;\n"),
    });
    await page.getByLabel("Medium", { exact: true }).selectOption({ label: "Phone by Twilio" });
    await page.getByLabel("Caller number").fill("+4930999");
    await page.getByText("2 valid").waitFor();
    await page.getByRole("combobox", { name: "Throttle" }).fill("gen");
    await page.getByRole("option", { name: /gently/ }).click();
    await page.getByLabel("Starts").fill("2031-01-02T09:00");
    await page.getByLabel("Ends").fill("2031-01-02T18:00");
    await page.getByRole("switch", { name: "Paused" }).check();
    await page.getByRole("switch", { name: "Limit calling hours" }).check();
    await page.getByLabel("Time zone").fill("Europe/Zurich");
    // A name is suggested, and can be changed.
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toMatch(/^Reminder, .*\d{4}$/);
    await page.getByLabel("Name", { exact: true }).fill("January guests");
    await page.getByRole("button", { name: "Create batch" }).click();
    await page.getByRole("heading", { level: 1, name: "January guests" }).waitFor();
    const { results } = await api.fetch("GET", PATH, { params: { agent_id: agentId } });
    expect(results.length).toBe(1);
    const [batch] = results;
    batchId = batch?.batchId ?? "";
    expect(batch).toMatchObject({
      name: "January guests",
      paused: true,
      totalCount: 2,
      callingHours: { timeZone: "Europe/Zurich", start: "09:00" },
    });
    const calls = await api.fetch("GET", `${PATH}/{batch_id}/scheduled_calls`, {
      params: { agent_id: agentId, batch_id: batchId },
    });
    expect(
      calls.results.map(({ medium, templateContext, metadata }) => ({ medium, templateContext, metadata })),
    ).toEqual([
      {
        medium: { telephony1: { outgoing: { to: "+49 30 1", from: "+4930999" } } },
        templateContext: { guest: "Ann" },
        metadata: { order: "7" },
      },
      {
        medium: { telephony1: { outgoing: { to: "+49303", from: "+4930999" } } },
        templateContext: { guest: "Eve" },
        metadata: null,
      },
    ]);
  });

  test("its calls are listed by state, and it continues and is changed", async () => {
    const { page, api } = open;
    const params = { agent_id: agentId, batch_id: batchId };
    await page.getByRole("table", { name: "Scheduled calls" }).getByText("+49303").waitFor();
    await open.screenshot("batch-page");
    expect(await open.findings()).toEqual([]);
    await page.getByLabel("State", { exact: true }).selectOption({ label: "Failed" });
    await page.getByRole("heading", { name: "No calls with this state" }).waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    expect((await api.fetch("GET", `${PATH}/{batch_id}`, { params })).paused).toBe(false);
    await page.getByRole("tab", { name: "Settings" }).click();
    await page.getByLabel("Ends").fill("2031-01-01T18:00");
    await page.getByRole("button", { name: "Save settings" }).click();
    await page.getByText("Must be after the start.").waitFor();
    await page.getByLabel("Ends").fill("2031-01-03T18:00");
    await page.getByLabel("Name", { exact: true }).fill("February guests");
    await page.getByRole("button", { name: "Save settings" }).click();
    await page.getByRole("heading", { level: 1, name: "February guests" }).waitFor();
    await page.getByText("They apply to calls that are not created yet").first().waitFor();
    const saved = await api.fetch("GET", `${PATH}/{batch_id}`, { params });
    expect(new Date(saved.windowEnd ?? 0).getTime()).toBe(new Date("2031-01-03T18:00").getTime());
    // A change from elsewhere appears without a reload.
    await api.fetch("PATCH", `${PATH}/{batch_id}`, { params, body: { paused: true } });
    await page.getByRole("button", { name: "Resume" }).waitFor();
  });

  test("it is in the list of all agents, and is deleted", async () => {
    const { page, api } = open;
    await open.visit("/batches");
    await page.getByRole("table", { name: "Batches" }).getByText("Reminder").waitFor();
    await open.screenshot("batches-list");
    await page.getByRole("table", { name: "Batches" }).getByRole("link", { name: "February guests" }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete batch" }).click();
    await page.getByRole("heading", { name: "No batches yet" }).waitFor();
    expect((await api.fetch("GET", PATH, { params: { agent_id: agentId } })).total).toBe(0);
  });

  test("a hundred thousand rows do not block the page, and JSON makes a batch as well", async () => {
    const { page, api } = open;
    await open.visit(`/batches/new?agent=${agentId}`);
    // Requests of the previous tests, including refused ones.
    await open.complaints();
    const rows = Array.from({ length: 100_000 }, (_, index) => `+4930${String(index + 1_000)},Guest`);
    await page.evaluate(`(() => {
      window.longestMs = 0;
      let last = performance.now();
      const look = () => {
        const now = performance.now();
        window.longestMs = Math.max(window.longestMs, now - last);
        last = now;
        setTimeout(look, 0);
      };
      look();
    })()`);
    await page.getByLabel("File").setInputFiles({
      name: "many.csv",
      mimeType: "text/csv",
      buffer: Buffer.from(`phone,guest\n${rows.join("\n")}\n`),
    });
    await page.getByLabel("Medium", { exact: true }).selectOption({ label: "Phone by Twilio" });
    await page.getByLabel("Caller number").fill("+4930999");
    await page.getByText("100,000 valid").waitFor({ timeout: 150_000 });
    // No time is asserted, because the machine may be busy. It is printed for information.
    const longestMs = Math.round(await page.evaluate<number>("window.longestMs"));
    process.stderr.write(`100,000 rows: the page was away for ${String(longestMs)} ms at the longest\n`);
    await page.getByLabel("Source", { exact: true }).selectOption({ label: "JSON" });
    await page.getByLabel("Or paste JSON").fill('[{"templateContext":{"guest":"Ann"}},{"context":{}}]');
    await page.getByRole("table", { name: "Calls with errors" }).getByText("Call 2").waitFor();
    await page.getByLabel("Or paste JSON").fill('{"calls":[{"templateContext":{"guest":"Ann"}}]}');
    await page.getByText("1 valid").waitFor();
    await page.getByLabel("URL").fill("https://hooks.example/calls");
    await page.getByRole("switch", { name: "Paused" }).check();
    await page.getByRole("button", { name: "Create batch" }).click();
    await page.getByRole("heading", { level: 1, name: /^Reminder, / }).waitFor();
    const { results } = await api.fetch("GET", PATH, { params: { agent_id: agentId } });
    expect(results.map(({ webhookUrl, totalCount }) => ({ webhookUrl, totalCount }))).toEqual([
      { webhookUrl: "https://hooks.example/calls", totalCount: 1 },
    ]);
    expect(await open.complaints()).toEqual([]);
  });

  test("numbers are put on the do-not-call list, found and taken off", async () => {
    const { page, api } = open;
    await open.visit("/batches/do-not-call");
    await page.getByRole("heading", { name: "No numbers yet" }).waitFor();
    await page.getByRole("button", { name: "Add number" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Number" }).fill("030 1");
    await dialog.getByRole("button", { name: "Add number" }).click();
    await dialog.getByText(/Must be a number such as/).waitFor();
    await dialog.getByRole("textbox", { name: "Number" }).fill("+49 30 123");
    await dialog.getByLabel("Note").fill("asked on the phone");
    await dialog.getByRole("button", { name: "Add number" }).click();
    await page.getByRole("table", { name: "Do-not-call list" }).getByText("+4930123").waitFor();
    await page.getByRole("searchbox").fill("nobody");
    await page.getByRole("heading", { name: "No matching numbers" }).waitFor();
    await page.getByRole("searchbox").fill("asked");
    await page.getByRole("button", { name: "Remove +4930123" }).click();
    await page.getByRole("button", { name: "Remove number" }).click();
    await page.getByRole("heading", { name: "No matching numbers" }).waitFor();
    await settled(page);
    expect((await api.fetch("GET", "/api/do_not_call")).total).toBe(0);
    expect(await open.findings()).toEqual([]);
  });
});
