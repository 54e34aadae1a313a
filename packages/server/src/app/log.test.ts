import { expect, it } from "vitest";
import { readable } from "./log.ts";

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
