/** sipp as a peer: one scenario for each test, on loopback addresses. */

import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";

const ADDRESS = "127.0.0.1";

export const HAS_SIPP = spawnSync("sipp", ["-v"]).error === undefined;

export interface SippOptions {
  /** `uac` and `uas` are built in; else the XML. */
  readonly scenario: string;
  readonly calls?: number;
  readonly transport?: "u1" | "t1";
  /** Of the user agent; for a scenario that begins the calls. */
  readonly target?: number;
  readonly extra?: readonly string[];
}

export interface SippRun {
  readonly port: number;
  /** Resolves when all calls have ended. @throws with sipp's own messages when one has failed */
  readonly done: Promise<void>;
}

export async function startSipp(options: SippOptions): Promise<SippRun> {
  const { scenario, calls = 1, transport = "u1", target, extra = [] } = options;
  const folder = await mkdtemp(join(tmpdir(), "parley-sipp-"));
  const isBuiltIn = scenario === "uac" || scenario === "uas";
  const file = join(folder, "scenario.xml");
  if (!isBuiltIn) await writeFile(file, scenario);
  const port = await freePort();
  const args = [
    ...(target === undefined ? [] : [`${ADDRESS}:${String(target)}`]),
    ...(isBuiltIn ? ["-sn", scenario] : ["-sf", file]),
    "-i",
    ADDRESS,
    "-ci",
    ADDRESS,
    "-p",
    String(port),
    "-t",
    transport,
    "-m",
    String(calls),
    "-r",
    "50",
    "-nostdin",
    "-timeout",
    "100s",
    "-timeout_error",
    "-trace_err",
    "-trace_msg",
    ...extra,
  ];
  const child = spawn("sipp", args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString("utf8")));
  const done = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  }).then(async (code) => {
    const logs = code === 0 ? "" : await logsIn(folder);
    await rm(folder, { recursive: true, force: true });
    if (code !== 0) throw new Error(`sipp ended with ${String(code)}: ${errors}\n${logs}`);
  });
  // The test waits for it later.
  done.catch(() => undefined);
  return { port, done };
}

async function logsIn(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".log"));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  return texts.join("\n").slice(0, 8_000);
}
