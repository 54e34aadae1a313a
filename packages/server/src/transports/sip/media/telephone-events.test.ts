import { describe, expect, it } from "vitest";
import { EventReceiver, EventSender, keysIn, LAST_PACKETS, MOST_WAITING } from "./telephone-events.ts";

const FRAME_TICKS = 160;

/** All packets of these keys, with the number of the frame in which each is sent. */
function sent(digits: string, frames = 100) {
  const sender = new EventSender();
  sender.push(digits);
  return Array.from({ length: frames }, (_, frame) => ({
    frame,
    packet: sender.next(frame * FRAME_TICKS, 8_000),
    isActive: sender.isActive,
  }));
}

describe("keys that are sent", () => {
  it("have one timestamp, a growing length, one marker and three last packets", () => {
    const packets = sent("5", 20).filter(({ packet }) => packet !== null);
    const rows = packets.map(({ packet }) => {
      const payload = Buffer.from(packet?.payload ?? []);
      return [payload[0], (payload[1] ?? 0) >> 7, payload.readUInt16BE(2), packet?.timestamp, packet?.marker];
    });
    expect(rows).toEqual([
      [5, 0, 160, 0, true],
      [5, 0, 320, 0, false],
      [5, 0, 480, 0, false],
      [5, 0, 640, 0, false],
      [5, 1, 800, 0, false],
      [5, 1, 800, 0, false],
      [5, 1, 800, 0, false],
    ]);
    expect(rows.filter(([, isEnd]) => isEnd === 1)).toHaveLength(LAST_PACKETS);
  });

  it("follow each other after 100 ms of tone and 100 ms of pause, and end", () => {
    const firsts = sent("12").filter(({ packet }) => packet?.marker === true);
    expect(firsts.map(({ frame }) => frame)).toEqual([0, 10]);
    const active = sent("12").filter(({ isActive }) => isActive);
    expect(active.at(-1)?.frame).toBe(18);
  });

  it("are those of a telephone, and at most sixty-four of them", () => {
    expect(keysIn("1a*#ä 9x")).toEqual(["1", "A", "*", "#", "9"]);
    const markers = sent("1".repeat(200), 3_000).filter(({ packet }) => packet?.marker === true);
    expect(markers).toHaveLength(MOST_WAITING);
  });
});

describe("keys that are received", () => {
  const event = (key: number, isEnd = false): Uint8Array => Uint8Array.of(key, isEnd ? 0x8a : 0x0a, 0, 160);

  it("count once, whichever of their packets come", () => {
    for (const lost of [0, 1, 2, 3, 4, 5, 6]) {
      const receiver = new EventReceiver();
      const keys = sent("55#")
        .filter(({ packet }) => packet !== null)
        .filter((_, index) => index % 7 !== lost)
        .map(({ packet, frame }) => receiver.take(packet!.payload, 1, packet!.timestamp, frame * 20));
      expect(keys.filter((key) => key !== null)).toEqual(["5", "5", "#"]);
    }
  });

  it("do not count again when they are late, and do when the sender is another one", () => {
    const receiver = new EventReceiver();
    expect(receiver.take(event(1), 1, 1_000, 0)).toBe("1");
    expect(receiver.take(event(2), 1, 3_000, 200)).toBe("2");
    expect(receiver.take(event(1, true), 1, 1_000, 210)).toBeNull();
    expect(receiver.take(event(1), 2, 1_000, 220)).toBe("1");
  });

  it("go on over a timestamp that wraps around, and after a pause with smaller ones", () => {
    const receiver = new EventReceiver();
    expect(receiver.take(event(1), 1, 2 ** 32 - 10, 0)).toBe("1");
    expect(receiver.take(event(2), 1, 500, 200)).toBe("2");
    expect(receiver.take(event(3), 1, 400, 300)).toBeNull();
    expect(receiver.take(event(3), 1, 400, 6_000)).toBe("3");
  });

  it("of a sender that changes the timestamp within a key count once", () => {
    const receiver = new EventReceiver();
    const keys = [0, 160, 320].map((at) => receiver.take(event(7), 1, at, at / 8));
    expect(keys).toEqual(["7", null, null]);
    expect(receiver.take(event(7, true), 1, 480, 60)).toBeNull();
    expect(receiver.take(event(7), 1, 640, 80)).toBe("7");
  });

  it("are keys and whole packets", () => {
    const receiver = new EventReceiver();
    expect(receiver.take(event(16), 1, 0, 0)).toBeNull();
    expect(receiver.take(event(255), 1, 0, 0)).toBeNull();
    expect(receiver.take(Uint8Array.of(1, 0, 0), 1, 0, 0)).toBeNull();
    expect(receiver.take(new Uint8Array(0), 1, 0, 0)).toBeNull();
  });
});
