import { describe, expect, it } from "vitest";
import { commands } from "./commands.ts";
import { parley } from "./testing/run.ts";

/** An empty folder. */
const NOWHERE = { DATA_DIR: "/nonexistent/parley" };

describe("the command line", () => {
  it("explains itself, and every command by its name", async () => {
    const help = await parley({}, "--help");
    expect([help.exitCode, help.err]).toEqual([0, ""]);
    for (const { words, summary } of commands) {
      expect(help.out).toContain(words.join(" "));
      expect(help.out).toContain(summary);
    }
    expect((await parley({})).exitCode).toBe(2);
    expect((await parley({}, "accounts", "--help")).out).toContain("accounts remove");
  });

  it.each(commands.map((command) => [command.words.join(" "), command] as const))(
    "explains %s with all that it takes",
    async (name, { words, arguments: given, options, summary }) => {
      const { exitCode, out } = await parley({}, ...words, "--help");
      expect([exitCode, out.split("\n")[0]]).toEqual([0, expect.stringContaining(`parley ${name}`)]);
      expect(summary).toMatch(/^[A-Z].*[^.]$/);
      for (const { name: argument, description } of given) {
        expect(out).toContain(argument);
        expect(out.replaceAll(/\s+/g, " ")).toContain(description);
      }
      for (const [option, { description }] of Object.entries(options)) {
        expect(out).toContain(`--${option}`);
        expect(out.replaceAll(/\s+/g, " ")).toContain(description);
      }
      expect(
        Math.max(
          ...out
            .split("\n")
            .slice(1)
            .map((line) => line.length),
        ),
      ).toBeLessThanOrEqual(88);
    },
  );

  it("has no two commands of which one begins like the other", () => {
    const names = commands.map(({ words }) => `${words.join(" ")} `);
    expect(names.filter((name) => names.some((other) => other !== name && name.startsWith(other)))).toEqual(
      [],
    );
  });

  it.each([
    [["sing"], 'There is no command "sing". See parley --help.'],
    [["keys", "forge"], 'There is no command "keys forge"; there is keys create, keys list, keys revoke.'],
    [["accounts", "create"], "NAME must be given."],
    [["accounts", "create", "a", "b"], '"b" is an unexpected argument.'],
    [["accounts", "create", " "], "NAME must have 1 to 100 characters, and no control characters."],
    [["accounts", "create", "a", "--colour", "red"], "Unknown option '--colour'."],
    [["accounts", "create", "a", "--concurrent-calls", "-1"], "--concurrent-calls"],
    [["accounts", "create", "a", "--concurrent-calls", "many"], "--concurrent-calls must be a whole number"],
    [["accounts", "create", "a", "--concurrent-calls"], "--concurrent-calls"],
    [["keys", "create", "--expires", "soon"], "--expires must be a date"],
    [["keys", "create", "--expires", "2020-01-01"], "--expires must lie in the future."],
    [["keys", "create", "--expires", "2030-13-01"], "--expires must be a date"],
    [["keys", "create", "--expires", "2030-02-31"], "--expires must be a date"],
    [["keys", "create", "--expires", "2030-02-31T12:00:00Z"], "--expires must be a date"],
    [["health", "--url", "ftp://x"], "--url must be an http or https URL."],
  ])("does not understand %j", async (words, said) => {
    const { exitCode, out, err } = await parley(NOWHERE, ...words);
    expect([exitCode, out]).toEqual([2, ""]);
    expect(err.split("\n")[0]).toContain(said);
  });

  it.each([
    ["accounts", "list"],
    ["keys", "list"],
    ["backup", "/nonexistent/x"],
    ["secrets", "rotate"],
  ])("does not make a database where there is none: %s %s", async (...words) => {
    const { exitCode, err } = await parley(NOWHERE, ...words);
    expect([exitCode, err]).toEqual([
      1,
      "There is no database in /nonexistent/parley; set DATA_DIR or DATABASE_URL as for the service, or start the service once.",
    ]);
  });

  it("names a wrong setting", async () => {
    const { exitCode, err } = await parley({ ...NOWHERE, PORT: "x" }, "accounts", "list");
    expect([exitCode, err]).toEqual([1, "PORT must be a whole number."]);
  });

  it("does not copy PostgreSQL", async () => {
    const env = {
      ...NOWHERE,
      DATABASE_URL: "postgres://x/y",
      SECRETS_KEY: Buffer.alloc(32).toString("base64"),
    };
    for (const command of ["backup", "restore"]) {
      const { exitCode, err } = await parley(env, command, "/nonexistent/file");
      expect([exitCode, err]).toEqual([1, expect.stringContaining("DATABASE_URL names PostgreSQL")]);
    }
  });
});
