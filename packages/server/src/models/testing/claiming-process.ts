/** A process that claims a folder, and says "ready", and then whether it was the only one: "held", "refused" or "not alone". */

import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { claimFolder } from "../claim.ts";
import { ModelError } from "../model-error.ts";

const HOLD_MS = 50;

const [folder = ""] = process.argv.slice(2);
process.stdout.write("ready\n");
// All of them begin at the same time.
await new Promise((resolve) => process.stdin.once("data", resolve));
process.stdout.write(`${await claimOnce()}\n`);
process.stdin.destroy();

async function claimOnce(): Promise<string> {
  const alone = join(folder, "alone");
  try {
    await using _claim = await claimFolder(folder);
    try {
      await writeFile(alone, "", { flag: "wx" });
    } catch {
      return "not alone";
    }
    await wait(HOLD_MS);
    await rm(alone);
    return "held";
  } catch (error) {
    if (error instanceof ModelError) return "refused";
    throw error;
  }
}
