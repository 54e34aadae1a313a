import { expect, it } from "vitest";
import { RequestTimedOut } from "../../net/guarded-fetch.ts";
import { TargetRefused } from "../../net/target-url.ts";
import { failureLine } from "./failure-line.ts";

const coded = (code: string, cause?: unknown): Error =>
  Object.assign(new Error("secret detail", { cause }), { code });

it.each([
  [new RequestTimedOut(10_000), "timeout after 10s"],
  [new TargetRefused("address not allowed"), "address not allowed"],
  [coded("ECONNREFUSED"), "connection refused"],
  [coded("ENOTFOUND"), "name not found"],
  [coded("CERT_HAS_EXPIRED"), "certificate has expired"],
  [coded("UND_ERR_OTHER", coded("ECONNRESET")), "connection closed"],
  [coded("EPROTO"), "no answer (EPROTO)"],
  [coded("not a code: <script>"), "no answer"],
  [new Error("what the other side sent"), "no answer"],
  ["text", "no answer"],
])("%s is %s", (error, line) => {
  expect(failureLine(error)).toBe(line);
});

it("does not run in circles", () => {
  const error: Error & { cause?: unknown } = new Error("a");
  error.cause = error;
  expect(failureLine(error)).toBe("no answer");
});
