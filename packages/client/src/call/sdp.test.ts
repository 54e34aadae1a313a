import { describe, expect, it } from "vitest";
import { iceServersOf, restartedAnswer, restartFragment } from "./sdp.ts";

const lines = (...all: readonly string[]) => all.map((line) => `${line}\r\n`).join("");

describe("ICE servers in Link headers", () => {
  it("are read with their credentials", () => {
    const link =
      '<stun:stun.example:3478>; rel="ice-server", <turn:turn.example?transport=udp>; rel="ice-server"; ' +
      'username="a, \\"b\\""; credential="c;d"; credential-type="password", <https://x.example>; rel="next"';
    expect(iceServersOf(link)).toEqual([
      { urls: "stun:stun.example:3478" },
      { urls: "turn:turn.example?transport=udp", username: 'a, "b"', credential: "c;d" },
    ]);
    expect(iceServersOf("<turn:t.example>; rel=ice-server; username=a; credential=b")).toEqual([
      { urls: "turn:t.example", username: "a", credential: "b" },
    ]);
  });

  it("are none where there are none", () => {
    expect(iceServersOf(null)).toEqual([]);
    expect(iceServersOf("nonsense")).toEqual([]);
  });
});

describe("a restart", () => {
  const offer = lines(
    "v=0",
    "m=audio 9 UDP/TLS/RTP/SAVPF 111",
    "a=ice-ufrag:new1",
    "a=ice-pwd:newpassword",
    "a=mid:0",
  );

  it("asks with the new credentials and the audio line alone", () => {
    expect(restartFragment(offer)).toBe(
      lines("m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=ice-ufrag:new1", "a=ice-pwd:newpassword"),
    );
  });

  it("puts the service's new credentials and candidates in the places of the old ones, in all media", () => {
    const old = "a=candidate:1 1 udp 1 10.0.0.1 5 typ host";
    const fresh = "a=candidate:2 1 udp 1 10.0.0.2 6 typ host";
    const description = (ufrag: string, pwd: string, ofAudio: string[], ofData: string[]) => {
      const credentials = [`a=ice-ufrag:${ufrag}`, `a=ice-pwd:${pwd}`];
      const audio = ["m=audio 9 X", ...credentials, ...ofAudio, "a=mid:0"];
      return lines("v=0", ...audio, "m=application 9 X", ...credentials, ...ofData, "a=mid:1");
    };
    const answer = description("old", "oldpwd", [old], []);
    const fragment = lines("a=ice-lite", "m=audio 9 X", "a=ice-ufrag:fresh", "a=ice-pwd:freshpwd", fresh);
    expect(restartedAnswer(answer, fragment)).toBe(description("fresh", "freshpwd", [fresh], [fresh]));
    expect(restartedAnswer(answer, "m=audio 9 X\r\n")).toBeNull();
  });

  it("keeps the old candidates where a fragment names none", () => {
    const answer = lines(
      "m=audio 9 X",
      "a=ice-ufrag:o",
      "a=ice-pwd:p",
      "a=candidate:1 1 udp 1 10.0.0.1 5 typ host",
    );
    expect(restartedAnswer(answer, lines("a=ice-ufrag:f", "a=ice-pwd:g"))).toContain("a=candidate:1");
  });
});
