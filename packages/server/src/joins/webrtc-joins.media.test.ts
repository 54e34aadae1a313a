import { isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";
import { pino } from "pino";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { RTCPeerConnection } from "werift";
import type { WebRtcAnswer } from "./api.ts";
import { eventually, TransportRecord } from "../ports/testing/transport-conformance.ts";
import type { ConnectOutcome } from "../runner/live-calls.ts";
import type { LegTransport } from "../transports/rtc/leg.ts";
import { startMediaThread } from "../app/media-threads/start-media-thread.ts";
import { openLegThreads } from "../transports/rtc/leg-threads.ts";
import { RoomSockets } from "./rooms/room-sockets.ts";
import { openWebRtcJoins } from "./webrtc-joins.ts";
import type { WebRtcSettings } from "../config/webrtc.ts";

const SETTINGS: WebRtcSettings = { iceServers: [], portRange: null, announcedAddress: null };
/** Two ports that no other test uses; below the range of ephemeral ports. */
const RANGE = [29_310, 29_311] as const;
const MEDIUM = {
  kind: "webRtc",
  inputSampleRateHz: 16_000,
  outputSampleRateHz: 16_000,
  clientBufferSizeMs: 60,
  mediaIdleTimeoutMs: null,
} as const;
const QUERY = { clientVersion: null, apiVersion: null, experimentalMessages: [] };
const HAS_IPV6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === "::1"),
);

const threads = openLegThreads({
  start: startMediaThread,
  maxThreads: 2,
  listener: {
    log: (message) => process.stderr.write(`${message}\n`),
    threadLost: () => undefined,
    legFaulty: () => undefined,
  },
});
afterAll(() => threads.close());

describe("joins by WebRTC", () => {
  function setUp(host: string, settings: Partial<WebRtcSettings> = {}) {
    const records = new Map<string, TransportRecord>();
    const transports = new Map<string, LegTransport>();
    let outcome: ConnectOutcome = "connected";
    const joins = openWebRtcJoins({
      host,
      settings: { ...SETTINGS, ...settings },
      liveCalls: {
        accountOf: () => "account",
        awaitsJoin: () => Promise.resolve("joinable"),
        connectCall: (callId, open) => {
          if (outcome !== "connected") return Promise.resolve(outcome);
          const record = new TransportRecord();
          records.set(callId, record);
          transports.set(callId, open(MEDIUM, record) as LegTransport);
          return Promise.resolve("connected");
        },
      },
      openLeg: threads.open,
      roomSockets: new RoomSockets({ endCall: () => undefined }),
      logger: pino({ level: "silent" }),
      silenceLimitMs: 1_000,
    });
    onTestFinished(() => joins.close());
    return {
      joins,
      records,
      transports,
      refuse: (other: ConnectOutcome) => (outcome = other),
      offer: (callId: string, sdp: string) => joins.offer({ callId, sdp, query: QUERY }),
    };
  }

  async function clientAt(address: string) {
    const client = new RTCPeerConnection({
      iceServers: [],
      iceUseIpv4: false,
      iceUseIpv6: false,
      iceAdditionalHostAddresses: [address],
      iceInterfaceAddresses: isIPv6(address) ? { udp6: address } : { udp4: address },
    });
    onTestFinished(() => client.close());
    client.addTransceiver("audio");
    client.createDataChannel("messages");
    await client.setLocalDescription(await client.createOffer());
    return { client, sdp: client.localDescription?.sdp ?? "" };
  }

  function answered(answer: WebRtcAnswer) {
    if (answer.kind !== "answered") throw new Error(`the offer was not answered: ${answer.kind}`);
    return answer;
  }

  /** `address port` of each candidate, each once. */
  function places(sdp: string): string[] {
    const found = sdp.matchAll(/^a=candidate:\S+ 1 udp \d+ (\S+) (\d+) typ host/gm);
    return [...new Set([...found].map(([, address = "", port = ""]) => `${address} ${port}`))];
  }

  it.each<[string, string | null, string]>([
    ["127.0.0.1", null, "127.0.0.1"],
    ["localhost", null, "127.0.0.1"],
    ["0.0.0.0", "127.0.0.1", "127.0.0.1"],
    ...(HAS_IPV6 ? [["::1", null, "::1"] satisfies [string, null, string]] : []),
  ])("take media at the right address (HOST %s, announced %s)", async (host, announcedAddress, address) => {
    const { offer, records } = setUp(host, { announcedAddress });
    const { client, sdp } = await clientAt(address);
    const answer = answered(await offer("call", sdp));
    expect(places(answer.sdp).map((place) => place.split(" ")[0])).toEqual([address]);
    await client.setRemoteDescription({ type: "answer", sdp: answer.sdp });
    await eventually(() => records.has("call"), "the call");
    await client.close();
    await eventually(() => records.get("call")?.closings.length === 1, "the hang-up");
    expect(records.get("call")?.closings).toEqual([{ regular: true, code: 1000 }]);
  });

  it("take a port of the range for each call, refuse when none is left, and give it back", async () => {
    const { joins, offer } = setUp("127.0.0.1", { portRange: RANGE });
    const { sdp } = await clientAt("127.0.0.1");
    const given = await Promise.all(["one", "two"].map((callId) => offer(callId, sdp)));
    const [first, second] = given.map(answered);
    const ports = [first, second].flatMap((answer) => places(answer?.sdp ?? ""));
    expect(ports.sort()).toEqual(RANGE.map((port) => `127.0.0.1 ${String(port)}`));
    expect(await offer("three", sdp)).toEqual({ kind: "no_capacity" });
    expect(await joins.hangUp({ callId: "one", connectionId: first?.connectionId ?? "" })).toBe("done");
    let again: WebRtcAnswer = { kind: "no_capacity" };
    for (let tries = 0; again.kind !== "answered" && tries < 50; tries += 1)
      again = await offer("three", sdp);
    expect(places(answered(again).sdp)).toEqual(places(first?.sdp ?? ""));
  });

  it.each<[string, (sdp: string) => string]>([
    [
      "whose codecs are outside of the audio line",
      (sdp) => {
        const [opus = ""] = /^a=rtpmap:\d+ opus.*\r\n/im.exec(sdp) ?? [];
        return sdp.replace(opus, "").replace(/^m=audio/m, `${opus}m=audio`);
      },
    ],
    ["whose audio line has port 0", (sdp) => sdp.replace(/^m=audio \d+ /m, "m=audio 0 ")],
  ])("refuse an offer %s, and count it", async (_what, change) => {
    const { offer } = setUp("127.0.0.1");
    const { client, sdp } = await clientAt("127.0.0.1");
    client.createDataChannel("messages");
    await client.setLocalDescription(await client.createOffer());
    const offers = [sdp, client.localDescription?.sdp ?? "", sdp, sdp, sdp].map(change);
    for (const changed of offers) {
      expect(await offer("call", changed)).toEqual({
        kind: "refused",
        reason: "cannot be answered by this service",
      });
    }
    expect(await offer("call", change(sdp))).toMatchObject({ kind: "too_many" });
  });

  it("answer a second offer of the same call, and let go of the first", async () => {
    const { offer, records } = setUp("127.0.0.1", { portRange: RANGE });
    const { sdp } = await clientAt("127.0.0.1");
    for (let tries = 0; tries < 4; tries += 1) answered(await offer("call", sdp));
    const { client, sdp: last } = await clientAt("127.0.0.1");
    await client.setRemoteDescription({ type: "answer", sdp: answered(await offer("call", last)).sdp });
    await eventually(() => records.has("call"), "the call");
    expect(records.get("call")?.closings).toEqual([]);
  });

  it("restart the network by new credentials alone, for the call that owns the connection", async () => {
    const { joins, offer, records, transports } = setUp("127.0.0.1");
    const { client, sdp } = await clientAt("127.0.0.1");
    const { sdp: answer, connectionId } = answered(await offer("call", sdp));
    await client.setRemoteDescription({ type: "answer", sdp: answer });
    await eventually(() => records.has("call"), "the call");
    const connection = { callId: "call", connectionId };
    const fragment =
      "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=ice-ufrag:abcd\r\na=ice-pwd:abcdefghijklmnopqrstuv\r\n";
    expect(await joins.patch({ ...connection, callId: "other" }, fragment)).toEqual({ kind: "unknown" });
    expect(await joins.patch(connection, "hello")).toMatchObject({ kind: "refused" });
    const trickled = await joins.patch(connection, "a=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n");
    expect(trickled).toEqual({ kind: "taken", fragment: null });
    const restarted = await joins.patch(connection, fragment);
    if (restarted.kind !== "taken" || restarted.fragment === null) throw new Error("it was not restarted");
    const ufrag = /a=ice-ufrag:(\S+)/.exec(restarted.fragment)?.[1];
    expect(ufrag).not.toBe(/a=ice-ufrag:(\S+)/.exec(answer)?.[1]);
    expect(places(restarted.fragment)).toEqual(places(answer));
    // The same again, as after an answer that was lost, starts nothing new and is answered again.
    expect(await joins.patch(connection, fragment)).toEqual(restarted);
    const later = `${fragment}a=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n`;
    expect(await joins.patch(connection, later)).toEqual({ kind: "taken", fragment: null });
    const others = ["efgh", "ijkl"].map((ufrag) => fragment.replace("abcd", ufrag));
    const both = await Promise.all(others.map((other) => joins.patch(connection, other)));
    const answers = both.map((patched) => (patched.kind === "taken" ? patched.fragment : null));
    expect(new Set([restarted.fragment, ...answers]).size).toBe(3);
    expect(await joins.hangUp(connection)).toBe("done");
    expect(records.get("call")?.closings).toEqual([{ regular: true, code: 1000 }]);
    expect(transports.get("call")?.sendAudio(new Int16Array(320))).toBe(false);
    expect(await joins.hangUp(connection)).toBe("unknown");
    expect(await joins.patch(connection, fragment)).toEqual({ kind: "unknown" });
  });

  it("let go of a connection whose call is over by then", async () => {
    const { offer, refuse, records } = setUp("127.0.0.1", { portRange: RANGE });
    refuse("gone");
    for (let calls = 0; calls < 4; calls += 1) {
      const { client, sdp } = await clientAt("127.0.0.1");
      let answer: WebRtcAnswer = { kind: "no_capacity" };
      const deadline = performance.now() + 5_000;
      while (answer.kind !== "answered" && performance.now() < deadline)
        answer = await offer(String(calls), sdp);
      await client.setRemoteDescription({ type: "answer", sdp: answered(answer).sdp });
    }
    expect(records.size).toBe(0);
  });
});
