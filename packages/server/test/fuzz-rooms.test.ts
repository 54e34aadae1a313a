/** The fuzzer of the signalling of rooms, with few inputs, and with a fault that it must find. */

import { expect, test } from "vitest";
import { runRoomsFuzz } from "../fuzz/rooms/run-rooms.ts";
import { openRoomSignalling } from "../src/joins/rooms/room-signalling.ts";

const INPUTS = 2_000;

test("finds no fault, and many messages are answered", async () => {
  const lines: string[] = [];
  expect(await runRoomsFuzz({ inputs: INPUTS, seed: 1, log: (line) => void lines.push(line) })).toEqual([]);
  expect(Number(/(\d+) answered/.exec(lines[0] ?? "")?.[1])).toBeGreaterThan(INPUTS / 20);
});

test("finds signalling that fails, and one that answers no more", async () => {
  const failing: typeof openRoomSignalling = (parts, input) => {
    const broken = (): never => {
      throw new Error("broken on purpose");
    };
    return openRoomSignalling({ ...parts, webRtc: { offer: broken, renegotiate: broken } }, input);
  };
  const faults = await runRoomsFuzz({ inputs: INPUTS, seed: 1, log: () => undefined, open: failing });
  expect(faults.join("\n")).toMatch(/broken on purpose/);
  expect(faults.join("\n")).toMatch(/closed with 1011/);
  const deaf: typeof openRoomSignalling = () => ({ replace: () => undefined });
  const unanswered = await runRoomsFuzz({ inputs: INPUTS, seed: 1, log: () => undefined, open: deaf });
  expect(unanswered.join("\n")).toContain("another room is not answered any more");
});
