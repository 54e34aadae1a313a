import { describe, expect, it } from "vitest";
import { CallMedium, DataConnectionConfig, mediumKindOf } from "./call-medium.ts";
import { parseBody } from "../values/parse-body.ts";
import { problemsOf, type Row } from "../testing/problems.ts";

const outgoing = { to: "+15550001", from: "+15550002" };
const webSocket = (fields: object) => ({ serverWebSocket: { inputSampleRate: 16_000, ...fields } });

describe("media", () => {
  it.each<Row>([
    ["none", {}, []],
    ["webRtc", { webRtc: { dataMessages: { debug: true } } }, []],
    [
      "a flag that is no boolean",
      { webRtc: { dataMessages: { debug: 1 } } },
      ["webRtc.dataMessages.debug: must be true or false"],
    ],
    [
      "a flag that does not exist",
      { webRtc: { dataMessages: { transcripts: true } } },
      [
        "webRtc.dataMessages.transcripts: is not a known field here; did you mean webRtc.dataMessages.transcript?",
      ],
    ],
    [
      "serverWebSocket",
      webSocket({ outputSampleRate: 48_000, clientBufferSizeMs: 0, mediaIdleTimeout: "5s" }),
      [],
    ],
    ["no rate", { serverWebSocket: {} }, ["serverWebSocket.inputSampleRate: is required"]],
    [
      "rates out of bounds",
      { serverWebSocket: { inputSampleRate: 7999, outputSampleRate: 48_001 } },
      [
        "serverWebSocket.inputSampleRate: must be a whole number from 8000 to 48000",
        "serverWebSocket.outputSampleRate: must be a whole number from 8000 to 48000",
      ],
    ],
    [
      "half a hertz",
      { serverWebSocket: { inputSampleRate: 16_000.5 } },
      ["serverWebSocket.inputSampleRate: must be a whole number from 8000 to 48000"],
    ],
    [
      "buffers out of bounds",
      webSocket({ clientBufferSizeMs: 120_001, mediaIdleTimeout: "-1s" }),
      [
        "serverWebSocket.clientBufferSizeMs: must be a whole number from 0 to 120000",
        "serverWebSocket.mediaIdleTimeout: must be at least 0s",
      ],
    ],
    ["telephony1 incoming", { telephony1: {} }, []],
    [
      "telephony2 outgoing",
      { telephony2: { outgoing: { ...outgoing, additionalParams: { Timeout: 20 } } } },
      [],
    ],
    [
      "telephony3 without a destination",
      { telephony3: { outgoing: { from: "+1" } } },
      ["telephony3.outgoing.to: is required"],
    ],
    [
      "parameters that are ours",
      {
        telephony1: {
          outgoing: { ...outgoing, additionalParams: { Url: "x", to: "y", StatusCallback: "z" } },
        },
      },
      [
        "telephony1.outgoing.additionalParams.Url: is set by the service and cannot be given here",
        "telephony1.outgoing.additionalParams.to: is set by the service and cannot be given here",
      ],
    ],
    [
      "an answer address of another carrier",
      { telephony3: { outgoing: { ...outgoing, additionalParams: { answer_url: "x" } } } },
      ["telephony3.outgoing.additionalParams.answer_url: is set by the service and cannot be given here"],
    ],
    [
      "an address for errors over telephony1",
      { telephony1: { outgoing: { ...outgoing, additionalParams: { FallbackUrl: "x" } } } },
      ["telephony1.outgoing.additionalParams.FallbackUrl: is set by the service and cannot be given here"],
    ],
    [
      "an address for errors over telephony2",
      { telephony2: { outgoing: { ...outgoing, additionalParams: { FallbackUrl: "x" } } } },
      ["telephony2.outgoing.additionalParams.FallbackUrl: is set by the service and cannot be given here"],
    ],
    [
      "an address for errors over telephony3",
      { telephony3: { outgoing: { ...outgoing, additionalParams: { fallback_url: "x" } } } },
      ["telephony3.outgoing.additionalParams.fallback_url: is set by the service and cannot be given here"],
    ],
    ["telephony4", { telephony4: { dtmfHandling: { ignore: true } } }, []],
    [
      "keys that are both ignored and told",
      { telephony4: { dtmfHandling: { ignore: true, userTextMessage: {} } } },
      [
        "telephony4.dtmfHandling: must have at most one of ignore, userTextMessage; it has ignore and userTextMessage",
      ],
    ],
    [
      "a text without the keys",
      { telephony1: { dtmfHandling: { userTextMessage: { text: "The caller has pressed keys." } } } },
      [],
    ],
    [
      "a text with another placeholder",
      { telephony1: { dtmfHandling: { userTextMessage: { text: "Pressed: {digit}" } } } },
      ["telephony1.dtmfHandling.userTextMessage.text: must have no other placeholder than {digits}"],
    ],
    ["sip incoming", { sip: { incoming: {} } }, []],
    ["sip outgoing", { sip: { outgoing: { ...outgoing, username: "u", password: "p" } } }, []],
    ["sip without a direction", { sip: {} }, ["sip: must have exactly one of incoming, outgoing"]],
    [
      "sip both ways",
      { sip: { incoming: {}, outgoing } },
      ["sip: must have exactly one of incoming, outgoing; it has incoming and outgoing"],
    ],
    [
      "two media",
      { webRtc: {}, sip: { incoming: {} } },
      [
        ": must have at most one of webRtc, telephony1, serverWebSocket, telephony2, telephony3, telephony4, sip; it has webRtc and sip",
      ],
    ],
    ["an unknown medium", { carrierPigeon: {} }, ["carrierPigeon: is not a known field"]],
  ])("%s", (_, body, problems) => {
    expect(problemsOf(CallMedium, body)).toEqual(problems);
  });

  it("are named", () => {
    expect(mediumKindOf(undefined)).toBe("webRtc");
    expect(mediumKindOf({})).toBe("webRtc");
    expect(mediumKindOf(parseBody(CallMedium, { twilio: {} }))).toBe("telephony1");
    expect(mediumKindOf({ serverWebSocket: { inputSampleRate: 8000 } })).toBe("serverWebSocket");
  });
});

describe("data connections", () => {
  const websocketUrl = "wss://data.example/x";

  it.each<Row>([
    ["a URL", { websocketUrl }, []],
    ["nothing", {}, ["websocketUrl: is required"]],
    [
      "another scheme",
      { websocketUrl: "https://a" },
      ["websocketUrl: must be a URL that begins with ws:// or wss://"],
    ],
    ["no URL", { websocketUrl: "wss://" }, ["websocketUrl: must be a URL that begins with ws:// or wss://"]],
    [
      "a password",
      { websocketUrl: "wss://u:p@a" },
      ["websocketUrl: must not contain a user name or password"],
    ],
    [
      "a long URL",
      { websocketUrl: `wss://a/${"x".repeat(2048)}` },
      ["websocketUrl: must have at most 2048 characters"],
    ],
    ["audio", { websocketUrl, audioConfig: { sampleRate: 8000, channelMode: "CHANNEL_MODE_MIXED" } }, []],
    [
      "audio out of bounds",
      { websocketUrl, audioConfig: { sampleRate: 4000, channelMode: "MIXED" } },
      [
        "audioConfig.sampleRate: must be a whole number from 8000 to 48000",
        "audioConfig.channelMode: must be one of CHANNEL_MODE_MIXED, CHANNEL_MODE_SEPARATED",
      ],
    ],
    ["headers as answers show them", { websocketUrl, headers: { a: "Bear…", b: "…" } }, []],
    ["headers", { websocketUrl, headers: { Authorization: "Bearer x", "X-Some_Name": "" } }, []],
    [
      "headers that are not",
      {
        websocketUrl,
        headers: {
          "X-Service-Call-ID": "1",
          "x-ultravox-signature": "2",
          "a b": "3",
          broken: "a\r\nb",
          umlaut: "ä",
          number: 1,
        },
      },
      [
        "headers.number: must be text",
        "headers.X-Service-Call-ID: is a header that the service sets itself",
        "headers.x-ultravox-signature: is a header that the service sets itself",
        "headers.a b: is not a header name",
        "headers.broken: must be printable ASCII without line breaks",
        "headers.umlaut: must be printable ASCII without line breaks",
      ],
    ],
    [
      "51 headers",
      {
        websocketUrl,
        headers: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`h${index}`, "x"])),
      },
      ["headers: must have at most 50 entries"],
    ],
  ])("%s", (_, body, problems) => {
    expect(problemsOf(DataConnectionConfig, body)).toEqual(problems);
  });
});
