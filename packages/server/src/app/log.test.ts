import { pino } from "pino";
import { expect, it } from "vitest";
import { RepeatedLines } from "../pacing/repeated-lines.ts";
import { readable, repetitionsCounted } from "./log.ts";

it("turns a JSON line into one for people", () => {
  const line = JSON.stringify({
    level: 40,
    time: 0,
    pid: 1,
    hostname: "h",
    callId: "c",
    error: { a: 1 },
    msg: "lost",
  });
  expect(readable(line)).toMatch(/^\d\d:\d\d:\d\d warning lost callId=c error=\{"a":1\}\n$/);
});

it("writes one line for a warning that a caller causes in a loop, and later their number", () => {
  const written: Record<string, unknown>[] = [];
  const lines = new RepeatedLines({ after: () => () => undefined });
  const logger = pino(
    { level: "info", base: null, timestamp: false, hooks: { logMethod: repetitionsCounted(lines) } },
    { write: (line: string) => void written.push(JSON.parse(line) as Record<string, unknown>) },
  );
  for (let count = 0; count < 7_000; count += 1) {
    logger.error({ callId: `c${String(count)}` }, "the store is too slow: a record is lost");
  }
  logger.child({ part: "jobs" }).warn("a thread was lost");
  logger.warn("a thread was lost");
  logger.warn({ error: "no route" }, "it failed");
  logger.warn({ error: "timeout" }, "it failed");
  logger.error({ requestId: "r1" }, "a request failed");
  logger.error({ requestId: "r2" }, "a request failed");
  logger.info("request");
  logger.info("request");
  expect(written).toEqual([
    { level: 50, callId: "c0", msg: "the store is too slow: a record is lost" },
    { level: 40, part: "jobs", msg: "a thread was lost" },
    { level: 40, error: "no route", msg: "it failed" },
    { level: 40, error: "timeout", msg: "it failed" },
    { level: 50, requestId: "r1", msg: "a request failed" },
    { level: 50, requestId: "r2", msg: "a request failed" },
    { level: 30, msg: "request" },
    { level: 30, msg: "request" },
  ]);
  written.length = 0;
  lines.flush();
  expect(written).toEqual([
    { level: 50, callId: "c6999", repeated: 6_999, msg: "the store is too slow: a record is lost" },
    { level: 40, repeated: 1, msg: "a thread was lost" },
  ]);
});
