/** Agents in the browser: created from a starter, refused, corrected, changed, left, copied, deleted. */

import { ParleyError } from "@parley/client/rest";
import { describe, expect, test } from "vitest";
import { consoleUrl, HAS_CONSOLE, openConsole, settled } from "./open-console.ts";

if (!HAS_CONSOLE) process.stderr.write("skipped: the agents' screens need a browser\n");

const ACCOUNT = "agents";

async function agentNamed(api: Awaited<ReturnType<typeof openConsole>>["api"], name: string) {
  const { results } = await api.fetch("GET", "/api/agents", { query: { search: name } });
  const found = results.find((agent) => agent.name === name);
  if (found === undefined) throw new Error(`There is no agent ${name}.`);
  return found;
}

function faultsOf(error: unknown): readonly { readonly field: string }[] {
  if (!(error instanceof ParleyError)) throw error;
  return [...(error.problem.errors ?? [])].sort((a, b) => a.field.localeCompare(b.field));
}

describe.skipIf(!HAS_CONSOLE)("agents", () => {
  test("are made from a starter on the way from an empty account", async () => {
    const { page, api, visit, complaints } = await openConsole({ account: ACCOUNT });
    await visit("/");
    await page.getByRole("link", { name: "Appointment desk" }).click();
    await page.getByLabel("Name", { exact: false }).first().fill("Workshop");
    await page.getByRole("button", { name: "Create agent" }).click();
    await page.getByRole("heading", { level: 1, name: "Workshop" }).waitFor();
    const { callTemplate } = await agentNamed(api, "Workshop");
    expect(callTemplate).toMatchObject({
      vadSettings: { turnEndpointDelay: "0.6s" },
      maxDuration: "600s",
      selectedTools: [{ toolName: "hangUp" }],
      recordingEnabled: true,
    });
    expect(await complaints()).toEqual([]);
  });

  test("show the service's refusal at each field, and save once it is fixed", async () => {
    const { page, api, visit, findings } = await openConsole({ account: ACCOUNT });
    const { agentId } = await api.fetch("POST", "/api/agents", { body: { name: "Fussy" } });
    await visit(`/agents/${agentId}`);
    await page.getByLabel("End-of-turn delay").fill("99");
    await page.getByLabel("Temperature").fill("3");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Must be at most 10s.").waitFor();
    const wrong = page.locator('[aria-invalid="true"]');
    expect(await wrong.count()).toBe(2);
    expect(await findings()).toEqual([]);
    await page.getByLabel("End-of-turn delay").fill("0,5");
    await page.getByLabel("Temperature").fill("0.3");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("All changes saved.").waitFor();
    const { callTemplate } = await agentNamed(api, "Fussy");
    expect(callTemplate).toMatchObject({ temperature: 0.3, vadSettings: { turnEndpointDelay: "0.5s" } });
  });

  test("have sections, which links and keys open, and which are marked by what is wrong in them", async () => {
    const { page, api, visit, findings, complaints, screenshot } = await openConsole({ account: ACCOUNT });
    const { agentId } = await api.fetch("POST", "/api/agents", { body: { name: "Sectioned" } });
    const sections = page.getByRole("navigation", { name: "Sections" });
    const current = () => sections.locator('[aria-current="true"]').allInnerTexts();
    const focused = () => page.evaluate<string>("document.activeElement.id");
    const topOf = (id: string) =>
      page.evaluate<number>(`document.getElementById("${id}").getBoundingClientRect().top`);
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height });
      await visit("/agents");
      await visit(`/agents/${agentId}#turn-taking`);
      await expect.poll(current).toEqual(["Turn-taking"]);
      expect(await focused()).toBe("turn-taking");
      // Below everything that stays at the top.
      await expect.poll(() => topOf("turn-taking")).toBeLessThan(200);
      expect(await topOf("turn-taking")).toBeGreaterThanOrEqual(0);
      await sections.getByRole("link", { name: "Voice" }).focus();
      await page.keyboard.press("Enter");
      await expect.poll(focused).toBe("voice");
      expect(new URL(page.url()).hash).toBe("#voice");
      expect(await current()).toEqual(["Voice"]);
      await page.keyboard.press("Tab");
      expect(await page.evaluate<string>("document.activeElement.role")).toBe("combobox");
      await page.mouse.move(width / 2, height / 2);
      await page.mouse.wheel(0, -10_000);
      await expect.poll(current).toEqual(["General"]);
      await page.getByLabel("End-of-turn delay").fill("99");
      await page.getByRole("button", { name: "Save" }).click();
      await sections.getByRole("link", { name: "Turn-taking (has errors)" }).waitFor();
      expect(await sections.getByRole("link", { name: /has errors/ }).count()).toBe(1);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await screenshot(`agent-sections-${String(width)}-${colorScheme}`);
        expect(await findings()).toEqual([]);
      }
      expect(await complaints()).toEqual([expect.stringContaining("400")]);
      await page.getByRole("button", { name: "Discard changes" }).click();
    }
  });

  test("have fields with lists, which the pointer and the arrow keys open, and which can be cleared", async () => {
    const { page, api, visit, findings, screenshot } = await openConsole({ account: ACCOUNT });
    const { agentId } = await api.fetch("POST", "/api/agents", {
      body: { name: "Chooser", callTemplate: { model: "default" } },
    });
    await visit(`/agents/${agentId}`);
    const model = page.getByRole("combobox", { name: "Model" });
    const box = page.locator("div", { has: model }).last();
    const list = page.getByRole("listbox", { name: "Options" });
    const options = list.getByRole("option");
    const pointed = async () =>
      page.locator(`[id="${(await model.getAttribute("aria-activedescendant")) ?? ""}"]`).innerText();
    expect(await model.inputValue()).toBe("default");
    await box.getByRole("button", { name: "Options" }).click();
    // The list has all options, and marks the chosen one, where the arrow keys begin.
    await options.nth(1).waitFor();
    expect(await list.getByRole("option", { selected: true }).allInnerTexts()).toEqual(["default"]);
    expect(await pointed()).toBe("default");
    await screenshot("combobox-open");
    expect(await findings()).toEqual([]);
    const count = await options.count();
    await page.keyboard.press("ArrowDown");
    const next = await pointed();
    expect(next).not.toBe("default");
    for (let at = 1; at < count; at += 1) await page.keyboard.press("ArrowDown");
    expect(await pointed()).toBe("default");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    expect(await model.inputValue()).toBe(next);
    expect(await model.getAttribute("aria-expanded")).toBe("false");
    await page.keyboard.press("ArrowUp");
    await options.first().waitFor();
    await page.keyboard.press("Escape");
    await options.first().waitFor({ state: "detached" });
    expect(await model.inputValue()).toBe(next);
    await box.getByRole("button", { name: "Clear" }).click();
    expect(await model.inputValue()).toBe("");
    expect(await box.getByRole("button", { name: "Clear" }).count()).toBe(0);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("All changes saved.").waitFor();
    expect((await agentNamed(api, "Chooser")).callTemplate?.model).toBeUndefined();
  });

  test("are edited as JSON as well, which must be JSON to be saved", async () => {
    const { page, api, visit } = await openConsole({ account: ACCOUNT });
    const { agentId } = await api.fetch("POST", "/api/agents", { body: { name: "Typed" } });
    await visit(`/agents/${agentId}?view=json`);
    const editor = page.getByLabel("Call template as JSON");
    await editor.fill('{ "systemPrompt": "Hello {{guest}}"');
    await page.getByText("Invalid JSON").waitFor();
    await editor.fill('{ "systemPrompt": "Hello {{guest}}", "unknownField": 1 }');
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("callTemplate.unknownField").waitFor();
    await editor.fill('{ "systemPrompt": "Hello {{guest}}" }');
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("All changes saved.").waitFor();
    await page.getByRole("tab", { name: "Form" }).click();
    expect(await page.getByLabel("System prompt").inputValue()).toBe("Hello {{guest}}");
  });

  test("ask before changes are left behind", async () => {
    const { page, api, visit } = await openConsole({ account: ACCOUNT });
    const { agentId } = await api.fetch("POST", "/api/agents", { body: { name: "Unfinished" } });
    await visit(`/agents/${agentId}`);
    await page.getByLabel("System prompt").fill("Half a thought");
    await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Tools" }).click();
    await page.getByRole("dialog", { name: "Leave without saving?" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(await page.getByLabel("System prompt").inputValue()).toBe("Half a thought");
    await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Tools" }).click();
    await page.getByRole("button", { name: "Leave" }).click();
    await page.getByRole("heading", { level: 1, name: "Tools" }).waitFor();
    expect((await agentNamed(api, "Unfinished")).callTemplate?.systemPrompt).toBeUndefined();
  });

  test("can be changed elsewhere meanwhile, and nothing is overwritten unseen", async () => {
    const { page, api, visit } = await openConsole({ account: ACCOUNT });
    const { agentId } = await api.fetch("POST", "/api/agents", { body: { name: "Shared" } });
    await visit(`/agents/${agentId}`);
    await page.getByLabel("System prompt").fill("Mine");
    const params = { agent_id: agentId };
    const body = { callTemplate: { systemPrompt: "Theirs" } };
    await api.fetch("PATCH", "/api/agents/{agent_id}", { params, body });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Load the newer version, or save again").waitFor();
    await page.getByRole("heading", { name: "A newer version of this agent exists" }).waitFor();
    expect(await page.getByLabel("System prompt").inputValue()).toBe("Mine");
    await page.getByRole("button", { name: "Load the newer version" }).click();
    expect(await page.getByLabel("System prompt").inputValue()).toBe("Theirs");
  });

  test("warn of a model, voice or tool that does not exist, and are saved all the same", async () => {
    const { page, api, visit, findings, screenshot } = await openConsole({ account: ACCOUNT });
    const tool = async (name: string) =>
      api.fetch("POST", "/api/tools", { body: { name, definition: { client: {} } } });
    const [bell, gate] = [await tool("Doorbell"), await tool("Gate")];
    const selectedTools = [{ toolName: "Doorbell" }, { toolId: gate.toolId }];
    const { agentId } = await api.fetch("POST", "/api/agents", {
      body: {
        name: "Hopeful",
        callTemplate: { selectedTools, medium: { serverWebSocket: { inputSampleRate: 8000 } } },
      },
    });
    const params = { agent_id: agentId };
    const refused = async (): Promise<unknown> =>
      api.fetch("POST", "/api/agents/{agent_id}/calls", { params, body: {} }).then(
        () => [],
        (error: unknown) => faultsOf(error).map(({ field }) => field),
      );
    const bar = page.getByText(/Calls with this agent will fail. Check/);
    await visit(`/agents/${agentId}`);
    const choose = async (label: string, text: string): Promise<void> => {
      const field = page.getByLabel(label, { exact: true });
      await field.fill(text);
      await field.press("Tab");
    };
    await choose("Model", "no-such-model");
    await choose("Voice", "Nobody");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. New calls will fail. See the warnings.").first().waitFor();
    await page.getByText("Model “no-such-model” does not exist.").waitFor();
    await page.getByText("Voice “Nobody” does not exist.").waitFor();
    expect(await bar.innerText()).toBe("Calls with this agent will fail. Check model, voice.");
    expect((await agentNamed(api, "Hopeful")).callTemplate).toMatchObject({
      model: "no-such-model",
      voice: "Nobody",
    });
    expect(await refused()).toEqual(["callTemplate.model", "callTemplate.voice"]);

    for (const { toolId } of [bell, gate]) {
      await api.fetch("DELETE", "/api/tools/{tool_id}", { params: { tool_id: toolId } });
    }
    await visit(`/agents/${agentId}`);
    await page.getByText("Tool “Doorbell” does not exist. It may have been deleted.").waitFor();
    await page.getByText("No tool has this ID. It may have been deleted.").waitFor();
    await page.getByText("selectedTools.0.toolName and 1 more.").waitFor();
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ] as const) {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme });
        await page.getByLabel("Voice", { exact: true }).scrollIntoViewIfNeeded();
        await screenshot(`agent-warnings-${String(width)}-${colorScheme}`);
        await page.getByText("Tool “Doorbell” does not exist").scrollIntoViewIfNeeded();
        await screenshot(`agent-warnings-tools-${String(width)}-${colorScheme}`);
        expect(await findings()).toEqual([]);
      }
    }
    expect(await refused()).toEqual([
      "callTemplate.model",
      "callTemplate.selectedTools.0.toolName",
      "callTemplate.selectedTools.1.toolId",
      "callTemplate.voice",
    ]);
    await page.getByRole("tab", { name: "JSON" }).click();
    await page.getByText("callTemplate.selectedTools.1.toolId: No tool has this ID.").waitFor();
    await page.getByRole("tab", { name: "Form" }).click();

    await choose("Model", "default");
    await choose("Voice", "");
    await page.getByRole("button", { name: "Remove: Doorbell" }).click();
    await page.getByRole("button", { name: `Remove: ${gate.toolId}` }).click();
    await bar.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. New calls use this version.").first().waitFor();
    expect(await refused()).toEqual([]);
  });

  test("are found, copied and deleted from the list", async () => {
    const { page, api, visit } = await openConsole({ account: ACCOUNT });
    await api.fetch("POST", "/api/agents", {
      body: { name: "Original", callTemplate: { systemPrompt: "Be brief." } },
    });
    await visit("/agents");
    await page.getByRole("searchbox", { name: "Search agents" }).fill("origin");
    await page.getByRole("button", { name: "Actions for Original" }).click();
    await page.getByRole("menuitem", { name: "Duplicate" }).click();
    await page.getByRole("button", { name: "Create agent" }).click();
    await page.getByRole("heading", { level: 1, name: "Original copy" }).waitFor();
    expect((await agentNamed(api, "Original copy")).callTemplate).toMatchObject({
      systemPrompt: "Be brief.",
    });
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete agent" }).click();
    await page.waitForURL(`${consoleUrl()}/agents`);
    await settled(page);
    const { results } = await api.fetch("GET", "/api/agents", { query: { search: "Original copy" } });
    expect(results).toEqual([]);
  });

  test("are listed beyond the first page", async () => {
    const { page, api, visit } = await openConsole({ account: ACCOUNT });
    for (let at = 0; at < 21; at += 1) {
      await api.fetch("POST", "/api/agents", { body: { name: `Page ${String(at).padStart(2, "0")}` } });
    }
    await visit("/agents?sort=name");
    await page.getByRole("searchbox", { name: "Search agents" }).fill("page");
    await page.getByText("20 of 21").waitFor();
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByText("21 of 21").waitFor();
    expect(await page.getByRole("link", { name: /^Page \d\d$/ }).allInnerTexts()).toHaveLength(21);
    // A list that the service stopped counting, as it is for more rows than a test can create.
    await page.route(/\/api\/agents\?.*search=pag$/, async (route) => {
      const response = await route.fetch();
      const json = { ...((await response.json()) as object), total: 10_000, totalRelation: "at-least" };
      await route.fulfill({ response, json });
    });
    await page.getByRole("searchbox", { name: "Search agents" }).fill("pag");
    await page.getByText("20 of 10,000+").waitFor();
    await page.getByRole("searchbox", { name: "Search agents" }).fill("page");
    await page.getByText("of 21").waitFor();
    await page.getByRole("button", { name: "Name" }).click();
    await page.getByRole("row").nth(1).getByRole("link", { name: "Page 20" }).waitFor();
  });
});
