/** The guide's server and page, exactly as in the guide, with the library as published. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
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
  const said: string[] = [];

  beforeAll(async () => {
    service = await openRunningService();
    pages = await openPages({ speech: await speechAfterSilence(3) });
    // Below the repository, where packages resolve as in a separate project.
    await mkdir(join(ROOT, "node_modules/.cache"), { recursive: true });
    folder = await mkdtemp(join(ROOT, "node_modules/.cache/guide-"));
    await buildCode(join(folder, "client"));
    const guide = await readFile(join(ROOT, "docs/embedding.md"), "utf8");
    await writeFile(join(folder, "server.mjs"), block(guide, "js"));
    await writeFile(join(folder, "page.html"), block(guide, "html"));
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
        PARLEY_CLIENT: join(folder, "client"),
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

  test("talks at a click and hangs up at the next", async () => {
    const { page } = await pages.open();
    await page.goto(address);
    await page.click("#talk");
    await until(async () => (await page.textContent("#talk")) === "Hang up", "the join");
    const lines = () => page.evaluate<string[]>("[...said.children].map(({ textContent }) => textContent)");
    await until(async () => (await lines()).length >= 3, "the conversation");
    expect((await lines()).slice(0, 2)).toEqual(["agent: Good evening.", "user: Hello there."]);
    await page.click("#talk");
    await until(async () => (await page.textContent("#talk")) === "Talk", "the end");
    const { results } = await service.get<{ results: { callId: string }[] }>("/api/calls");
    expect(results).toHaveLength(1);
    expect((await service.endedSoon(results[0]?.callId ?? "")).endReason).toBe("hangup");
    expect(await page.content()).not.toContain(service.key);
    expect(said.join("")).not.toContain("Error");
  });
});
