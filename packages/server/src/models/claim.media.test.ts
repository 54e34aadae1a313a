import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { claimFolder, claimsOf } from "./claim.ts";

const PROGRAM = fileURLToPath(new URL("testing/claiming-process.ts", import.meta.url));
const PROCESSES = 6;
const ROUNDS = 3;

let folder = "";
let claim = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-claims-"));
  mkdirSync(claimsOf(folder), { recursive: true });
  claim = join(claimsOf(folder), "of-another-command");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const claimOnce = async (): Promise<void> => {
  await using _claim = await claimFolder(folder);
};

test("a command waits for no other one, but takes over from one that is gone", async () => {
  writeFileSync(claim, String(process.ppid));
  await expect(claimOnce()).rejects.toThrow(`Process ${String(process.ppid)} is changing`);
  for (const gone of ["999999999", String(process.pid)]) {
    // In a container a new command often has the number of the one that was killed.
    writeFileSync(claim, gone);
    await claimOnce();
  }
  // A process with the number is there, but it is another one: nobody has renewed the claim.
  writeFileSync(claim, String(process.ppid));
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(claim, longAgo, longAgo);
  await claimOnce();
  expect(readdirSync(claimsOf(folder))).toEqual([]);
});

test("a process does not claim a folder twice at a time", async () => {
  const outcomes = await Promise.allSettled([claimOnce(), claimOnce()]);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  await claimOnce();
});

test("of several commands that find the claim of a killed one, none works beside another one", async () => {
  const said: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    writeFileSync(claim, "999999999");
    const children = Array.from({ length: PROCESSES }, () =>
      spawn(process.execPath, [PROGRAM, folder], { stdio: ["pipe", "pipe", "inherit"] }),
    );
    const answers = children.map(async (child) => {
      let text = "";
      child.stdout.on("data", (part: Buffer) => (text += part.toString()));
      const [code] = (await once(child, "close")) as [number | null];
      return code === 0 ? text.replace("ready", "").trim() : `exit ${String(code)}`;
    });
    await Promise.all(children.map((child) => once(child.stdout, "data")));
    for (const child of children) child.stdin.write("begin\n");
    said.push(...(await Promise.all(answers)));
  }
  expect(said.filter((word) => word !== "held" && word !== "refused")).toEqual([]);
  expect(said).toContain("held");
}, 60_000);
