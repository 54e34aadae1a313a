/** Usage in the browser: the service's figures in tables, and charts in the colours of the theme. */

import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { HAS_CONSOLE, openConsole, type OpenConsole, SCREENSHOTS, settled } from "./open-console.ts";

const DAY_MS = 86_400_000;

/** Made-up figures of 30 days and 7 agents, which a test cannot produce. */
function figures() {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const days = Array.from({ length: 30 }, (_, index) => {
    const totalCount = 20 + Math.round(15 * Math.sin(index / 3)) + (index % 4);
    return {
      date: new Date(today - (29 - index) * DAY_MS).toISOString().slice(0, 10),
      totalCount,
      joinedCount: Math.round(totalCount * 0.8),
      errorCount: index % 5,
      duration: `${String(totalCount * 95)}s`,
      billedMinutes: totalCount * 1.4,
    };
  });
  const timeSeries = Array.from({ length: 720 }, (_, index) => ({
    timestamp: new Date(today - (719 - index) * 3_600_000).toISOString(),
    maxTotalCalls: 4 + Math.round(3 * Math.sin(index / 12)),
    maxJoinedCalls: 2 + Math.round(2 * Math.sin(index / 12)),
    avgTotalCalls: 2.5,
    avgJoinedCalls: 1.25,
  }));
  const agents = Array.from({ length: 7 }, (_, index) => ({
    agent: { agentId: crypto.randomUUID(), name: `Agent ${String(index + 1)}` },
    usage: days.map(({ date }) => ({ date, billedMinutes: 7 - index, calls: 7 - index })),
  }));
  const allTime = {
    totalCount: 620,
    errorCount: 60,
    joinedCount: 500,
    duration: "58900s",
    billedMinutes: 868,
  };
  return { calls: { allTime, daily: days, hourly: [] }, agents, concurrency: { timeSeries } };
}

const SUMS = {
  provider: "openai",
  model: "a-model-with-a-long-name-that-has-no-space-in-it",
  requests: 1_200,
  failures: 2,
  dropped: 30,
  maxLatency: "2.5s",
  meanLatency: "0.42s",
  inputTokens: 120_000,
  cachedInputTokens: 40_000,
  outputTokens: 9_000,
  uncountedRequests: 0,
  heard: "0s",
  characters: 0,
  spoken: "0s",
  cost: "1.25",
  currency: "USD",
  unpricedRequests: 0,
};
const ENGINES = {
  fromDate: "2026-01-01",
  toDate: "2026-01-30",
  engines: [
    { ...SUMS, kind: "llm", engine: "smart" },
    {
      ...SUMS,
      kind: "tts",
      engine: "mouth",
      failures: 0,
      inputTokens: 0,
      outputTokens: 0,
      characters: 50_000,
      spoken: "3600s",
      cost: "0",
      unpricedRequests: 7,
    },
  ],
  costs: [{ amount: "1.25", currency: "USD", isComplete: false, withoutPrice: ["mouth"] }],
};

/** Pixels of a chart that have exactly a colour of the design. */
function pixelsOf(page: Page, chart: string, token: string): Promise<number> {
  return page.evaluate<number>(`(() => {
    const canvas = document.querySelector('[role="img"][aria-label^="${chart}"] canvas');
    const probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--${token}");
    probe.fillRect(0, 0, 1, 1);
    const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let found = 0;
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] === red && data[at + 1] === green && data[at + 2] === blue && data[at + 3] === 255) found += 1;
    }
    return found;
  })()`);
}

describe.skipIf(!HAS_CONSOLE)("usage", () => {
  let open: OpenConsole;
  let agentId = "";
  beforeAll(async () => {
    open = await openConsole({ account: "usage" });
  });

  test("an account without calls shows a note, and what is metered", async () => {
    await open.visit("/usage");
    await open.page.getByRole("heading", { name: "No calls in this period" }).waitFor();
    await open.page.getByText(/rounded up to whole units of 6 seconds/).waitFor();
    expect(await open.complaints()).toEqual([]);
  });

  test("calls are counted, by time and by agent", async () => {
    const { page, api } = open;
    for (const name of ["Concierge", "Porter"]) {
      const agent = await api.fetch("POST", "/api/agents", { body: { name, callTemplate: {} } });
      agentId = agent.agentId;
      await api.fetch("POST", "/api/agents/{agent_id}/calls", { params: { agent_id: agentId }, body: {} });
    }
    await api.fetch("POST", "/api/agents/{agent_id}/calls", { params: { agent_id: agentId }, body: {} });
    await open.visit("/usage");
    await page.locator("dl dd").first().getByText("3", { exact: true }).waitFor();
    await page.getByText("Show as table").first().click();
    const table = page.getByRole("table", { name: "Calls per day" });
    expect(await table.getByRole("row").nth(1).getByRole("cell").nth(1).textContent()).toBe("3");
    const agents = page.getByRole("table", { name: "Calls per agent" });
    expect(await agents.getByRole("link").allTextContents()).toEqual(["Porter", "Concierge"]);
    await page.getByText("No ended call of this period has used an engine.").waitFor();
    // The figures of one agent, by the hour.
    await open.visit(`/usage?period=1d&agent=${agentId}`);
    await page.locator("dl dd").first().getByText("2", { exact: true }).waitFor();
    await page.getByRole("img", { name: /Calls per hour/ }).waitFor();
    expect(await page.getByLabel("Period", { exact: true }).inputValue()).toBe("1d");
    expect(await open.complaints()).toEqual([]);
  });

  test("the start page has a bar for each day, with its number as text", async () => {
    const { page } = open;
    const { calls } = figures();
    await page.route(/\/api\/accounts\/me\/usage\/calls/, (route) => route.fulfill({ json: calls }));
    for (const theme of ["light", "dark"] as const) {
      for (const width of [1440, 390]) {
        await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
        await page.setViewportSize({ width, height: 844 });
        await open.visit("/");
        const days = page
          .locator("section", { hasText: "Calls per day" })
          .locator("ol")
          .getByRole("listitem");
        expect(await days.count()).toBe(14);
        const { totalCount, errorCount } = calls.daily.at(-1) ?? { totalCount: 0, errorCount: 0 };
        expect(await days.last().innerText()).toContain(
          `${String(totalCount)} calls, ${String(errorCount)} failed`,
        );
        await page.screenshot({ path: `${SCREENSHOTS}/home-bars-${theme}-${String(width)}.png` });
        expect(await open.findings()).toEqual([]);
        expect(await open.complaints()).toEqual([]);
      }
    }
    await page.unrouteAll();
    await page.setViewportSize({ width: 1280, height: 844 });
  });

  test("days that make no period are said at their field", async () => {
    const { page } = open;
    await open.visit("/usage");
    await page.getByLabel("Period", { exact: true }).selectOption({ label: "Custom" });
    await page.getByLabel("First day").fill("2026-03-02");
    await page.getByLabel("Last day").fill("2026-03-01");
    await page.getByText("The last day is before the first day.").waitFor();
    await page.getByLabel("Last day").fill("2026-03-03");
    await page.getByRole("heading", { name: "No calls in this period" }).waitFor();
    expect(new URL(page.url()).search).toBe("?period=chosen&from=2026-03-02&to=2026-03-03");
  });

  test("charts are drawn in the colours of the theme, and say what is pointed at", async () => {
    const { page } = open;
    const { calls, agents, concurrency } = figures();
    await page.route(/\/api\/accounts\/me\/usage\/calls/, (route) => route.fulfill({ json: calls }));
    await page.route(/\/api\/agents\/usage/, (route) => route.fulfill({ json: agents }));
    await page.route(/\/api\/accounts\/me\/usage\/concurrency/, (route) =>
      route.fulfill({ json: concurrency }),
    );
    await page.route(/\/api\/accounts\/me\/usage\/engines/, (route) => route.fulfill({ json: ENGINES }));
    for (const theme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 844 });
        await open.visit("/usage");
        await page
          .getByRole("img", { name: /Concurrent calls/ })
          .locator("canvas")
          .waitFor();
        await settled(page);
        const engines = page.getByRole("table", { name: "Engines of calls" });
        await engines.getByText("2 failed").waitFor();
        await page.getByText(/^Cost: .*1\.25.* not in it: mouth\.$/).waitFor();
        await page.screenshot({
          path: `${SCREENSHOTS}/usage-charts-${theme}-${String(width)}.png`,
          fullPage: true,
        });
        expect(await open.complaints()).toEqual([]);
      }
      expect(await open.findings()).toEqual([]);
      await page.setViewportSize({ width: 1280, height: 844 });
      expect(await pixelsOf(page, "Calls per day.", "chart-1")).toBeGreaterThan(1_000);
      // Failed calls are bars in the colour of failure, and not a line over the others.
      expect(await pixelsOf(page, "Calls per day.", "bad")).toBeGreaterThan(200);
      expect(await pixelsOf(page, "Calls per day and agent", "chart-3")).toBeGreaterThan(500);
    }
    // The theme changes while the page is open.
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    await expect.poll(() => pixelsOf(page, "Calls per day.", "chart-1")).toBeGreaterThan(1_000);
    const chart = page.getByRole("img", { name: /Calls per day and agent/ });
    await chart.hover();
    await page.locator("figure", { has: chart }).getByText("2 others").locator("strong").waitFor();
    await page.unrouteAll();
  });
});
