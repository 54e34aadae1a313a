/** Every page, at both widths and in both themes: it loads, axe finds nothing serious, the browser reports no error. */

import { beforeAll, describe, expect, test } from "vitest";
import { HAS_CONSOLE, openConsole, type OpenConsole, type Size } from "./open-console.ts";
import { PLACES, type Seed, seed } from "./places.ts";

if (!HAS_CONSOLE) process.stderr.write("skipped: the tour of the console needs a browser\n");

/** Screenshots of every page take half of the time, so they are optional. */
const PICTURES = process.env["PICTURES"] === "1";

/** Findings and errors by theme; the theme follows the system, so one visit covers both. */
async function faultsIn(open: OpenConsole, name: string): Promise<Record<string, readonly string[]>> {
  const faults: Record<string, readonly string[]> = {};
  for (const theme of ["light", "dark"] as const) {
    await open.page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    if (PICTURES) await open.screenshot(`${name}-${theme}`);
    // A theme changes only colours.
    const findings = await open.findings(theme === "light" ? undefined : "color-contrast");
    faults[theme] = [...findings, ...(await open.complaints())];
  }
  return faults;
}

const NO_FAULTS = { light: [], dark: [] };

describe.skipIf(!HAS_CONSOLE)("an account with records", () => {
  let seeded: Seed;
  const consoles = new Map<Size, OpenConsole>();
  beforeAll(async () => {
    for (const size of ["desktop", "phone"] as const) {
      consoles.set(size, await openConsole({ account: "Hotel Bellevue", size }));
    }
    const api = consoles.get("desktop")?.api;
    if (api !== undefined) seeded = await seed(api);
  });

  test.each(
    PLACES.flatMap((place) => [
      { ...place, size: "desktop" as const },
      { ...place, size: "phone" as const },
    ]),
  )("sees $name at $size width", async ({ name, path, size }) => {
    const open = consoles.get(size);
    if (open === undefined) throw new Error("The browser did not open.");
    await open.visit(typeof path === "string" ? path : path(seeded));
    expect(await faultsIn(open, `${name}-${size}`)).toEqual(NO_FAULTS);
  });
});

describe.skipIf(!HAS_CONSOLE)("a new account", () => {
  let open: OpenConsole;
  beforeAll(async () => {
    open = await openConsole({ account: "Empty House" });
  });

  const lists = PLACES.flatMap(({ name, path }) => (typeof path === "string" ? [{ name, path }] : []));
  test.each(lists)("sees $name", async ({ name, path }) => {
    await open.visit(path);
    expect(await faultsIn(open, `${name}-empty`)).toEqual(NO_FAULTS);
  });
});
