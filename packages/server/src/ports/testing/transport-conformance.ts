/** Conformance suite for transports over any network; each adapter's test file registers it with its own other side. */

import { afterEach, describe, expect, it } from "vitest";
import { sine, tonePower } from "../../media/testing/signals.ts";
import type { Transport, TransportListener, TransportProblem } from "../transport.ts";

/** The other side of a connection, as a client sees it. */
export interface TransportPeer {
  /** Samples received so far, joined. */
  audio(): Int16Array;
  messages(): readonly unknown[];
  /** The code it was closed with; null while it is open. */
  closeCode(): number | null;
  sendAudio(samples: Int16Array): void;
  sendText(text: string): void;
  hangUp(): void;
  /** Disappears without closing. */
  vanish(): void;
  /** Neither reads nor answers from now on. */
  freeze(): void;
}

export interface TransportUnderTest {
  readonly transport: Transport;
  readonly peer: TransportPeer;
  /** Releases everything that the test has opened. */
  readonly dispose: () => Promise<void>;
}

export interface TransportSubject {
  readonly open: (listener: TransportListener) => Promise<TransportUnderTest>;
  /** Audio goes through a codec: the output sounds the same but is not identical. */
  readonly coded?: boolean;
  /** The other side has messages of its own: data messages neither go out nor come in. */
  readonly hasNoMessages?: boolean;
  /** The other side never comes back, so a loss is a hang-up. */
  readonly lossIsHangUp?: boolean;
}

/** Collects the listener calls of a transport, by kind. */
export class TransportRecord implements TransportListener {
  readonly heard: Int16Array[] = [];
  readonly texts: { readonly text: string; readonly tooLong: boolean }[] = [];
  readonly problems: TransportProblem[] = [];
  readonly digits: string[] = [];
  readonly positions: number[] = [];
  readonly closings: { readonly regular: boolean; readonly code: number }[] = [];

  audio(samples: Int16Array): void {
    this.heard.push(samples.slice());
  }

  data(text: string, tooLong: boolean): void {
    this.texts.push({ text, tooLong });
  }

  problem(problem: TransportProblem): void {
    this.problems.push(problem);
  }

  digit(key: string): void {
    this.digits.push(key);
  }

  played(position: number): void {
    this.positions.push(position);
  }

  closed(regular: boolean, code: number): void {
    this.closings.push({ regular, code });
  }

  /** Samples heard so far, joined. */
  samples(): Int16Array {
    const all = new Int16Array(this.heard.reduce((sum, part) => sum + part.length, 0));
    let offset = 0;
    for (const part of this.heard) {
      all.set(part, offset);
      offset += part.length;
    }
    return all;
  }
}

/** Polls every few milliseconds; throws after `limitMs`. */
export async function eventually(ready: () => boolean, what: string, limitMs = 60_000): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (!ready()) {
    if (performance.now() > endMs) throw new Error(`timed out waiting for ${what}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
}

/** How long the connection may exist after `close`. */
const DETACH_LIMIT_MS = 3_000;

type Open = () => Promise<{
  readonly record: TransportRecord;
  readonly transport: Transport;
  readonly peer: TransportPeer;
}>;

export function describeTransportConformance(name: string, subject: TransportSubject): void {
  describe(`${name} as a transport`, () => {
    const disposals: (() => Promise<void>)[] = [];

    afterEach(async () => {
      for (const dispose of disposals.splice(0)) await dispose();
    });

    const open: Open = async () => {
      const record = new TransportRecord();
      const { transport, peer, dispose } = await subject.open(record);
      disposals.push(dispose);
      return { record, transport, peer };
    };

    if (subject.hasNoMessages === true) carriesAudio(open);
    else if (subject.coded === true) carriesCoded(open);
    else carries(open);
    ends(open, subject);
  });
}

/** One frame at the transport's rate. */
function frameOf(transport: Transport): Int16Array {
  return Int16Array.from({ length: transport.outputSampleRateHz / 50 }, (_, i) => i - 100);
}

function carries(open: Open): void {
  it("sends frames and messages in order and unchanged", async () => {
    const { transport, peer } = await open();
    const sent = frameOf(transport);
    for (let i = 0; i < 10; i += 1) expect(transport.sendAudio(sent)).toBe(true);
    transport.sendData({ type: "state", state: "listening" });
    transport.sendData({ type: "playback_clear_buffer" });
    await eventually(() => peer.messages().length === 2, "both messages");
    expect(peer.messages()).toEqual([
      { type: "state", state: "listening" },
      { type: "playback_clear_buffer" },
    ]);
    expect(peer.audio()).toEqual(repeat(sent, 10));
  });

  it("hands on audio and texts as they come", async () => {
    const { record, peer } = await open();
    const samples = Int16Array.from({ length: 333 }, (_, i) => i * 50 - 8_000);
    peer.sendAudio(samples);
    peer.sendAudio(samples.subarray(0, 1));
    peer.sendText('{"type":"ping","timestamp":1}');
    peer.sendText("ünïcödé 🎈");
    await eventually(() => record.texts.length === 2, "both texts");
    expect(record.samples()).toEqual(Int16Array.of(...samples, samples[0] ?? 0));
    expect(record.texts).toEqual([
      { text: '{"type":"ping","timestamp":1}', tooLong: false },
      { text: "ünïcödé 🎈", tooLong: false },
    ]);
    expect(record.problems).toEqual([]);
  });
}

/** What a codec, its look-ahead and a jitter buffer cut from both ends, in ms. */
const CODED_LOSS_MS = 80;

/** A busy machine moves packets too late, and the silence in their place is no fault. A wrong sound stays wrong. */
const SOUND_ATTEMPTS = 6;

/** Sends half a second of a tone, again if it was damaged on the way, and expects it to sound as it was. */
async function expectTone(
  hz: number,
  rateHz: number,
  send: (frame: Int16Array) => void,
  heard: () => Int16Array,
): Promise<void> {
  const sound = sine(hz, rateHz, rateHz / 2);
  const least = sound.length - (rateHz * CODED_LOSS_MS) / 1_000;
  for (let attempt = 1; ; attempt += 1) {
    const before = heard().length;
    for (let at = 0; at < sound.length; at += rateHz / 50) {
      send(sound.subarray(at, at + rateHz / 50));
      await pause(10);
    }
    await eventually(() => heard().length >= before + least, "the sound");
    const came = heard().subarray(before, before + sound.length);
    const middle = came.subarray(came.length >> 2, (came.length * 3) >> 2);
    const { tone, all } = tonePower(middle, hz, rateHz);
    if (attempt < SOUND_ATTEMPTS && (tone / all < 0.9 || Math.sqrt(all) < 0.2)) continue;
    expect(tone / all).toBeGreaterThan(0.9);
    expect(Math.sqrt(all)).toBeGreaterThan(0.2);
    return;
  }
}

function carriesCoded(open: Open): void {
  it("sends frames and messages in order, and they sound as they were", async () => {
    const { transport, peer } = await open();
    const rate = transport.outputSampleRateHz;
    const send = (frame: Int16Array): void => expect(transport.sendAudio(frame)).toBe(true);
    await expectTone(500, rate, send, () => peer.audio());
    transport.sendData({ type: "state", state: "listening" });
    transport.sendData({ type: "playback_clear_buffer" });
    await eventually(() => peer.messages().length === 2, "both messages");
    expect(peer.messages()).toEqual([
      { type: "state", state: "listening" },
      { type: "playback_clear_buffer" },
    ]);
  });

  it("hands on audio and texts as they come", async () => {
    const { record, transport, peer } = await open();
    await expectTone(
      700,
      transport.inputSampleRateHz,
      (frame) => peer.sendAudio(frame),
      () => record.samples(),
    );
    peer.sendText('{"type":"ping","timestamp":1}');
    peer.sendText("ünïcödé 🎈");
    await eventually(() => record.texts.length === 2, "both texts");
    expect(record.texts).toEqual([
      { text: '{"type":"ping","timestamp":1}', tooLong: false },
      { text: "ünïcödé 🎈", tooLong: false },
    ]);
    expect(record.problems).toEqual([]);
  });
}

function carriesAudio(open: Open): void {
  it("sends frames, and they sound as they were", async () => {
    const { transport, peer } = await open();
    const send = (frame: Int16Array): void => expect(transport.sendAudio(frame)).toBe(true);
    await expectTone(500, transport.outputSampleRateHz, send, () => peer.audio());
  });

  it("hands on audio as it comes, and no message of the other side", async () => {
    const { record, transport, peer } = await open();
    await expectTone(
      700,
      transport.inputSampleRateHz,
      (frame) => peer.sendAudio(frame),
      () => record.samples(),
    );
    transport.sendData({ type: "state", state: "listening" });
    expect([record.texts, record.problems]).toEqual([[], []]);
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

function ends(open: Open, { lossIsHangUp = false }: TransportSubject): void {
  it("tells a hang-up once, as regular, and takes nothing more", async () => {
    const { record, transport, peer } = await open();
    peer.hangUp();
    await eventually(() => record.closings.length > 0, "the hang-up");
    expect(record.closings).toMatchObject([{ regular: true }]);
    expect(transport.sendAudio(frameOf(transport))).toBe(false);
    transport.sendData({ type: "state", state: "idle" });
    transport.close(1000, "late");
    expect(await transport.probe(50)).toBe(false);
    expect(record.closings.length).toBe(1);
  });

  it(`tells a loss once, as ${lossIsHangUp ? "a hang-up" : "not regular"}`, async () => {
    const { record, peer } = await open();
    peer.vanish();
    await eventually(() => record.closings.length > 0, "the loss");
    expect(record.closings).toMatchObject([{ regular: lossIsHangUp }]);
  });

  it("closes with its code, tells it, and hands on nothing after that", async () => {
    const { record, transport, peer } = await open();
    transport.close(1000, "over");
    transport.close(1011, "again");
    peer.sendText("late");
    await eventually(() => record.closings.length > 0 && peer.closeCode() !== null, "the close");
    expect(peer.closeCode()).toBe(1000);
    expect(record.closings.length).toBe(1);
    expect(record.texts).toEqual([]);
    expect(transport.sendAudio(frameOf(transport))).toBe(false);
  });

  it("detaches within a bounded time from a side that does not answer", async () => {
    const { record, transport, peer } = await open();
    peer.freeze();
    transport.close(1000, "over");
    await eventually(() => record.closings.length > 0, "the end of it", DETACH_LIMIT_MS);
    expect(record.closings.length).toBe(1);
  });

  it("knows whether the other side is there", async () => {
    const { transport, peer } = await open();
    peer.sendAudio(new Int16Array(10));
    expect(await transport.probe(1_000)).toBe(true);
    await new Promise((resolve) => {
      setTimeout(resolve, 60);
    });
    expect(await transport.probe(50)).toBe(true);
    peer.freeze();
    await new Promise((resolve) => {
      setTimeout(resolve, 60);
    });
    expect(await transport.probe(50)).toBe(false);
  });
}

function repeat(samples: Int16Array, times: number): Int16Array {
  const all = new Int16Array(samples.length * times);
  for (let i = 0; i < times; i += 1) all.set(samples, i * samples.length);
  return all;
}
