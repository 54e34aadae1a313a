import { expect, test } from "vitest";
import { directionText, mediumText, phoneFactsOf, phoneStatusOf } from "./phone-facts.ts";

const OUTGOING = {
  medium: { telephony1: { outgoing: { to: "+4930123456", from: "+4930654321" } } },
  requestContext: null,
};
const INCOMING = {
  medium: { telephony2: {} },
  requestContext: { telephony2: { From: "+4930111", To: "+4930222", CallSid: "CA1" } },
};

test("a call that the service dials has its two numbers", () => {
  expect(phoneFactsOf(OUTGOING)).toEqual({
    carrier: "Twilio",
    direction: "outgoing",
    from: "+4930654321",
    to: "+4930123456",
    carrierCallId: null,
  });
  expect(mediumText(OUTGOING)).toBe("Twilio, outgoing");
});

test("a call that came in has the numbers and the id of the carrier's request", () => {
  expect(phoneFactsOf(INCOMING)).toEqual({
    carrier: "Telnyx",
    direction: "incoming",
    from: "+4930111",
    to: "+4930222",
    carrierCallId: "CA1",
  });
  expect(mediumText(INCOMING)).toBe("Telnyx, incoming");
});

test("a call that came in over SIP has the two addresses", () => {
  const sip = {
    callerId: "+4930",
    fromUri: "sip:+4930@a.example",
    toUri: "sip:agent_1@b.example",
    headers: {},
  };
  expect(phoneFactsOf({ medium: { sip: { incoming: {} } }, requestContext: { sip } })).toEqual({
    carrier: "SIP",
    direction: "incoming",
    from: "sip:+4930@a.example",
    to: "sip:agent_1@b.example",
    carrierCallId: null,
  });
});

test("a call that a program of the account has connected has no direction", () => {
  const call = { medium: { telephony4: {} }, requestContext: null };
  expect(phoneFactsOf(call)).toMatchObject({ carrier: "Exotel", direction: null, from: null });
  expect(mediumText(call)).toBe("Exotel");
  expect(directionText({ direction: null })).toBe("Connected by your program");
});

test("fields of another type than text are left out", () => {
  const call = { medium: { telephony1: {} }, requestContext: { telephony1: { From: 5, To: "" } } };
  expect(phoneFactsOf(call)).toMatchObject({ direction: "incoming", from: null, to: null });
});

test("other media are no phone calls", () => {
  expect(phoneFactsOf({ medium: { webRtc: {} }, requestContext: null })).toBeNull();
  expect(phoneFactsOf({ medium: {}, requestContext: null })).toBeNull();
  expect(mediumText({ medium: {}, requestContext: null })).toBe("WebRTC");
});

test("before somebody answers, the status says what the phone does", () => {
  const at = "2026-01-01T12:00:00.000Z";
  const textOf = (call: Partial<Parameters<typeof phoneStatusOf>[0]>) =>
    phoneStatusOf({ ...OUTGOING, joined: null, ended: null, endReason: null, ...call }).text;
  expect(textOf({})).toBe("Calling");
  expect(textOf({ ended: at, endReason: "unjoined" })).toBe("Not connected");
  expect(textOf({ ended: at, endReason: "system_error" })).toBe("System error");
  expect(textOf({ joined: at })).toBe("In progress");
  expect(textOf(INCOMING)).toBe("Waiting");
});
