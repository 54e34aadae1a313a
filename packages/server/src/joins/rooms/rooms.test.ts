import { JoinRequest, SessionDescription, SignalRequest, WrappedJoinRequest } from "@livekit/protocol";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TransportRecord } from "../../ports/testing/transport-conformance.ts";
import type { WebRtcSignalling } from "../api.ts";
import { RoomSockets } from "./room-sockets.ts";
import { openRoomSignalling } from "./room-signalling.ts";
import { openRooms } from "./rooms.ts";
import { FakeSocket } from "./testing/fake-socket.ts";

const QUERY = { clientVersion: null, apiVersion: null, experimentalMessages: [] };
const CALL = "call";

beforeEach(
  () => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] }),
);
afterEach(() => void vi.useRealTimers());

function openRoomSockets() {
  const ended: string[] = [];
  let joinings = 0;
  const roomSockets = new RoomSockets({ endCall: (callId) => void ended.push(callId) });
  const open = (): FakeSocket => {
    const socket = new FakeSocket();
    roomSockets.open({
      callId: CALL,
      socket: socket.asSocket(),
      query: QUERY,
      roomUrl: "ws://x/room",
      token: "t",
      joined: () => void (joinings += 1),
    });
    return socket;
  };
  const join = (connectionId: string) => {
    const record = new TransportRecord();
    let hangUps = 0;
    roomSockets.joined(CALL, { connectionId, listener: record, hangUp: () => void (hangUps += 1) });
    return { record, hangUps: () => hangUps };
  };
  return { roomSockets, ended, open, join, joinings: () => joinings };
}

describe("the socket at the join URL", () => {
  it("gets the room and nothing else, and is closed when the room is not joined in time", () => {
    const { roomSockets, open, ended } = openRoomSockets();
    const socket = open();
    expect(socket.sent.map((text) => JSON.parse(String(text)) as unknown)).toEqual([
      { type: "room_info", roomUrl: "ws://x/room", token: "t" },
    ]);
    vi.advanceTimersByTime(59_000);
    expect(socket.code).toBeNull();
    vi.advanceTimersByTime(1_000);
    expect(socket.code).toBe(4406);
    expect([roomSockets.queryOf(CALL), ended]).toEqual([null, []]);
  });

  it("is replaced by a later one of the same call", () => {
    const { roomSockets, open } = openRoomSockets();
    const [first, second] = [open(), open()];
    expect([first.code, second.code]).toEqual([1001, null]);
    expect(roomSockets.queryOf(CALL)).toEqual(QUERY);
    roomSockets.drop(CALL);
    expect(second.code).toBe(1011);
  });

  it("carries messages once the room is joined, and cuts those that are too long", () => {
    const { open, join, joinings } = openRoomSockets();
    const socket = open();
    socket.receive("too early");
    expect(joinings()).toBe(0);
    const { record } = join("one");
    expect(joinings()).toBe(1);
    socket.receive("hello");
    socket.receive("x".repeat(256 * 1_024 + 1));
    expect(record.texts.map(({ text, tooLong }) => [text.length, tooLong])).toEqual([
      [5, false],
      [1_024, true],
    ]);
  });

  it("hangs up when the client closes it, also between two connections", () => {
    const { open, join, roomSockets, ended } = openRoomSockets();
    const socket = open();
    const { hangUps } = join("one");
    socket.leave(1000);
    expect([hangUps(), ended]).toEqual([1, []]);
    const again = open();
    join("two");
    roomSockets.left(CALL, "two", { regular: false });
    again.leave(1001);
    expect(ended).toEqual([CALL]);
  });

  it("says nothing of the call when it is lost, and waits for a lost connection", () => {
    const { open, join, roomSockets } = openRoomSockets();
    const socket = open();
    const { hangUps } = join("one");
    socket.terminate();
    expect(hangUps()).toBe(0);
    const other = open();
    join("two");
    roomSockets.left(CALL, "one", { regular: true });
    expect(other.code).toBeNull();
    roomSockets.left(CALL, "two", { regular: false });
    vi.advanceTimersByTime(14_000);
    expect(other.code).toBeNull();
    vi.advanceTimersByTime(1_000);
    expect(other.code).toBe(1011);
  });
});

describe("the signalling of a room", () => {
  const OFFER = new SessionDescription({ type: "offer", sdp: "v=0", id: 1 });
  const requestOf = (join: Partial<JoinRequest>): string => {
    const wrapped = new WrappedJoinRequest({ joinRequest: new JoinRequest(join).toBinary() });
    return Buffer.from(wrapped.toBinary()).toString("base64url");
  };
  const partsWith = (
    roomSockets: RoomSockets,
    answer: () => ReturnType<WebRtcSignalling["renegotiate"]>,
  ) => ({
    webRtc: { offer: () => new Promise<never>(() => undefined), renegotiate: answer },
    roomSockets,
    iceServers: [],
    logger: pino({ level: "silent" }),
  });

  it("is closed for requests that wait without end", async () => {
    const { roomSockets, open } = openRoomSockets();
    open();
    const socket = new FakeSocket();
    openRoomSignalling(
      partsWith(roomSockets, () => Promise.reject(new Error("not asked"))),
      {
        callId: CALL,
        socket: socket.asSocket(),
        joinRequest: requestOf({ publisherOffer: OFFER }),
        answered: () => undefined,
      },
    );
    const ping = new SignalRequest({ message: { case: "ping", value: 1n } }).toBinary();
    await vi.advanceTimersByTimeAsync(0);
    for (let messages = 0; messages < 256; messages += 1) socket.receive(ping);
    await vi.advanceTimersByTimeAsync(0);
    expect([socket.code, socket.sent.length]).toEqual([null, 1]);
    // More than a window of reading takes: the sender waits.
    for (let messages = 0; messages < 10; messages += 1) socket.receive(ping);
    expect([socket.code, socket.isPaused]).toEqual([null, true]);
    await vi.advanceTimersByTimeAsync(100);
    expect(socket.code).toBe(1008);
    expect(socket.sent).toHaveLength(1);
  });

  it("needs an offer that is answered, and is one for each call", async () => {
    const { roomSockets } = openRoomSockets();
    const parts = partsWith(roomSockets, () => Promise.resolve({ kind: "answered", sdp: "v=0" }));
    const rooms = openRooms({ ...parts, liveCalls: { awaitsJoin: () => Promise.resolve("joinable") } });
    const participantSid = "PA_975d1713-022b-4685-b88a-8f2bd61f2eff";
    let answers = 0;
    const join = async (publisherOffer?: SessionDescription): Promise<FakeSocket> => {
      const socket = new FakeSocket();
      const request = { reconnect: true, participantSid, ...(publisherOffer && { publisherOffer }) };
      await rooms.signal({
        callId: CALL,
        socket: socket.asSocket(),
        joinRequest: requestOf(request),
        answered: () => void (answers += 1),
      });
      await vi.advanceTimersByTimeAsync(0);
      return socket;
    };
    const first = await join(OFFER);
    const second = await join();
    expect([first.code, second.code, answers]).toEqual([1001, null, 1]);
    await vi.advanceTimersByTimeAsync(29_000);
    expect(second.code).toBeNull();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(second.code).toBe(1008);
    const third = await join(OFFER);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(third.code).toBeNull();
    third.terminate();
  });

  it("is closed for requests that wait with too many bytes", async () => {
    const { roomSockets } = openRoomSockets();
    const socket = new FakeSocket();
    openRoomSignalling(
      partsWith(roomSockets, () => Promise.reject(new Error("not asked"))),
      {
        callId: CALL,
        socket: socket.asSocket(),
        joinRequest: requestOf({ publisherOffer: OFFER }),
        answered: () => undefined,
      },
    );
    await vi.advanceTimersByTimeAsync(0);
    const long = Buffer.alloc(80 * 1_024);
    for (let messages = 0; messages < 3; messages += 1) socket.receive(long);
    await vi.advanceTimersByTimeAsync(200);
    expect(socket.code).toBeNull();
    socket.receive(long);
    await vi.advanceTimersByTimeAsync(200);
    expect(socket.code).toBe(1008);
  });

  it("ends with a room that was opened after it, once an offer was answered", async () => {
    const { roomSockets, open } = openRoomSockets();
    const parts = partsWith(roomSockets, () => {
      open();
      return Promise.resolve({ kind: "answered", sdp: "v=0" });
    });
    const socket = new FakeSocket();
    const participantSid = "PA_975d1713-022b-4685-b88a-8f2bd61f2eff";
    const joinRequest = requestOf({ reconnect: true, participantSid, publisherOffer: OFFER });
    openRoomSignalling(parts, {
      callId: CALL,
      socket: socket.asSocket(),
      joinRequest,
      answered: () => undefined,
    });
    await vi.advanceTimersByTimeAsync(0);
    expect(socket.code).toBeNull();
    roomSockets.drop(CALL);
    expect(socket.code).toBe(1000);
  });

  it("may begin 30 times a minute for each call", () => {
    const { roomSockets } = openRoomSockets();
    const parts = partsWith(roomSockets, () => Promise.reject(new Error("not asked")));
    const rooms = openRooms({ ...parts, liveCalls: { awaitsJoin: () => Promise.resolve("joinable") } });
    for (let sockets = 0; sockets < 30; sockets += 1) expect(rooms.waitToSignal(CALL)).toBe(0);
    expect(rooms.waitToSignal(CALL)).toBeGreaterThan(0);
    expect(rooms.waitToSignal("other")).toBe(0);
  });
});
