import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { headerPrefixes } from "@parley/schema";
import { upgradeHeaders } from "./signature.ts";

const NOW_MS = Date.parse("2026-01-02T03:04:05.678Z");
const TIMESTAMP = "2026-01-02T03:04:05.678+00:00";
const base = {
  callId: "call-7",
  headers: {},
  sharedSecrets: [],
  nowMs: NOW_MS,
  prefixes: headerPrefixes("neutral"),
};

function sign(secret: string): string {
  return createHmac("sha256", secret).update(`call-7${TIMESTAMP}`).digest("hex");
}

describe("D127 the headers of the upgrade", () => {
  it("sign the call's id and the time with every secret", () => {
    expect(upgradeHeaders({ ...base, sharedSecrets: ["old", "new"] })).toEqual({
      "X-Service-Call-ID": "call-7",
      "X-Service-Signature-Timestamp": TIMESTAMP,
      "X-Service-Signature": `${sign("old")},${sign("new")}`,
    });
  });

  it("hold a known signature", () => {
    // printf 'call-72026-01-02T03:04:05.678+00:00' | openssl dgst -sha256 -hmac s3cret
    expect(upgradeHeaders({ ...base, sharedSecrets: ["s3cret"] })["X-Service-Signature"]).toBe(
      "99c738a603786180500b4ae3ccdce4315a388f9d7adf6e0de13abfbda010d4e0",
    );
  });

  it("are the custom ones alone without a secret", () => {
    expect(upgradeHeaders({ ...base, headers: { Authorization: "Bearer x" } })).toEqual({
      Authorization: "Bearer x",
    });
  });

  it("are sent under another prefix as well where that is asked for", () => {
    const sent = upgradeHeaders({ ...base, sharedSecrets: ["s"], prefixes: headerPrefixes("vendor") });
    expect(Object.keys(sent)).toHaveLength(6);
    for (const name of ["Call-ID", "Signature-Timestamp", "Signature"]) {
      expect(sent[`X-Ultravox-${name}`]).toBe(sent[`X-Service-${name}`]);
    }
  });

  it.each([
    "X-Service-Signature",
    "x-service-signature",
    "x-SERVICE-call-id",
    "X-Service-Signature-Timestamp",
    "X-Ultravox-Signature",
    "Host",
    "connection",
    "Sec-WebSocket-Key",
    "Content-Length",
    "Bad Name",
    "",
  ])("do not let a custom %j in, with or without secrets", (name) => {
    const headers = { [name]: "forged", "X-Fine": "yes" };
    const alias = { ...base, headers, prefixes: headerPrefixes("vendor") };
    expect(upgradeHeaders(alias)).toEqual({ "X-Fine": "yes" });
    const signed = upgradeHeaders({ ...alias, sharedSecrets: ["s"] });
    expect(Object.values(signed)).not.toContain("forged");
  });

  it("leave out a value with a line break", () => {
    expect(upgradeHeaders({ ...base, headers: { "X-A": "1\r\nX-B: 2", "X-C": "3" } })).toEqual({
      "X-C": "3",
    });
  });
});
