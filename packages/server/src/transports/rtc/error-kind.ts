/** What a log may say about an error of a connection: its message may hold what the other side has sent. */

import { basename } from "node:path";

/** For example `RangeError ERR_OUT_OF_RANGE at sctp.js:673`. */
export function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return `a thrown ${typeof error}`;
  const code = "code" in error && typeof error.code === "string" ? ` ${error.code}` : "";
  // The message is the beginning of the stack, and may have lines that look like those of code.
  const frames = (error.stack ?? "").replace(error.message, "");
  const [, file, line] = /^\s+at .*?([^\s()]+\.[jt]s):(\d+):\d+\)?$/m.exec(frames) ?? [];
  return `${error.name}${code}${file === undefined ? "" : ` at ${basename(file)}:${line ?? ""}`}`;
}
