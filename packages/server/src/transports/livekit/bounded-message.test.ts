import {
  AddTrackRequest,
  JoinRequest,
  SessionDescription,
  SimulcastCodec,
  VideoLayer,
} from "@livekit/protocol";
import { describe, expect, test } from "vitest";
import { fieldsOf, reduced } from "./bounded-message.ts";

describe("the fields of a message", () => {
  test("are found without decoding them", () => {
    const bytes = new SessionDescription({ type: "offer", sdp: "v=0".repeat(100), id: 300 }).toBinary();
    expect(fieldsOf(bytes).map(({ number, isBytes }) => [number, isBytes])).toEqual([
      [1, true],
      [2, true],
      [3, false],
    ]);
    expect(Buffer.from(fieldsOf(bytes)[0]?.value ?? []).toString()).toBe("offer");
    expect(fieldsOf(new Uint8Array())).toEqual([]);
  });

  test("may be 32, and no more", () => {
    const field = Buffer.from([0x08, 0x01]);
    expect(fieldsOf(Buffer.concat(Array<Buffer>(32).fill(field)))).toHaveLength(32);
    expect(() => fieldsOf(Buffer.concat(Array<Buffer>(33).fill(field)))).toThrow("more than 32 fields");
  });

  test.each([
    ["the number 0", [0x02, 0x00]],
    ["a group", [0x0b, 0x0c]],
    ["a type that does not exist", [0x0f, 0x00]],
    ["a length beyond the end", [0x0a, 0x02, 0x00]],
    ["64 bits that are cut off", [0x09, 0x00]],
    ["32 bits that are cut off", [0x0d, 0x00]],
    ["a number that is cut off", [0x08, 0x80]],
    ["a number that is too long", [0x08, ...Array<number>(10).fill(0x80), 0x00]],
    ["a huge length", [0x0a, ...Array<number>(9).fill(0xff), 0x01]],
  ])("are refused with %s", (_name, bytes) => {
    expect(() => fieldsOf(Uint8Array.from(bytes))).toThrow(RangeError);
  });
});

describe("a reduced message", () => {
  test("has the used fields alone, at every depth", () => {
    const publisherOffer = new SessionDescription({ type: "offer", sdp: "s".repeat(300), id: 7 });
    const join = new JoinRequest({ metadata: "long", participantSid: "PA_x", publisherOffer });
    const read = JoinRequest.fromBinary(reduced(join.toBinary(), { 6: { 2: null }, 9: null }));
    expect(read.toJson()).toEqual({ participantSid: "PA_x", publisherOffer: { sdp: "s".repeat(300) } });
  });

  test("has none of the messages deep within fields that are not used", () => {
    const layers = Array.from({ length: 10_000 }, () => new VideoLayer());
    const track = new AddTrackRequest({ cid: "c", simulcastCodecs: [new SimulcastCodec({ layers })] });
    expect(reduced(track.toBinary(), { 1: null })).toHaveLength(3);
  });

  test("is refused where a used message is none, or has too many fields", () => {
    expect(() => reduced(Uint8Array.of(0x08, 0x01), { 1: {} })).toThrow("not a message");
    const publisherOffer = Buffer.alloc(80, Uint8Array.of(0x28, 0x01));
    const bytes = Buffer.concat([Uint8Array.of(0x32, 80), publisherOffer]);
    expect(() => reduced(bytes, { 6: { 1: null } })).toThrow("more than 32 fields");
  });
});
