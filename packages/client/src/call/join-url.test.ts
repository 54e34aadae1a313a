import { describe, expect, it } from "vitest";
import { readJoinUrl } from "./join-url.ts";

const PATH = "voice.example/calls/6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11/web_rtc/token";

describe("a join URL", () => {
  it("tells where to send requests and where to open a websocket", () => {
    for (const url of [`ws://${PATH}`, `http://${PATH}`]) {
      expect(readJoinUrl(url)).toEqual({ http: `http://${PATH}`, socket: `ws://${PATH}`, byWebRtc: true });
    }
    expect(readJoinUrl(`wss://${PATH}`)).toMatchObject({ http: `https://${PATH}`, socket: `wss://${PATH}` });
  });

  it("keeps a base path, a port and a query, and takes more of the latter", () => {
    const url = `wss://voice.example:8443/base/calls/x/server_web_socket/token?a=1`;
    expect(readJoinUrl(url, { clientVersion: "shop/4", debug: true })).toEqual({
      http: "https://voice.example:8443/base/calls/x/server_web_socket/token?a=1&clientVersion=shop%2F4&experimentalMessages=debug",
      socket:
        "wss://voice.example:8443/base/calls/x/server_web_socket/token?a=1&clientVersion=shop%2F4&experimentalMessages=debug",
      byWebRtc: false,
    });
  });

  it("asks for early words, alone or with debug messages", () => {
    const messages = (query: Parameters<typeof readJoinUrl>[1]) =>
      new URL(readJoinUrl(`wss://${PATH}`, query).http).searchParams.get("experimentalMessages");
    expect(messages({ partials: true })).toBe("partials");
    expect(messages({ debug: true, partials: true })).toBe("debug,partials");
    expect(messages({ debug: true, returns: true })).toBe("debug,reconnect");
    expect(messages({ debug: false, partials: false })).toBeNull();
  });

  it.each([
    "",
    "voice",
    "ftp://voice.example/calls/x/web_rtc/t",
    "https://voice.example/",
    "wss://voice.example/calls/x",
  ])("is not %j", (text) => {
    expect(() => readJoinUrl(text)).toThrow(expect.objectContaining({ code: "bad_join_url" }));
  });
});
