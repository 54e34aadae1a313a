import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createFrameReader, encodeFrame, encodeText, FRAME_KINDS, MAX_FRAME_BYTES } from "./frames.ts";

const anyFrame = fc.record({
  kind: fc.constantFrom(...Object.values(FRAME_KINDS)),
  pieceId: fc.nat(0xffff_ffff),
  payload: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
});

it("gives back every frame, whole and in order, from bytes cut anywhere", () => {
  fc.assert(
    fc.property(
      fc.array(anyFrame, { maxLength: 8 }),
      fc.array(fc.nat(600), { maxLength: 20 }),
      (sent, cuts) => {
        const bytes = Buffer.concat(
          sent.map((frame) => encodeFrame(frame.kind, frame.pieceId, frame.payload)),
        );
        const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const reader = createFrameReader();
        const received = at
          .slice(1)
          .flatMap((end, index) =>
            reader
              .push(bytes.subarray(at[index], end))
              .map((frame) => ({ ...frame, payload: Buffer.from(frame.payload) })),
          );
        expect(received).toEqual(sent);
      },
    ),
  );
});

it("carries text", () => {
  const [frame] = createFrameReader().push(encodeText(FRAME_KINDS.refused, 7, "Grüße 😀"));
  expect(frame).toMatchObject({ kind: FRAME_KINDS.refused, pieceId: 7 });
  expect(frame?.payload.toString("utf8")).toBe("Grüße 😀");
});

it("refuses what is not of the protocol, and frames over the limit", () => {
  expect(() => createFrameReader().push(Buffer.from("Error: something\n"))).toThrow("not of this protocol");
  expect(() => createFrameReader().push(Buffer.from([1, 0, 0, 0, 0]))).toThrow("a frame of 1 bytes");
  expect(() => encodeFrame(1, 0, new Uint8Array(MAX_FRAME_BYTES + 1))).toThrow(RangeError);
});
