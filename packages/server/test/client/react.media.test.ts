/** The hooks in a real browser, in a page made with React in its strict mode. */

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRunningService, type RunningService } from "../running-service.ts";
import { opening } from "./call-parts.ts";
import { bundled, HAS_BROWSER, openPages, type Pages } from "./pages.ts";
import { speechAfterSilence, until } from "./speech.ts";

if (!HAS_BROWSER) process.stderr.write("skipped: hooks in a page, for there is no Chromium here\n");

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));

const APP = `
import { createElement as h, StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import { useAgentState, useAudioBlocked, useCall, useLevels, useMuted, useTranscripts } from "@parley/client/react";

function Talk() {
  const { call, status, error, join, leave } = useCall();
  const levels = useLevels(call);
  window.loudest = Math.max(window.loudest ?? 0, levels.output);
  return h("main", null,
    h("button", { id: "join", onClick: () => join(Promise.resolve(window.joinUrl)) }, "Talk"),
    h("button", { id: "mute", onClick: () => call?.muteMicrophone() }, "Mute"),
    h("button", { id: "leave", onClick: leave }, "Leave"),
    h("p", { id: "status" }, status), h("p", { id: "error" }, error?.code ?? "none"),
    h("p", { id: "state" }, useAgentState(call)), h("p", { id: "blocked" }, String(useAudioBlocked(call))),
    h("p", { id: "muted" }, String(useMuted(call).microphone)),
    h("ul", { id: "said" }, useTranscripts(call).map(({ ordinal, role, text }) => h("li", { key: ordinal }, role + ": " + text))));
}
function App() {
  const [shown, show] = useState(true);
  return h("div", null, h("button", { id: "toggle", onClick: () => show(!shown) }, "Toggle"), shown ? h(Talk) : null);
}
createRoot(document.body.appendChild(document.createElement("div"))).render(h(StrictMode, null, h(App)));
`;

describe.skipIf(!HAS_BROWSER)("the hooks", () => {
  let service: RunningService;
  let pages: Pages;
  let folder = "";

  beforeAll(async () => {
    await mkdir(join(ROOT, "node_modules/.cache"), { recursive: true });
    folder = await mkdtemp(join(ROOT, "node_modules/.cache/react-"));
    await writeFile(join(folder, "app.js"), APP);
    const code = await bundled(false, join(folder, "app.js"));
    service = await openRunningService();
    const page =
      '<!doctype html><meta charset="utf-8"><script>process = { env: {} }</script><body><script type="module" src="/app.js"></script>';
    pages = await openPages({
      speech: await speechAfterSilence(3),
      answers: (path) => {
        if (path === "/app.js")
          return Promise.resolve({ headers: { "content-type": "text/javascript" }, body: code });
        return Promise.resolve(
          path === "/app" ? { headers: { "content-type": "text/html" }, body: page } : null,
        );
      },
    });
  });
  afterAll(async () => {
    await pages.close();
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("join, follow and leave a call, and leave it when their component goes", async () => {
    const caller = await pages.open("/app");
    const { page } = caller;
    const text = (id: string) => page.textContent(`#${id}`);
    const first = await service.makeCall(opening("Good evening."));
    await caller.run(`window.joinUrl = ${JSON.stringify(first.joinUrl)}`);
    expect(await text("status")).toBe("idle");
    await page.click("#join");
    await until(async () => (await text("status")) === "live", "the join");
    await until(async () => (await text("said"))?.includes("agent: Good evening.") === true, "the greeting");
    await until(async () => (await caller.run<number>("window.loudest")) > 0.05, "the level");
    expect([await text("blocked"), await text("error"), await text("muted")]).toEqual([
      "false",
      "none",
      "false",
    ]);
    await page.click("#mute");
    expect(await text("muted")).toBe("true");
    await page.click("#leave");
    await until(async () => (await text("status")) === "over", "the end");
    expect(await text("said")).toContain("agent: Good evening.");
    expect((await service.endedSoon(first.callId)).endReason).toBe("hangup");

    // A call that was left cannot be joined again.
    await page.click("#join");
    await until(async () => (await text("error")) === "gone", "the refusal");
    expect(await text("status")).toBe("idle");

    const second = await service.makeCall(opening("Good morning."));
    await caller.run(`window.joinUrl = ${JSON.stringify(second.joinUrl)}`);
    await page.click("#join");
    await until(async () => (await text("status")) === "live", "the second join");
    expect(await text("error")).toBe("none");
    await page.click("#toggle");
    expect((await service.endedSoon(second.callId)).endReason).toBe("hangup");
  });
});
