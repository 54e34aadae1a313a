/** The service's log: JSON lines, or readable ones on a terminal. Never transcripts, prompts or keys. */

import { pino, type Logger, type LoggerOptions } from "pino";
import { RepeatedLines } from "../pacing/repeated-lines.ts";

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
  const lines = new RepeatedLines({
    after: (delayMs, fire) => {
      // Counted lines do not hold the process; they are written at its end.
      const timer = setTimeout(fire, delayMs).unref();
      return () => clearTimeout(timer);
    },
  });
  process.once("exit", () => lines.flush());
  const options = { level, hooks: { logMethod: repetitionsCounted(lines) } };
  if (!stream.isTTY) return pino(options, stream);
  return pino(options, { write: (line: string) => void stream.write(readable(line)) });
}

type LogMethod = NonNullable<NonNullable<LoggerOptions["hooks"]>["logMethod"]>;

const WARNING = 40;
/** Characters of an error that tell it from others. */
const ERROR_CHARACTERS = 100;

/**
 * Warnings and errors are written once a minute, with `repeated`: the number of others with the same message and error,
 * of which the fields are those of the latest. Lines about a request are all written, because its answer names them.
 */
export function repetitionsCounted(lines: Pick<RepeatedLines, "say">): LogMethod {
  return function logMethod(args, method, level) {
    const [first, second] = args as readonly unknown[];
    const fields: Readonly<Record<string, unknown>> =
      typeof first === "object" && first !== null ? { ...first } : {};
    const message = typeof first === "string" ? first : typeof second === "string" ? second : "";
    if (level < WARNING || fields["requestId"] !== undefined) {
      method.apply(this, args);
      return;
    }
    const key = JSON.stringify([level, message, errorText(fields)]);
    lines.say(key, (more) => {
      if (more === 0) method.apply(this, args);
      else method.apply(this, [{ ...fields, repeated: more }, message]);
    });
  };
}

function errorText({ error, err }: Readonly<Record<string, unknown>>): string {
  const text = typeof error === "string" ? error : err instanceof Error ? err.message : "";
  return text.slice(0, ERROR_CHARACTERS);
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
