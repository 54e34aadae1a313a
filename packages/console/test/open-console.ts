/** Opens the console in a browser, signed in. */

import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRestClient, type RestClient } from "@parley/client/rest";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, inject } from "vitest";
import type { TestAccount } from "./accounts.ts";

const running = inject("console");
export const HAS_CONSOLE = running !== null;

/** The folder for screenshots. */
export const SCREENSHOTS = join(tmpdir(), "parley-console");

export const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const;
export type Size = keyof typeof SIZES;

export interface OpenOptions {
  readonly account: TestAccount;
  readonly size?: Size;
  readonly theme?: "light" | "dark";
  /** Default: true. */
  readonly signedIn?: boolean;
}

export interface OpenConsole {
  readonly page: Page;
  /** The same account by REST. */
  readonly api: RestClient;
  /** Opens a page by its path and waits until its content is loaded. */
  readonly visit: (path: string) => Promise<void>;
  readonly screenshot: (name: string) => Promise<void>;
  /** Serious findings of axe in the present page, each as one line; of one rule if it is named. */
  readonly findings: (rule?: string) => Promise<readonly string[]>;
  /** Problems since the last call: errors in the browser's console, and pages wider than the screen. */
  readonly complaints: () => Promise<readonly string[]>;
}

/** Timeout for elements to appear; the machine may be busy with other tests. */
const APPEAR_LIMIT_MS = 90_000;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser: Promise<Browser> | null = null;
const contexts: BrowserContext[] = [];

/** Violations of the pages' policy since the last call. */
const violations: string[] = [];
/** A report in the browser's console has no source position; the event has one. */
const REPORT_VIOLATIONS = `document.addEventListener("securitypolicyviolation", (event) => window.violated(
  [location.pathname, event.effectiveDirective, event.blockedURI, event.sourceFile + ":" + event.lineNumber + ":" +
    event.columnNumber, event.sample].join(" ")))`;

// Checked after every test: a page with a policy violation is broken for users.
afterEach(() => {
  const found = violations.splice(0);
  if (found.length > 0) throw new Error(`The page's policy was violated:\n${found.join("\n")}`);
});

afterAll(async () => {
  for (const context of contexts) await context.close();
  await (await browser)?.close();
});

export function consoleUrl(): string {
  if (running === null) throw new Error("There is no browser here.");
  return running.url;
}

export function keyOf(account: TestAccount): string {
  const key = running?.keys[account];
  if (key === undefined) throw new Error(`The service was not asked for the account ${account}.`);
  return key;
}

export async function openConsole(options: OpenOptions): Promise<OpenConsole> {
  const { account, size = "desktop", theme = "light", signedIn = true } = options;
  const url = consoleUrl();
  browser ??= chromium.connect(running?.browser ?? "");
  const context = await (
    await browser
  ).newContext({
    viewport: SIZES[size],
    colorScheme: theme,
    hasTouch: size === "phone",
    isMobile: size === "phone",
    reducedMotion: "reduce",
    permissions: ["microphone", "clipboard-read", "clipboard-write"],
  });
  contexts.push(context);
  const key = keyOf(account);
  if (signedIn) await context.addInitScript(`localStorage.setItem("parley.key", ${JSON.stringify(key)})`);
  await context.exposeBinding("violated", (_, line: string) => violations.push(line));
  await context.addInitScript(REPORT_VIOLATIONS);
  const page = await context.newPage();
  page.setDefaultTimeout(APPEAR_LIMIT_MS);
  const said: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") said.push(`${message.text()} (${message.location().url})`);
  });
  page.on("pageerror", (error) => said.push(error.stack ?? error.message));
  return {
    page,
    api: createRestClient({ baseUrl: url, apiKey: key }),
    visit: async (path) => {
      await page.goto(url + path);
      await settled(page);
    },
    screenshot: async (name) => {
      await mkdir(SCREENSHOTS, { recursive: true });
      await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: size === "phone" });
    },
    findings: (rule) => findingsOf(page, rule),
    complaints: async () => {
      const width = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      const wide = width > 0 ? [`the page is ${String(width)} px wider than the screen`] : [];
      return [...said.splice(0), ...wide];
    },
  };
}

/** Waits for a heading, and until nothing is loading. */
export async function settled(page: Page): Promise<void> {
  await page.locator("h1").first().waitFor();
  const endMs = performance.now() + APPEAR_LIMIT_MS;
  // Polled from here: a wait inside the page would need `eval`, which the page's policy refuses.
  while (await page.evaluate<boolean>(`document.querySelector('${LOADING}') !== null`)) {
    if (performance.now() > endMs) throw new Error(`${page.url()} is still loading.`);
    await page.waitForTimeout(LOOK_EVERY_MS);
  }
}

const LOADING = `[role="status"] [aria-hidden="true"], [aria-busy="true"]`;
const LOOK_EVERY_MS = 50;

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly help: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

async function findingsOf(page: Page, rule?: string): Promise<readonly string[]> {
  // Injected by the debugger, because the page's policy would refuse a script element.
  await page.evaluate(`window.axe ?? (() => { ${AXE} })()`);
  // Style sheets are not inspected: axe would copy those of shadow trees, which the policy refuses as well.
  const runOnly = rule === undefined ? TAGS : { type: "rule", values: [rule] };
  const results = await page.evaluate<AxeResults>(
    `axe.run(document, { preload: false, resultTypes: ["violations"], runOnly: ${JSON.stringify(runOnly)} })`,
  );
  return results.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary ?? ""}`),
    );
}
