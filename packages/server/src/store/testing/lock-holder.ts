/** A process that takes the lock of a folder, reports the result, and holds the lock until its input is closed. */

import { lockDataDir } from "../database/lock-file.ts";

const [, , dataDir = "", watchMs = "1000"] = process.argv;
try {
  const lock = await lockDataDir(dataDir, Number(watchMs));
  process.stdout.write("locked\n");
  process.stdin.on("end", () => void lock.release());
  process.stdin.resume();
} catch (error) {
  process.stdout.write(`${String(error)}\n`);
}
