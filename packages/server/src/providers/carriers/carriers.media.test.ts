import { expect, test } from "vitest";
import { describeCarrierTransfers } from "../../ports/testing/carrier-transfers-conformance.ts";
import { describeCarrierConformance, INTENT } from "../../ports/testing/carriers-conformance.ts";
import { openFakePlivo } from "./testing/fake-plivo.ts";
import { openFakeTelnyx } from "./testing/fake-telnyx.ts";
import { openFakeTwilio } from "./testing/fake-twilio.ts";

const { signal } = new AbortController();

describeCarrierConformance("telephony1", openFakeTwilio);
describeCarrierConformance("telephony2", openFakeTelnyx);
describeCarrierConformance("telephony3", openFakePlivo);
describeCarrierTransfers("telephony1", openFakeTwilio);
describeCarrierTransfers("telephony2", openFakeTelnyx);
describeCarrierTransfers("telephony3", openFakePlivo);

test("a Plivo call to several numbers is refused before it is sent", async () => {
  const { carrier, account, placed, stop } = await openFakePlivo();
  const to = "+4930123456<+19005550100";
  expect(await carrier.dial(account, { ...INTENT, to }, signal)).toMatchObject({
    kind: "refused",
    isPermanent: true,
  });
  expect(placed()).toEqual([]);
  await stop();
});

test.each([
  ["telephony1", openFakeTwilio, { MachineDetection: "Enable" }, ["AsyncAmd", "AsyncAmdStatusCallback"]],
  ["telephony2", openFakeTelnyx, { MachineDetection: "Enable" }, ["AsyncAmd", "AsyncAmdStatusCallback"]],
  ["telephony3", openFakePlivo, { machine_detection: "true" }, ["machine_detection_url"]],
] as const)(
  "%s reports machines to the service where it detects them",
  async (_name, open, additionalParams, names) => {
    const { carrier, account, placed, stop } = await open();
    await carrier.dial(account, { ...INTENT, additionalParams }, signal);
    for (const name of names) expect(placed()[0]?.others).toHaveProperty(name);
    await stop();
  },
);

test("the caller's own status address and ring time win over those of the service", async () => {
  const { carrier, account, placed, stop } = await openFakeTwilio();
  const additionalParams = { StatusCallback: "https://own.example/x", Timeout: 12 };
  await carrier.dial(account, { ...INTENT, additionalParams }, signal);
  expect(placed()).toMatchObject([{ statusUrl: "https://own.example/x", ringSeconds: 17 }]);
  await stop();
});

test("parameters that a form cannot hold are refused", async () => {
  const { carrier, account, placed, stop } = await openFakeTwilio();
  const additionalParams = { CallReason: { nested: true } };
  expect(await carrier.dial(account, { ...INTENT, additionalParams }, signal)).toMatchObject({
    kind: "refused",
    reason: expect.stringContaining("additionalParams.CallReason") as string,
  });
  expect(placed()).toEqual([]);
  await stop();
});

test("a callback of Telnyx that is too old is not signed", async () => {
  const { carrier, account, sign, callback, stop } = await openFakeTelnyx();
  const request = sign(callback("ringing", "x"), "https://voice.example/x");
  const timestampMs = Number(request.headers["telnyx-timestamp"]) * 1000;
  expect(carrier.isSigned(account, request, timestampMs + 299_000)).toBe(true);
  expect(carrier.isSigned(account, request, timestampMs + 301_000)).toBe(false);
  expect(carrier.isSigned(account, request, timestampMs - 301_000)).toBe(false);
  await stop();
});

test("the check of Telnyx says what is wrong with the application", async () => {
  const { carrier, account, failWith, stop } = await openFakeTelnyx();
  const place = { publicUrl: "https://voice.example" };
  const body = JSON.stringify({
    data: { active: false, outbound: {}, voice_url: "https://voice.example/x", voice_method: "get" },
  });
  failWith({ kind: "answers", status: 200, body });
  const found = await carrier.check(account, place, signal);
  expect(found.map(({ severity, field }) => [severity, field])).toEqual([
    ["error", "applicationSid"],
    ["warning", "applicationSid"],
    ["warning", "applicationSid"],
  ]);
  failWith({ kind: "answers", status: 404, body: "{}" });
  expect(await carrier.check(account, place, signal)).toMatchObject([{ field: "applicationSid" }]);
  await stop();
});
