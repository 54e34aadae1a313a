import { array, assert, integer, property } from "fast-check";
import { describe, expect, test } from "vitest";
import { FORMER_WAIT_MS, MAX_CONCEALED_FRAMES, ORDER_WAIT_MS, RtpOrder, type RtpPiece } from "./rtp-order.ts";

/** What came out: numbers of packets, and `-n` for n frames that were lost. */
function order() {
  const out: number[] = [];
  const subject = new RtpOrder({
    packet: (payload) => out.push(payload[0] ?? -1),
    lost: (frames) => out.push(-frames),
  });
  return { out, subject };
}

/** The nth packet of a sender whose numbering begins at `first`. */
function piece(n: number, { first = 0, ssrc = 7, frames = 1 } = {}): RtpPiece {
  return {
    ssrc,
    sequence: (first + n) & 0xffff,
    timestamp: (4_294_960_000 + n * 960 * frames) >>> 0,
    payload: Uint8Array.of(n),
  };
}

/** Pushes packets 20 ms apart. */
function outOf(numbers: readonly number[], options: Parameters<typeof piece>[1] = {}): number[] {
  const { out, subject } = order();
  numbers.forEach((n, i) => subject.push(piece(n, options), i * 20));
  return out;
}

describe("packets", () => {
  test("come out as they came in when nothing is wrong", () => {
    expect(outOf([1, 2, 3, 4])).toEqual([1, 2, 3, 4]);
  });

  test("that overtook one another are put in order", () => {
    expect(outOf([1, 3, 2, 4])).toEqual([1, 2, 3, 4]);
    expect(outOf([1, 4, 2, 3, 5])).toEqual([1, 2, 3, 4, 5]);
  });

  test("that came twice come out once", () => {
    expect(outOf([1, 1, 2, 4, 4, 3, 2, 5])).toEqual([1, 2, 3, 4, 5]);
  });

  test("that are missing are reported as lost when the next has waited, and late ones are dropped", () => {
    const { out, subject } = order();
    subject.push(piece(1), 0);
    subject.push(piece(3), 20);
    subject.push(piece(4), 40);
    expect(out).toEqual([1]);
    subject.tick(20 + ORDER_WAIT_MS - 1);
    expect(out).toEqual([1]);
    subject.tick(20 + ORDER_WAIT_MS);
    expect(out).toEqual([1, -1, 3, 4]);
    subject.push(piece(2), 90);
    subject.push(piece(5), 100);
    expect(out).toEqual([1, -1, 3, 4, 5]);
  });

  test("that are missing are noticed only by later packets", () => {
    expect(outOf([1, 3, 4, 5, 6])).toEqual([1, -1, 3, 4, 5, 6]);
    expect(outOf([1, 4, 5, 6, 7])).toEqual([1, -2, 4, 5, 6, 7]);
  });

  test("of 60 ms count as three frames each when they are missing", () => {
    expect(outOf([1, 2, 4, 5, 6, 7], { frames: 3 })).toEqual([1, 2, -3, 4, 5, 6, 7]);
  });

  test("are made up for a short time only", () => {
    expect(outOf([1, 40, 41, 42, 43])).toEqual([1, -MAX_CONCEALED_FRAMES, 40, 41, 42, 43]);
  });

  test("continue where the numbers wrap around", () => {
    expect(outOf([1, 3, 2, 4, 6, 7, 8, 9], { first: 0xfffd })).toEqual([1, 2, 3, 4, -1, 6, 7, 8, 9]);
  });

  test("of another sender begin again, and what waited for the old one comes first", () => {
    const { out, subject } = order();
    subject.push(piece(1), 0);
    subject.push(piece(3), 20);
    subject.push(piece(50, { ssrc: 8, first: 20_000 }), 40);
    subject.push(piece(51, { ssrc: 8, first: 20_000 }), 60);
    expect(out).toEqual([1, -1, 3, 50, 51]);
  });

  test("of a sender that was replaced are late ones, until it begins again", () => {
    const { out, subject } = order();
    const other = { ssrc: 8, first: 20_000 };
    subject.push(piece(1), 0);
    subject.push(piece(50, other), 20);
    subject.push(piece(2), 30);
    subject.push(piece(51, other), 40);
    subject.push(piece(3), 20 + FORMER_WAIT_MS - 1);
    expect(out).toEqual([1, 50, 51]);
    subject.push(piece(60), 20 + FORMER_WAIT_MS);
    subject.push(piece(52, other), 30 + FORMER_WAIT_MS);
    subject.push(piece(61), 40 + FORMER_WAIT_MS);
    expect(out).toEqual([1, 50, 51, 60, 61]);
  });

  test("with a new numbering begin again", () => {
    const { out, subject } = order();
    subject.push(piece(1), 0);
    subject.push(piece(2, { first: 30_000 }), 20);
    subject.push(piece(3, { first: 10_000 }), 40);
    expect(out).toEqual([1, 2, 3]);
  });
});

describe("packets without audio", () => {
  const silent = (n: number): RtpPiece => ({ ...piece(n), hasNoAudio: true, timestamp: 5 });

  test("take their place in the order and are left out, before and after a gap", () => {
    const { out, subject } = order();
    subject.push(piece(1), 0);
    for (const n of [3, 2]) subject.push(silent(n), 20);
    subject.push(piece(4), 60);
    // The fifth is lost, before a key.
    subject.push(silent(6), 80);
    subject.push(piece(7), 100);
    subject.tick(80 + ORDER_WAIT_MS);
    expect(out).toEqual([1, 4, 7]);
  });
});

test("packets of another clock are lost by their own length", () => {
  const out: number[] = [];
  const subject = new RtpOrder(
    { packet: (payload) => out.push(payload[0] ?? -1), lost: (frames) => out.push(-frames) },
    160,
  );
  const at = (n: number): RtpPiece => ({ ...piece(n), timestamp: n * 320 });
  for (const n of [1, 2]) subject.push(at(n), n);
  subject.push(at(5), 5);
  subject.tick(5 + ORDER_WAIT_MS);
  expect(out).toEqual([1, 2, -4, 5]);
});

test("whatever the network does, packets come out in order, each once, and few wait", () => {
  const shuffled = array(integer({ min: 0, max: 90 }), { minLength: 1, maxLength: 200 });
  assert(
    property(shuffled, integer({ min: 0, max: 0xffff }), (numbers, first) => {
      const out = outOf(numbers, { first }).filter((n) => n >= 0);
      expect(out).toEqual([...out].sort((a, b) => a - b));
      expect(new Set(out).size).toBe(out.length);
    }),
  );
});
