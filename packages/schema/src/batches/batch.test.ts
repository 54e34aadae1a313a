import { describe, expect, it } from "vitest";
import { BatchPatch, BatchSettings, ScheduledCallWrite } from "./batch.ts";
import { DateTime } from "../values/moments.ts";
import { parseBody } from "../values/parse-body.ts";
import { dialledAddress } from "../values/phone-number.ts";
import { problemsOf, type Row } from "../testing/problems.ts";

const hours = { timeZone: "Europe/Zurich", days: ["mon", "fri"], start: "09:00", end: "17:30" };
const retries = { maxAttempts: 5, wait: "600.0s", on: ["busy", "no_answer", "busy"] };

describe("the settings of a batch", () => {
  it("parse to one form", () => {
    const body = {
      name: "Reminders",
      window_start: "2030-01-02T03:04:05",
      windowEnd: "2030-01-02T09:04:05.1234+02:00",
      throttle: "slow",
      webhookUrl: "https://hooks.example",
      webhookSecret: "s",
      paused: true,
      retryPolicy: retries,
      callingHours: { ...hours, days: ["mon", "mon"] },
      maxAttemptsPerNumberPerDay: 20,
      respectDoNotCall: false,
      pauseOnFailureRate: 1,
      batchId: 7,
      totalCount: "many",
    };
    expect(parseBody(BatchSettings, body)).toEqual({
      name: "Reminders",
      windowStart: "2030-01-02T03:04:05.000Z",
      windowEnd: "2030-01-02T07:04:05.123Z",
      throttle: "slow",
      webhookUrl: "https://hooks.example",
      webhookSecret: "s",
      paused: true,
      retryPolicy: { ...retries, wait: "600s", on: ["busy", "no_answer"] },
      callingHours: { ...hours, days: ["mon"] },
      maxAttemptsPerNumberPerDay: 20,
      respectDoNotCall: false,
      pauseOnFailureRate: 1,
    });
    expect(parseBody(BatchSettings, { callingHours: { ...hours, timeZone: "callee" } })).toMatchObject({
      callingHours: { timeZone: "callee" },
    });
    const nothing = { windowStart: null, throttle: null, retryPolicy: null, paused: null };
    expect(parseBody(BatchSettings, nothing)).toEqual({});
    expect(parseBody(BatchPatch, nothing, { partial: true })).toEqual(nothing);
  });

  it.each<Row>([
    ["a moment", { windowStart: "tomorrow" }, ["windowStart: must be an ISO 8601 date-time"]],
    ["a date", { windowEnd: "2030-01-02" }, ["windowEnd: must be an ISO 8601 date-time"]],
    [
      "a day that is none",
      { windowEnd: "2030-02-30T00:00:00Z" },
      ["windowEnd: must be an ISO 8601 date-time"],
    ],
    ["year 0", { windowStart: "0000-06-01T00:00:00Z" }, ["windowStart: must be an ISO 8601 date-time"]],
    ["a blank name", { name: " " }, ["name: must not be blank"]],
    ["a long name", { name: "n".repeat(101) }, ["name: must have at most 100 characters"]],
    ["a throttle", { throttle: "" }, ["throttle: must not be empty"]],
    [
      "a url",
      { webhookUrl: "hooks.example" },
      ["webhookUrl: must be a URL that begins with http:// or https://"],
    ],
    [
      "a long secret",
      { webhookSecret: "x".repeat(121) },
      ["webhookSecret: must have at most 120 characters"],
    ],
    [
      "attempts",
      { retryPolicy: { ...retries, maxAttempts: 6 } },
      ["retryPolicy.maxAttempts: must be a whole number from 1 to 5"],
    ],
    [
      "a retry policy without its parts",
      { retryPolicy: {} },
      ["maxAttempts", "wait", "on"].map((field) => `retryPolicy.${field}: is required`),
    ],
    ["outcomes", { retryPolicy: { ...retries, on: [] } }, ["retryPolicy.on: must have at least 1 entry"]],
    [
      "a long wait",
      { retryPolicy: { ...retries, wait: "86401s" } },
      ["retryPolicy.wait: must be at most 86400s"],
    ],
    ...["Mars/Olympus", "+02:00", ""].map((timeZone): Row => [
      `the time zone "${timeZone}"`,
      { callingHours: { ...hours, timeZone } },
      ["callingHours.timeZone: must be a time zone such as Europe/Zurich, or callee"],
    ]),
    [
      "hours that end before",
      { callingHours: { ...hours, end: "09:00" } },
      ["callingHours.end: must be after start"],
    ],
    [
      "an hour",
      { callingHours: { ...hours, end: "24:00" } },
      ["callingHours.end: must be a time such as 09:30"],
    ],
    [
      "days",
      { callingHours: { ...hours, days: ["monday"] } },
      ["callingHours.days.0: must be one of mon, tue, wed, thu, fri, sat, sun"],
    ],
    [
      "attempts per day",
      { maxAttemptsPerNumberPerDay: 21 },
      ["maxAttemptsPerNumberPerDay: must be a whole number from 1 to 20"],
    ],
    ["a rate", { pauseOnFailureRate: 1.1 }, ["pauseOnFailureRate: must be from 0 to 1"]],
  ])("are refused for %s", (_, body, problems) => {
    expect(problemsOf(BatchSettings, body)).toEqual(problems);
    expect(problemsOf(BatchPatch, body, { partial: true })).toEqual(problems);
  });

  it("do not change the calls", () => {
    expect(problemsOf(BatchPatch, { calls: [] }, { partial: true })).toEqual([
      "calls: cannot be changed; delete the batch and create another one",
    ]);
  });
});

describe("a scheduled call", () => {
  it("may be one that was fetched", () => {
    const call = { metadata: { a: "b" }, templateContext: { x: [1] }, experimentalSettings: { y: 1 } };
    const fetched = { ...call, medium: null, status: "FUTURE", batchId: 1, callId: null, error: {} };
    expect(parseBody(ScheduledCallWrite, fetched)).toEqual(call);
  });

  it.each<Row>([
    ["an unknown field", { phone: "+49" }, ["phone: is not a known field"]],
    ["metadata that a call could not have", { metadata: { a: 1 } }, ["metadata.a: must be text"]],
    ["a context that is no object", { templateContext: [] }, ["templateContext: must be an object"]],
    [
      "a medium without its parts",
      { medium: { telephony1: { outgoing: {} } } },
      ["medium.telephony1.outgoing.to: is required", "medium.telephony1.outgoing.from: is required"],
    ],
  ])("is refused for %s", (_, body, problems) => {
    expect(problemsOf(ScheduledCallWrite, body)).toEqual(problems);
  });
});

describe("a moment of a window", () => {
  it.each([
    ["2030-01-02T03:04:05Z", "2030-01-02T03:04:05.000Z"],
    ["2030-01-02T03:04:05.6789Z", "2030-01-02T03:04:05.678Z"],
    ["2030-01-02T03:04:05", "2030-01-02T03:04:05.000Z"],
    ["2030-01-02T03:04", "2030-01-02T03:04:00.000Z"],
    ["2030-01-02T00:04:05-05:30", "2030-01-02T05:34:05.000Z"],
    ["2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000Z"],
  ])("%s is %s", (given, parsed) => {
    expect(DateTime.parse(given)).toBe(parsed);
    expect(BatchSettings.parse({ windowStart: given }).windowStart).toBe(parsed);
    expect(BatchPatch.parse({ windowEnd: given }).windowEnd).toBe(parsed);
  });
});

describe("an address that is dialled", () => {
  it.each([
    ["+4930123456", "+4930123456"],
    ["  +49 (30) 123-456 ", "+4930123456"],
    ["tel:+49.30.123/456", "+4930123456"],
    ["SIP:Ann@Example.COM", "sip:Ann@example.com"],
    ["sips:+4930@example.com:5061;transport=tls?x=y", "sips:+4930@example.com:5061"],
    ["sip:a;b@[2001:DB8::1]", "sip:a;b@[2001:db8::1]"],
    ["+49 (0)30 1234567", null],
    ["tel:+49(030)1234567", null],
    ["+ 4 9-( 0 ) 30 1234567", null],
    ["+49 (30) 1203 (0)", "+493012030"],
    ["+39 06 1234567", "+39061234567"],
    ["+0123456", null],
    ["4930123456", null],
    ["0049 30 123", null],
    ["+1234567890123456", null],
    ["+49x30", null],
    ["sip:example.com", null],
    ["sip:a@", null],
    ["http://a@b", null],
    [`sip:${"a".repeat(250)}@b.c`, null],
    ["", null],
  ])("%j is %j", (given, canonical) => {
    expect(dialledAddress(given)).toBe(canonical);
  });

  it("has one spelling only", () => {
    for (const text of ["+49 30 1", "SIP:Ann@Example.COM;x", "sip:a@[::1]:5060"]) {
      const canonical = dialledAddress(text) ?? "";
      expect(dialledAddress(canonical)).toBe(canonical);
    }
  });
});
