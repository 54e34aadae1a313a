/** Writes a recording until it is killed. Arguments: directory, call id. */

import nodeProcess from "node:process";
import { openFileRecordings } from "../file-recordings.ts";

const [dir = "", callId = ""] = nodeProcess.argv.slice(2);
const recordings = await openFileRecordings(dir);
const writer = await recordings.create(callId, 16_000);
const block = Int16Array.from({ length: 8_000 }, (_, i) => (i % 2 === 0 ? 1 : -1));
let written = 0;
setInterval(() => {
  writer.write(block);
  written += 1;
  if (written === 5) nodeProcess.send?.("writing");
}, 10);
