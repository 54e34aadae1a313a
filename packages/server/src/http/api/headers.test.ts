import { describe, expect, it } from "vitest";
import { acceptedRequestId, loggedPath, readHeaders, preflightHeaders } from "./headers.ts";

describe("loggedPath", () => {
  it.each([
    ["/calls/1234/server_web_socket/s3cret?clientVersion=1", "/calls/1234/server_web_socket/***"],
    ["/calls/1234/server_web_socket/s3cret/more", "/calls/1234/server_web_socket/***"],
    ["/calls/1234/web_rtc/s3cret#x", "/calls/1234/web_rtc/***"],
    ["/calls//x/", "/calls//x/***"],
    ["/api/calls?search=my+name", "/api/calls"],
    ["/api/calls/1/messages", "/api/calls/1/messages"],
  ])("%s is logged as %s", (url, logged) => {
    expect(loggedPath(url)).toBe(logged);
  });
});

describe("acceptedRequestId", () => {
  it.each(["abc-1", "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11", "a".repeat(128)])("keeps %s", (id) => {
    expect(acceptedRequestId(id)).toBe(id);
  });
  it.each([undefined, "", "a b", "a".repeat(129), "é", "a\nb", ["a", "b"]])("does not keep %j", (id) => {
    expect(acceptedRequestId(id)).toBeNull();
  });
});

describe("preflightHeaders", () => {
  it("lets any origin send X-Unsafe-API-Key, and only listed ones X-API-Key", () => {
    const any = preflightHeaders("https://a.example", ["GET"], ["https://b.example"]);
    expect(any["access-control-allow-headers"]).toBe("X-Unsafe-API-Key, Content-Type, Idempotency-Key");
    const listed = preflightHeaders("https://b.example", ["GET"], ["https://b.example"]);
    expect(listed["access-control-allow-headers"]).toContain("X-API-Key, ");
    for (const headers of [any, listed]) {
      expect(headers["access-control-allow-origin"]).toBe("*");
      expect(headers["access-control-allow-credentials"]).toBeUndefined();
    }
  });
});

describe("readHeaders", () => {
  it("keeps a valid traceparent, and ignores a wrong one", () => {
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    expect(readHeaders({ traceparent }).traceParent).toBe(traceparent);
    expect(readHeaders({ traceparent: `${traceparent}, ${traceparent}` }).traceParent).toBeUndefined();
    expect(readHeaders({}).traceParent).toBeUndefined();
  });
});
