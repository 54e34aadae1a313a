/** The program. Everything it does is in `run.ts`, which is loaded through the cache of compiled code. */

import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// Stripping types and compiling is most of a start: 1.0 s without the cache, 0.4 s with it. Where the folder cannot be
// written nothing is cached and nothing fails.
enableCompileCache(fileURLToPath(new URL("../../../node_modules/.cache/parley", import.meta.url)));

const { run } = await import("./app/run.ts");
await run();
