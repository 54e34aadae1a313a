/** Conformance suite for stores of recordings. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Recordings } from "../recordings.ts";

const HEADER_BYTES = 44;

export interface RecordingsUnderTest {
  readonly recordings: Recordings;
  /** Removes what the test has made. */
  close(): Promise<void>;
}

async function readAll(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const blocks: Uint8Array[] = [];
  for await (const block of stream) blocks.push(block);
  return Buffer.concat(blocks);
}

/** The header's fields and the pairs of a WAV file. */
export function readWav(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = (offset: number) => String.fromCharCode(...bytes.subarray(offset, offset + 4));
  return {
    riff: text(0),
    riffBytes: view.getUint32(4, true),
    channels: view.getUint16(22, true),
    sampleRateHz: view.getUint32(24, true),
    dataBytes: view.getUint32(40, true),
    samples: Int16Array.from({ length: (bytes.byteLength - HEADER_BYTES) / 2 }, (_, i) =>
      view.getInt16(HEADER_BYTES + 2 * i, true),
    ),
  };
}

export function describeRecordingsConformance(name: string, open: () => Promise<RecordingsUnderTest>): void {
  describe(`recordings: ${name}`, () => {
    let under: RecordingsUnderTest;

    beforeAll(async () => {
      under = await open();
    });

    afterAll(async () => {
      await under.close();
    });

    const read = async (callId: string) => {
      const opened = await under.recordings.open(callId);
      if (opened === null) return null;
      const bytes = await readAll(opened.stream);
      expect(bytes.byteLength).toBe(opened.byteLength);
      return readWav(bytes);
    };

    test("goes on where another writer stopped, with silence in between", async () => {
      const block = (value: number): Int16Array => new Int16Array(3_200).fill(value);
      const first = await under.recordings.create("call-resumed", 16_000);
      first.write(block(1));
      await first.close();
      const second = await under.recordings.resume("call-resumed", 16_000, 300);
      second.write(block(2));
      await second.close();
      const wav = await read("call-resumed");
      const expected = [...block(1), ...new Int16Array(3_200 * 2), ...block(2)];
      expect(wav?.samples).toEqual(Int16Array.from(expected));
      expect(wav?.dataBytes).toBe(expected.length * 2);
    });

    test("keeps what was written, in order, as a WAV file of right sizes", async () => {
      const writer = await under.recordings.create("call-1", 16_000);
      const all: number[] = [];
      for (let i = 0; i < 200; i += 1) {
        const block = Int16Array.from({ length: 640 }, (_, k) => i * 100 + k - 20_000);
        all.push(...block);
        writer.write(block);
        block.fill(0);
      }
      await writer.close();
      const wav = await read("call-1");
      expect(wav).toMatchObject({ riff: "RIFF", channels: 2, sampleRateHz: 16_000 });
      expect(wav?.samples).toEqual(Int16Array.from(all));
      expect(wav?.dataBytes).toBe(all.length * 2);
      expect(wav?.riffBytes).toBe(all.length * 2 + HEADER_BYTES - 8);
    });

    test("is playable while it is being written", async () => {
      const writer = await under.recordings.create("call-2", 8_000);
      expect(await read("call-2")).toMatchObject({ riff: "RIFF", sampleRateHz: 8_000, dataBytes: 0 });
      writer.write(Int16Array.of(1, 2, 3, 4));
      let wav = await read("call-2");
      for (let tries = 0; tries < 200 && wav?.dataBytes === 0; tries += 1) wav = await read("call-2");
      expect(wav).toMatchObject({ dataBytes: 8, samples: Int16Array.of(1, 2, 3, 4) });
      await writer.close();
    });

    test("closing twice is one close, and writing afterwards changes nothing", async () => {
      const writer = await under.recordings.create("call-3", 16_000);
      writer.write(Int16Array.of(5, 6));
      await Promise.all([writer.close(), writer.close()]);
      writer.write(Int16Array.of(7, 8));
      expect((await read("call-3"))?.samples).toEqual(Int16Array.of(5, 6));
    });

    keepsAndRemoves(() => under, read);
  });
}

function keepsAndRemoves(
  subject: () => RecordingsUnderTest,
  read: (callId: string) => Promise<ReturnType<typeof readWav> | null>,
): void {
  test("there is none before it is made, and none after it was removed", async () => {
    expect(await read("call-4")).toBeNull();
    await subject().recordings.remove("call-4");
    const writer = await subject().recordings.create("call-4", 16_000);
    await writer.close();
    expect(await read("call-4")).not.toBeNull();
    await subject().recordings.remove("call-4");
    await subject().recordings.remove("call-4");
    expect(await read("call-4")).toBeNull();
  });

  test("a part is a file of its own, cut at the sound and at the end", async () => {
    const writer = await subject().recordings.create("call-6", 8_000);
    // Left: the place; right: its negative. One second.
    writer.write(Int16Array.from({ length: 16_000 }, (_, i) => Math.floor(i / 2) * (i % 2 === 0 ? 1 : -1)));
    await writer.close();
    const part = async (startMs: number, endMs: number) => {
      const opened = await subject().recordings.openPart("call-6", startMs, endMs);
      if (opened === null) return null;
      const bytes = await readAll(opened.stream);
      expect(bytes.byteLength).toBe(opened.byteLength);
      const { riffBytes, channels, sampleRateHz, dataBytes, samples } = readWav(bytes);
      expect([riffBytes, channels, sampleRateHz]).toEqual([dataBytes + HEADER_BYTES - 8, 2, 8_000]);
      expect(dataBytes).toBe(samples.byteLength);
      return [samples.length / 2, ...samples.subarray(0, 2), ...samples.subarray(-2)];
    };
    expect(await part(0, 1_000)).toEqual([8_000, 0, -0, 7_999, -7_999].map((value) => value + 0));
    expect(await part(250, 750)).toEqual([4_000, 2_000, -2_000, 5_999, -5_999]);
    expect(await part(999, 5_000)).toEqual([8, 7_992, -7_992, 7_999, -7_999]);
    expect(await part(-100, 1)).toEqual([8, 0, 0, 7, -7]);
    for (const [startMs, endMs] of [
      [1_000, 2_000],
      [5_000, 6_000],
      [500, 500],
      [750, 250],
    ] as const) {
      expect(await part(startMs, endMs)).toBeNull();
    }
    expect(await subject().recordings.openPart("call-7", 0, 1_000)).toBeNull();
  });

  test("a reader that goes away early costs nothing", async () => {
    const writer = await subject().recordings.create("call-5", 16_000);
    for (let i = 0; i < 30; i += 1) writer.write(new Int16Array(16_000));
    await writer.close();
    for (let i = 0; i < 50; i += 1) {
      const opened = await subject().recordings.open("call-5");
      await opened?.stream.cancel();
    }
    expect((await read("call-5"))?.samples.length).toBe(480_000);
  });

  test.each(["../x", "a/b", "", ".", "x\0"])("an id that is no id is refused: %j", async (callId) => {
    await expect(subject().recordings.create(callId, 16_000)).rejects.toThrow(RangeError);
    await expect(subject().recordings.open(callId)).rejects.toThrow(RangeError);
    await expect(subject().recordings.openPart(callId, 0, 1)).rejects.toThrow(RangeError);
    await expect(subject().recordings.remove(callId)).rejects.toThrow(RangeError);
  });
}
