import { describe, expect, it } from "vitest";
import {
  isReturnUrl,
  MAX_BROKEN_STREAMS,
  nextStream,
  readReturn,
  returnUrlOf,
  STEADY_STREAM_MS,
  streamOf,
  type StreamReturn,
} from "./stream-returns.ts";

const PUBLIC_URL = "https://voice.example";
const CALL = { callId: "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11", joinToken: "token-_1" };
const STREAM: StreamReturn = { brokenStreams: 3, issuedAtMs: 1_760_000_000_000 };

describe("the URL that a carrier returns to", () => {
  const url = returnUrlOf(PUBLIC_URL, CALL, STREAM);

  it("says what the service has written into it", () => {
    expect(url).toContain(`/calls/${CALL.callId}/carrier_instructions?after=3.1760000000000.`);
    expect(isReturnUrl(url)).toBe(true);
    expect(readReturn(url, CALL)).toEqual(STREAM);
  });

  it("is of one call, and has no secret in it", () => {
    expect(url).not.toContain(CALL.joinToken);
    expect(readReturn(url, { ...CALL, callId: "another" })).toBeNull();
    expect(readReturn(url, { ...CALL, joinToken: "token-_2" })).toBeNull();
  });

  it.each([
    ["another count", url.replace("after=3.", "after=0.")],
    ["another time", url.replace(".1760000000000.", ".1760000000001.")],
    ["another signature", `${url.slice(0, -1)}${url.endsWith("A") ? "B" : "A"}`],
    ["a longer signature", `${url}A`],
    ["no signature", url.slice(0, url.lastIndexOf("."))],
    ["no value", url.replace(/after=.*/, "after=")],
    ["no query", url.replace(/\?.*/, "")],
    ["no URL", "after=3"],
  ])("is not believed with %s", (_, forged) => {
    expect(readReturn(forged, CALL)).toBeNull();
  });
});

describe("the streams of a call", () => {
  it("begin at once, and after a pause where the one before broke at once", () => {
    expect(streamOf(PUBLIC_URL, "telephony1", CALL, { ...STREAM, brokenStreams: 0 })).toMatchObject({
      streamUrl: `wss://voice.example/calls/${CALL.callId}/telephony1/token-_1`,
      pauseSeconds: 0,
    });
    expect(streamOf(PUBLIC_URL, "telephony1", CALL, STREAM).pauseSeconds).toBe(1);
  });

  it("are counted only while they break at once", () => {
    const { issuedAtMs } = STREAM;
    expect(nextStream(STREAM, issuedAtMs + 100)).toEqual({ brokenStreams: 4, issuedAtMs: issuedAtMs + 100 });
    const laterMs = issuedAtMs + STEADY_STREAM_MS;
    expect(nextStream(STREAM, laterMs)).toEqual({ brokenStreams: 0, issuedAtMs: laterMs });
    // The clocks of two processes differ.
    expect(nextStream(STREAM, issuedAtMs - 500)).toMatchObject({ brokenStreams: 4 });
  });

  it("are not tried again without end", () => {
    let stream: StreamReturn | null = { brokenStreams: 0, issuedAtMs: 0 };
    let tries = 0;
    while (stream !== null) {
      stream = nextStream(stream, stream.issuedAtMs + 1_000);
      tries += 1;
    }
    expect(tries).toBe(MAX_BROKEN_STREAMS + 1);
  });
});
