import { once } from "node:events";
import { type JoinRequest, Ping, SessionDescription } from "@livekit/protocol";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { RtpHeader, RtpPacket } from "werift";
import { WebSocket } from "ws";
import { eventually } from "../../ports/testing/transport-conformance.ts";
import { openOpus } from "../../transports/rtc/opus.ts";
import { RoomCaller } from "./testing/room-caller.ts";
import { CALL, openRoomWorld, type RoomWorld } from "./testing/room-world.ts";

describe("a room", () => {
  let world: RoomWorld;

  beforeEach(async () => {
    world = await openRoomWorld();
  });
  afterEach(() => world.close());

  /** A client in the room, after so many others. */
  async function joined(before = 0) {
    const { room, roomInfo, codes } = await world.openRoomSocket();
    const caller = new RoomCaller();
    onTestFinished(() => caller.close());
    await caller.join(roomInfo.roomUrl, roomInfo.token);
    await eventually(() => world.clients.length > before, "the call");
    return { room, roomInfo, codes, caller };
  }

  it("names itself at the join URL, and carries speech and messages both ways", async () => {
    const { room, roomInfo, caller } = await joined();
    expect(roomInfo).toEqual({ type: "room_info", roomUrl: `${world.url}/room`, token: "t" });
    expect(world.clients).toEqual(["app"]);
    expect(caller.last("join")?.value.otherParticipants[0]?.identity).toBe("agent");
    const answer = caller.last("answer")?.value;
    expect(answer?.sdp).toContain("a=msid:PA_agent|TR_agent_audio TR_agent_audio");
    expect(answer?.sdp.match(/^a=sendonly/gm)).toHaveLength(1);
    expect(Object.values(answer?.midToTrackId ?? {})).toEqual(["TR_agent_audio"]);

    for (let frames = 0; frames < 10; frames += 1)
      world.transport?.sendAudio(new Int16Array(320).fill(1_000));
    await eventually(() => caller.packets >= 10, "the agent's speech");

    await caller.publish();
    expect(caller.last("trackPublished")?.value).toMatchObject({ cid: "microphone" });
    const sender = caller.client.getTransceivers().at(-1)?.sender;
    const codec = await openOpus();
    for (let sequence = 0; sequence < 50; sequence += 1) {
      const timestamp = sequence * 960;
      const header = new RtpHeader({ sequenceNumber: sequence, timestamp, payloadType: 0, ssrc: 0 });
      const payload = Buffer.from(codec.encode(new Int16Array(320).fill(sequence * 100)));
      await sender?.sendRtp(new RtpPacket(header, payload));
    }
    codec.close();
    await eventually(() => world.record.samples().length > 0, "the user's speech");

    world.transport?.sendData({ type: "pong", timestamp: 5 });
    await eventually(() => caller.messages.length === 1, "the message");
    expect(caller.messages).toEqual([{ type: "pong", timestamp: 5 }]);
    caller.say({ type: "ping", timestamp: 6 });
    room.send("a long message");
    await eventually(() => world.record.texts.length === 2, "both messages");
    expect(world.record.texts.map(({ text }) => text).toSorted()).toEqual([
      "a long message",
      '{"type":"ping","timestamp":6}',
    ]);
    expect(world.record.texts.every(({ tooLong }) => !tooLong)).toBe(true);
  });

  it("ends with the call, and the call ends with the socket at the join URL", async () => {
    const first = await joined();
    world.transport?.close(1000, "");
    await eventually(() => first.codes.length === 1 && first.caller.closeCode !== null, "the end");
    expect([first.codes, first.caller.closeCode]).toEqual([[1000], 1000]);
    expect(first.caller.last("leave")?.value.reason).toBe(5);
    expect(world.record.closings).toEqual([{ regular: true, code: 1000 }]);

    const second = await joined(1);
    second.room.close();
    await eventually(() => world.record.closings.length === 2, "the hang-up");
    expect(world.record.closings[1]).toEqual({ regular: true, code: 1000 });
    expect(world.ended).toEqual([]);
  });

  it("counts a closed peer connection as a loss, after which a client returns or leaves", async () => {
    const { roomInfo, caller, room } = await joined();
    await caller.client.close();
    await eventually(() => world.record.closings.length === 1, "the loss");
    expect(world.record.closings).toEqual([{ regular: false, code: 1006 }]);
    expect(room.readyState).toBe(WebSocket.OPEN);
    const again = new RoomCaller();
    onTestFinished(() => again.close());
    await again.join(roomInfo.roomUrl, roomInfo.token);
    await eventually(() => world.clients.length === 2, "the return");
    await again.client.close();
    await eventually(() => world.record.closings.length === 2, "the second loss");
    room.close();
    await eventually(() => world.ended.length === 1, "the end of the call");
    expect(world.ended).toEqual([CALL]);
  });

  it("goes on without its signalling, which may come back", async () => {
    const { roomInfo, caller } = await joined();
    caller.loseSignalling();
    await eventually(() => caller.closeCode !== null, "the loss");
    const participantSid = caller.last("join")?.value.participant?.sid ?? "";
    await caller.connect(roomInfo.roomUrl, roomInfo.token, { reconnect: true, participantSid });
    expect(caller.last("reconnect")).toBeDefined();
    caller.client.restartIce();
    await caller.renegotiate();
    await Promise.all(caller.client.iceTransports.map((ice) => ice.start()));
    caller.say({ type: "ping", timestamp: 7 });
    await eventually(() => world.record.texts.length === 1, "a message after the restart");
    expect(world.record.closings).toEqual([]);
  });

  it("answers pings, and refuses what it does not understand", async () => {
    const { roomInfo, caller } = await joined();
    caller.request({ case: "ping", value: 1n });
    caller.request({ case: "pingReq", value: new Ping({ timestamp: 2n }) });
    await eventually(() => caller.last("pongResp") !== undefined, "the pong");
    expect(caller.last("pong")).toBeDefined();
    caller.sendSignal(Buffer.alloc(1_000, 0xff));
    await eventually(() => caller.closeCode !== null, "the end of the signalling");
    expect(caller.closeCode).toBe(1003);
    for (const join of [
      { reconnect: true, participantSid: "PA_nobody" },
      { publisherOffer: new SessionDescription({ type: "answer", sdp: "v=0" }) },
    ] satisfies Partial<JoinRequest>[]) {
      await caller.connect(roomInfo.roomUrl, roomInfo.token, join);
      await eventually(() => caller.closeCode !== null, "the refusal");
      expect(caller.closeCode).toBe(1003);
    }
    const publisherOffer = new SessionDescription({ type: "offer", sdp: "v=0" });
    await caller.connect(roomInfo.roomUrl, roomInfo.token, { publisherOffer });
    await eventually(() => caller.last("leave") !== undefined, "the refusal of an offer");
    // The call and its media are as they were.
    expect(world.record.closings).toEqual([]);
  });

  it("ends a client whose data packets cannot be read, and no other", async () => {
    const { caller } = await joined();
    for (let packets = 0; packets < 5; packets += 1) caller.channel.send(Buffer.alloc(100, 0xff));
    await eventually(() => world.record.closings.length === 1, "the end");
    expect(world.record.closings).toEqual([{ regular: false, code: 1006 }]);
    expect(world.record.texts).toEqual([]);
  });

  it("is not joined without a socket at the join URL, nor while another client has the call", async () => {
    const { roomInfo, room, codes } = await world.openRoomSocket();
    room.close();
    await eventually(() => codes.length === 1, "the close");
    const caller = new RoomCaller();
    onTestFinished(() => caller.close());
    const publisherOffer = new SessionDescription({ type: "offer", sdp: OFFER });
    await caller.connect(roomInfo.roomUrl, roomInfo.token, { publisherOffer });
    await eventually(() => caller.closeCode !== null, "the refusal");
    expect(caller.last("leave")).toBeDefined();
    world.isTaken = true;
    const other = new WebSocket(`${world.url}/call`);
    onTestFinished(() => other.terminate());
    expect((await once(other, "close"))[0]).toBe(4409);
  });
});

const CREDENTIALS = "a=ice-ufrag:abcd\r\na=ice-pwd:0123456789012345678901\r\na=fingerprint:sha-256 AA:BB\r\n";
const OFFER = `v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\n${CREDENTIALS}a=rtpmap:111 opus/48000/2\r\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:1\r\n`;
