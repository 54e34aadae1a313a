/** The service's log: JSON lines, or readable ones on a terminal. Never transcripts, prompts or keys. */

import { pino, type Logger } from "pino";

/** Fields that are useless at a terminal. */
const QUIET_FIELDS = new Set(["level", "time", "pid", "hostname", "msg"]);
const LEVELS: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "",
  40: "warning ",
  50: "error ",
  60: "fatal ",
};

export function openLog(level: string, stream: NodeJS.WriteStream): Logger {
  if (!stream.isTTY) return pino({ level }, stream);
  return pino({ level }, { write: (line: string) => void stream.write(readable(line)) });
}

/** One JSON line of pino as `12:34:56 warning what happened key=value`. */
export function readable(line: string): string {
  const entry = JSON.parse(line) as { readonly msg?: string; readonly [field: string]: unknown };
  const time = new Date(Number(entry["time"])).toTimeString().slice(0, 8);
  const level = LEVELS[Number(entry["level"])] ?? "";
  const fields = Object.entries(entry)
    .filter(([name]) => !QUIET_FIELDS.has(name))
    .map(([name, value]) => ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return `${time} ${level}${entry.msg ?? ""}${fields.join("")}\n`;
}
