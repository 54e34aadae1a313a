import { describe, expect, it } from "vitest";
import { parseJoinPath, parseJoinQuery } from "./join-path.ts";

const callId = "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11";

describe("parseJoinPath", () => {
  it.each([
    ["server_web_socket", "server_web_socket"],
    ["web_rtc", "web_rtc"],
    ["telephony1", "telephony1"],
    ["twilio", "telephony1"],
    ["telnyx", "telephony2"],
    ["plivo", "telephony3"],
    ["exotel", "telephony4"],
  ])("reads the medium %s as %s", (spelled, medium) => {
    const expected = { callId, medium, token: "aB-_9" };
    expect(parseJoinPath(`/calls/${callId}/${spelled}/aB-_9`)).toEqual(expected);
    expect(parseJoinPath(`/calls/${callId.toUpperCase()}/${spelled}/aB-_9/`)).toEqual(expected);
  });

  it.each([
    `/calls/${callId}/server_web_socket`,
    `/calls/${callId}/server_web_socket/`,
    `/calls/${callId}/sip/token`,
    `/calls/${callId}/elevenLabs/token`,
    `/calls/${callId}/server_web_socket/a/b`,
    `/calls/${callId}/server_web_socket/a%2Fb`,
    `/calls/${callId}/server_web_socket/${"a".repeat(257)}`,
    `/calls/1234/server_web_socket/token`,
    `/x/calls/${callId}/server_web_socket/token`,
    `/api/calls`,
  ])("knows no join at %s", (path) => {
    expect(parseJoinPath(path)).toBeNull();
  });
});

describe("parseJoinQuery", () => {
  it("reads what is defined and ignores the rest", () => {
    const query = "clientVersion=web%201.2&apiVersion=1&experimentalMessages=debug,%20other,&x=y";
    expect(parseJoinQuery(new URLSearchParams(query))).toEqual({
      clientVersion: "web 1.2",
      apiVersion: "1",
      experimentalMessages: ["debug", "other"],
    });
  });

  it("takes additionalMessages as another spelling of experimentalMessages", () => {
    const read = (query: string) => parseJoinQuery(new URLSearchParams(query)).experimentalMessages;
    expect(read("additionalMessages=debug")).toEqual(["debug"]);
    expect(read("experimentalMessages=other&additionalMessages=debug")).toEqual(["other", "debug"]);
  });

  it("has nothing for an empty query", () => {
    const nothing = { clientVersion: null, apiVersion: null, experimentalMessages: [] };
    expect(parseJoinQuery(new URLSearchParams(""))).toEqual(nothing);
    expect(parseJoinQuery(new URLSearchParams("clientVersion=&experimentalMessages=,"))).toEqual(nothing);
  });

  it("cuts what is too long, between characters", () => {
    const query = new URLSearchParams({
      clientVersion: "😀".repeat(500),
      experimentalMessages: "a,".repeat(100),
    });
    const parsed = parseJoinQuery(query);
    expect(parsed.clientVersion).toBe("😀".repeat(120));
    expect(parsed.experimentalMessages).toHaveLength(16);
  });
});
