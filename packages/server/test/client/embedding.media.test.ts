/** The guide's server and page, exactly as in the guide, with the library as published. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildCode } from "../../../client/scripts/build.ts";
import { openRunningService, type RunningService } from "../running-service.ts";
import { opening } from "./call-parts.ts";
import { HAS_BROWSER, openPages, type Pages } from "./pages.ts";
import { speechAfterSilence, until } from "./speech.ts";

if (!HAS_BROWSER) process.stderr.write("skipped: the guide's page, for there is no Chromium here\n");

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));

function block(guide: string, language: string): string {
  const [, code] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(guide) ?? [];
  if (code === undefined) throw new Error(`the guide has no ${language}`);
  return code;
}

describe.skipIf(!HAS_BROWSER)("the guide's page", () => {
  let service: RunningService;
  let pages: Pages;
  let folder = "";
  let server: ChildProcess;
  let address = "";
  let scriptPage = "";
  const said: string[] = [];

  beforeAll(async () => {
    service = await openRunningService();
    pages = await openPages({ speech: await speechAfterSilence(3) });
    folder = await mkdtemp(join(tmpdir(), "parley-guide-"));
    const installed = join(folder, "node_modules/@parley/client");
    await buildCode(join(installed, "dist"));
    await copyFile(join(ROOT, "packages/client/package.json"), join(installed, "package.json"));
    const guide = await readFile(join(ROOT, "docs/embedding.md"), "utf8");
    await writeFile(join(folder, "server.mjs"), block(guide, "js"));
    const page = block(guide, "html");
    await writeFile(join(folder, "page.html"), page);
    scriptPage = page
      .replace('<script type="module">', '<script src="/parley/parley.min.js"></script><script>')
      .replace('import { joinCall } from "/parley/index.js";', "const { joinCall } = Parley;");
    const agent = await service.ask<{ agentId: string }>("POST", "/api/agents", {
      name: "Guide",
      callTemplate: { ...opening("Good evening."), medium: { webRtc: {} } },
    });
    if (agent.status !== 201) throw new Error(`no agent was made: ${String(agent.status)}`);
    server = spawn(process.execPath, ["server.mjs"], {
      cwd: folder,
      env: {
        PARLEY_URL: service.url,
        PARLEY_KEY: service.key,
        AGENT_ID: agent.body.agentId,
        PORT: "0",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [server.stdout, server.stderr]) {
      stream?.on("data", (text: Buffer) => said.push(text.toString()));
    }
    await until(() => Promise.resolve(said.join("").includes("http://")), "the guide's server");
    address = /http:\S+/.exec(said.join(""))?.[0] ?? "";
  });
  afterAll(async () => {
    if (server.exitCode === null) {
      server.kill("SIGKILL");
      await once(server, "exit");
    }
    await pages.close();
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** One call by the guide's page, whose first lines are these. */
  async function talk(lines: readonly string[]): Promise<void> {
    const before = await callIds();
    const { page } = await pages.open();
    await page.goto(address);
    await page.click("#talk");
    await until(async () => (await page.textContent("#talk")) === "Hang up", "the join");
    const shown = () => page.evaluate<string[]>("[...said.children].map(({ textContent }) => textContent)");
    await until(
      async () => (await shown()).slice(0, lines.length).join("\n") === lines.join("\n"),
      "the lines",
    );
    await page.click("#talk");
    await until(async () => (await page.textContent("#talk")) === "Talk", "the end");
    const [callId = "", ...others] = (await callIds()).filter((id) => !before.includes(id));
    expect(others).toEqual([]);
    expect((await service.endedSoon(callId)).endReason).toBe("hangup");
    expect(await page.content()).not.toContain(service.key);
    expect(said.join("")).not.toContain("Error");
  }

  async function callIds(): Promise<string[]> {
    const { results } = await service.get<{ results: { callId: string }[] }>("/api/calls");
    return results.map(({ callId }) => callId);
  }

  test("talks at a click and hangs up at the next", async () => {
    expect(server.exitCode).toBeNull();
    await talk(["agent: Good evening.", "user: Hello there."]);
  });

  test("does the same with the file for a script element", async () => {
    expect(scriptPage).toContain("const { joinCall } = Parley;");
    await writeFile(join(folder, "page.html"), scriptPage);
    await talk(["agent: Good evening."]);
  });
});
