import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { WebRtcSettings } from "../config/webrtc.ts";
import type { Leg, LegOwner } from "../transports/rtc/leg.ts";
import { RoomSockets } from "./rooms/room-sockets.ts";
import { openWebRtcJoins } from "./webrtc-joins.ts";

const SETTINGS: WebRtcSettings = { iceServers: [], portRange: null, announcedAddress: null };
const QUERY = { clientVersion: null, apiVersion: null, experimentalMessages: [] };
const OFFER = `v=0
o=- 1 1 IN IP4 127.0.0.1
s=-
t=0 0
m=audio 9 UDP/TLS/RTP/SAVPF 111
c=IN IP4 0.0.0.0
a=rtpmap:111 opus/48000/2
a=ice-ufrag:abcd
a=ice-pwd:abcdefghijklmnopqrstuv
a=fingerprint:sha-256 00
a=setup:actpass
`.replaceAll("\n", "\r\n");
const restartOf = (ufrag: string): string =>
  `m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=ice-ufrag:${ufrag}\r\na=ice-pwd:abcdefghijklmnopqrstuv\r\n`;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Joins whose legs are answered by hand, and never connected. */
function setUp({ byHand = false } = {}) {
  const opened: { readonly owner: LegOwner; isClosed: boolean; restarts: number }[] = [];
  const waiting: (() => void)[] = [];
  const joins = openWebRtcJoins({
    host: "127.0.0.1",
    settings: SETTINGS,
    liveCalls: {
      accountOf: (callId) => `account of ${callId}`,
      awaitsJoin: () => Promise.resolve("joinable"),
      connectCall: () => Promise.resolve("gone"),
    },
    openLeg: async (_offer, _options, owner) => {
      const known = { owner, isClosed: false, restarts: 0 };
      opened.push(known);
      if (byHand) await new Promise<void>((resolve) => waiting.push(resolve));
      return {
        answer: OFFER,
        connected: new Promise(() => undefined),
        attach: () => {
          throw new Error("it is never connected");
        },
        restart: () => {
          known.restarts += 1;
          return Promise.resolve(OFFER);
        },
        close: () => {
          known.isClosed = true;
          return Promise.resolve();
        },
      } satisfies Leg;
    },
    roomSockets: new RoomSockets({ endCall: () => undefined }),
    logger: pino({ level: "silent" }),
  });
  const offer = (callId: string) => joins.offer({ callId, sdp: OFFER, query: QUERY });
  return { joins, opened, waiting, offer };
}

describe("offers of one call", () => {
  it("are answered one at a time", async () => {
    const { offer, opened, waiting } = setUp({ byHand: true });
    const first = offer("a");
    await vi.waitFor(() => expect(waiting).toHaveLength(1));
    expect(await offer("a")).toEqual({ kind: "pending" });
    const other = offer("b");
    await vi.waitFor(() => expect(waiting).toHaveLength(2));
    for (const answer of waiting) answer();
    expect([(await first).kind, (await other).kind]).toEqual(["answered", "answered"]);
    expect(opened.map(({ owner }) => owner)).toEqual([
      { callId: "a", accountId: "account of a" },
      { callId: "b", accountId: "account of b" },
    ]);
  });

  it("are five a minute, the last of which replaces those before", async () => {
    const { offer, opened } = setUp();
    for (let times = 0; times < 5; times += 1) expect((await offer("a")).kind).toBe("answered");
    expect(opened.map(({ isClosed }) => isClosed)).toEqual([true, true, true, true, false]);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await offer("a")).toEqual({ kind: "too_many", waitMs: 40_000 });
    expect(opened.at(-1)?.isClosed).toBe(false);
    await vi.advanceTimersByTimeAsync(40_000);
    expect((await offer("a")).kind).toBe("answered");
  });

  it("do not take the places of others, however many there are", async () => {
    const { offer } = setUp();
    for (let times = 0; times < 1_000; times += 1) await offer("a");
    for (let call = 0; call < 255; call += 1) expect((await offer(`b${String(call)}`)).kind).toBe("answered");
    // All places of the process are taken.
    expect((await offer("c")).kind).toBe("no_capacity");
  });
});

describe("restarts of one call", () => {
  it("are ten a minute, while the same again and candidates alone are not counted", async () => {
    const { joins, offer, opened } = setUp();
    const answer = await offer("a");
    if (answer.kind !== "answered") throw new Error("it was not answered");
    const connection = { callId: "a", connectionId: answer.connectionId };
    for (let times = 0; times < 10; times += 1) {
      const fragment = restartOf(`user${String(times)}`);
      expect((await joins.patch(connection, fragment)).kind).toBe("taken");
      expect((await joins.patch(connection, fragment)).kind).toBe("taken");
    }
    expect(await joins.patch(connection, restartOf("another"))).toEqual({ kind: "too_many", waitMs: 60_000 });
    expect((await joins.patch(connection, restartOf("user9"))).kind).toBe("taken");
    expect(opened[0]?.restarts).toBe(10);
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await joins.patch(connection, restartOf("another"))).kind).toBe("taken");
  });

  it("do not wait for each other without end", async () => {
    const { joins, offer } = setUp();
    const answer = await offer("a");
    if (answer.kind !== "answered") throw new Error("it was not answered");
    const connection = { callId: "a", connectionId: answer.connectionId };
    const many = Array.from({ length: 100 }, () => joins.patch(connection, restartOf("user")));
    const kinds = (await Promise.all(many)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "too_many")).toHaveLength(100 - 32);
    expect((await joins.patch(connection, restartOf("user"))).kind).toBe("taken");
  });
});
