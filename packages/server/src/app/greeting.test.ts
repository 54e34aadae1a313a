import { expect, it } from "vitest";
import { greeting } from "./greeting.ts";

const secret = `Abcdefgh.${"s".repeat(32)}`;
const publicUrl = "https://voice.example";
const config = { console: true, databaseUrl: null, dataDir: "./data" };

it("prints the first key once, with an address that signs in", () => {
  expect(greeting({ publicUrl, newApiKey: { secret, file: null } }, config).split("\n")).toEqual([
    "",
    "Parley is ready.",
    "",
    "  Service    https://voice.example",
    `  Console    https://voice.example/#key=${secret}`,
    "  Reference  https://voice.example/docs",
    `  API key    ${secret}   (shown this once; every request needs it as X-API-Key)`,
    "  Data       ./data",
    "",
    "",
  ]);
});

it("prints where the first key is, and never the key, when it is in a file", () => {
  const printed = greeting({ publicUrl, newApiKey: { secret, file: "/run/key" } }, config);
  expect(printed).toContain("  API key    in the file /run/key   (written this once;");
  expect(printed).toContain("  Console    https://voice.example/\n");
  expect(printed).not.toContain(secret);
});

it("says nothing about keys when the account has one", () => {
  const printed = greeting({ publicUrl, newApiKey: null }, { ...config, console: false, databaseUrl: "x" });
  expect(printed).not.toMatch(/key|Console/i);
  expect(printed).toContain("  Data       PostgreSQL");
});
