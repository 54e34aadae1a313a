/**
 * The first start of the image, at its build: starts the service on a free port with an embedded database, asks whether
 * it is ready, and stops it as a supervisor does. Node keeps the compiled code, which makes later starts faster.
 */

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A start takes seconds; under emulation of another architecture, minutes. */
const LIMIT_MS = 600_000;
/** The service loads the rest of its parts within a second after it is ready. */
const LOADED_AFTER_MS = 3_000;
const ADDRESS = /^ {2}Service +(http:\S+)$/;

const dataDir = await mkdtemp(join(tmpdir(), "parley-"));
const service = spawn(process.execPath, ["packages/server/src/main.ts"], {
  env: { ...process.env, HOST: "127.0.0.1", PORT: "0", DATA_DIR: dataDir, LOG_LEVEL: "warn" },
  stdio: ["ignore", "pipe", "inherit"],
});
const limit = setTimeout(() => service.kill("SIGKILL"), LIMIT_MS);
const exited = new Promise((resolve) => service.once("exit", (code, signal) => resolve(signal ?? code)));
let console = 0;
for await (const line of createInterface({ input: service.stdout })) {
  const [, address] = ADDRESS.exec(line) ?? [];
  if (address === undefined) continue;
  await new Promise((resolve) => setTimeout(resolve, LOADED_AFTER_MS));
  const ready = await fetch(`${address}/readyz`);
  process.stdout.write(`/readyz: ${String(ready.status)} ${await ready.text()}\n`);
  const page = await fetch(`${address}/`, { headers: { accept: "text/html" } });
  console = page.status;
  process.stdout.write(`the console: ${String(page.status)}\n`);
  if (!ready.ok) service.kill("SIGKILL");
  else service.kill("SIGTERM");
}
const end = await exited;
clearTimeout(limit);
await rm(dataDir, { recursive: true, force: true });
if (end !== 0 || console !== 200) {
  process.stderr.write(`The service did not start, serve its console and stop in order (${String(end)}).\n`);
  process.exit(1);
}
