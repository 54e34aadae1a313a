import type { Socket } from "node:net";
import { CARRIER_KINDS, type CarrierKind } from "@parley/schema";
import { describe, expect, onTestFinished, test } from "vitest";
import { ramp, sine } from "../../media/testing/signals.ts";
import type { TransportListener } from "../../ports/transport.ts";
import {
  describeTransportConformance,
  eventually,
  TransportRecord,
} from "../../ports/testing/transport-conformance.ts";
import type { StreamUse } from "./carrier-stream.ts";
import { openStreamPair } from "./testing/stream-pair.ts";
import type { FakeCarrierOptions } from "./testing/fake-carrier.ts";

/** The call ends with its stream. */
const ENDS: StreamUse = { returns: false };

async function open(
  kind: CarrierKind,
  listener: TransportListener,
  options: Partial<FakeCarrierOptions> = {},
  use: StreamUse = ENDS,
) {
  const pair = await openStreamPair(kind, { sendsLine: false, ...options });
  await pair.carrier.begin();
  const opening = await pair.opening;
  if (opening.kind !== "started") throw new Error(`not started: ${JSON.stringify(opening)}`);
  return { ...pair, transport: opening.stream.open(listener, use) };
}

async function opened(kind: CarrierKind, options: Partial<FakeCarrierOptions> = {}, use: StreamUse = ENDS) {
  const record = new TransportRecord();
  const under = await open(kind, record, options, use);
  onTestFinished(under.dispose);
  const frame = () => sine(440, under.transport.outputSampleRateHz, under.transport.outputSampleRateHz / 50);
  return { record, frame, ...under };
}

describe.each(CARRIER_KINDS)("%s", (kind) => {
  describeTransportConformance(kind, {
    hasNoMessages: true,
    lossIsHangUp: true,
    open: async (listener) => {
      const { carrier, transport, dispose } = await open(kind, listener);
      return {
        transport,
        dispose,
        peer: {
          audio: () => {
            const all = new Int16Array(carrier.received.reduce((sum, part) => sum + part.length, 0));
            carrier.received.reduce((at, part) => {
              all.set(part, at);
              return at + part.length;
            }, 0);
            return all;
          },
          messages: () => carrier.broken,
          closeCode: () => carrier.closeCode,
          sendAudio: (samples) => carrier.sendAudio(samples),
          sendText: (text) => carrier.socket.send(text),
          hangUp: () => carrier.socket.close(1000),
          vanish: () => carrier.socket.terminate(),
          freeze: () => {
            carrier.rest();
            carrier.socket.pause();
          },
        },
      };
    },
  });

  test("has the rates of its start, and sends nothing that the carrier refuses", async () => {
    const { transport, carrier, frame } = await opened(kind);
    const { input, output } = carrier.stream;
    expect([transport.inputSampleRateHz, transport.outputSampleRateHz]).toEqual([
      input.sampleRateHz,
      output.sampleRateHz,
    ]);
    expect(transport.aheadMs).toBe(kind === "telephony4" ? 300 : 200);
    for (let i = 0; i < 10; i += 1) expect(transport.sendAudio(frame())).toBe(true);
    transport.mark?.(1_600);
    transport.clearAudio?.(frame());
    await eventually(() => carrier.clearedAtMs.length === 1, "the clear");
    expect(carrier.broken).toEqual([]);
    expect(carrier.marks).toHaveLength(1);
  });

  test("echoes a mark when the audio before it was played, and not at all after a clear", async () => {
    const { record, transport, carrier, frame } = await opened(kind);
    for (let i = 0; i < 10; i += 1) transport.sendAudio(frame());
    transport.mark?.(1);
    await eventually(() => record.positions.length === 1, "the echo");
    expect(carrier.buffer.heard().length).toBeGreaterThanOrEqual(transport.outputSampleRateHz / 5);
    for (let i = 0; i < 20; i += 1) transport.sendAudio(frame());
    transport.mark?.(2);
    transport.clearAudio?.(frame());
    transport.mark?.(3);
    await eventually(() => record.positions.includes(3), "the echo after the clear");
    expect(record.positions).toEqual([1, 3]);
    expect(carrier.broken).toEqual([]);
  });

  test("signals keys, both ways where the carrier can", async () => {
    const { record, transport, carrier } = await opened(kind);
    carrier.press("42#");
    await eventually(() => record.digits.length === 3, "the keys");
    expect(record.digits).toEqual(["4", "2", "#"]);
    expect(transport.signalsDigits).toBe(true);
    expect(transport.sendDigits === undefined).toBe(kind !== "telephony3");
    transport.sendDigits?.("12#");
    await eventually(() => kind !== "telephony3" || carrier.digits.length === 1, "our keys");
    expect([carrier.digits, carrier.broken]).toEqual([kind === "telephony3" ? ["12#"] : [], []]);
  });

  test("is over with the carrier's stop, though its socket stays open", async () => {
    const { record, transport, carrier } = await opened(kind);
    carrier.stop();
    carrier.press("1");
    await eventually(() => record.closings.length > 0, "the end");
    expect(await carrier.closed).toBe(1000);
    expect([record.closings, record.digits]).toEqual([[{ regular: true, code: 1000 }], []]);
    expect(transport.sendAudio(ramp(160))).toBe(false);
  });

  test("is lost when it breaks, and over when the carrier ends it, where the carrier comes back", async () => {
    const returns = { returns: true };
    const broken = await opened(kind, {}, returns);
    broken.carrier.socket.terminate();
    await eventually(() => broken.record.closings.length > 0, "the loss");
    expect(broken.record.closings).toEqual([{ regular: false, code: 1006 }]);
    const closed = await opened(kind, {}, returns);
    closed.carrier.socket.close(1000);
    const stopped = await opened(kind, {}, returns);
    stopped.carrier.stop();
    for (const { record } of [closed, stopped]) {
      await eventually(() => record.closings.length > 0, "the end");
      expect(record.closings).toEqual([{ regular: true, code: 1000 }]);
    }
  });

  test("reports that it was closed here, and not that the carrier has closed it", async () => {
    let closedHere = 0;
    const use = { returns: false, closedHere: () => void (closedHere += 1) };
    const byCarrier = await opened(kind, {}, use);
    byCarrier.carrier.stop();
    await eventually(() => byCarrier.record.closings.length > 0, "the end");
    byCarrier.transport.close(1000, "over");
    expect(closedHere).toBe(0);
    const byUs = await opened(kind, {}, use);
    byUs.transport.close(1000, "over");
    byUs.transport.close(1000, "again");
    expect(closedHere).toBe(1);
  });

  test("is over when the carrier closes only its half of the connection", async () => {
    const { record, carrier } = await opened(kind);
    (carrier.socket as unknown as { readonly _socket: Socket })._socket.end();
    await eventually(() => record.closings.length > 0, "the end");
    expect(record.closings).toMatchObject([{ regular: true }]);
  });

  test("reports binary frames and messages that are too long, and goes on", async () => {
    const { record, carrier } = await opened(kind);
    carrier.socket.send(Buffer.alloc(160));
    carrier.socket.send(JSON.stringify({ event: "media", media: { payload: "A".repeat(200_000) } }));
    carrier.press("7");
    await eventually(() => record.digits.length === 1, "the key after them");
    expect(record.problems).toEqual(["malformed_message", "malformed_message"]);
  });
});

describe("a socket whose stream does not begin", () => {
  test("is given up after its limit, and is still open then", async () => {
    const { opening, carrier, socket, dispose } = await openStreamPair("telephony1", {}, 50);
    onTestFinished(dispose);
    expect(await opening).toEqual({ kind: "refused", reason: "did not begin in time" });
    socket.close(1003, "not understood");
    socket.resume();
    expect(await carrier.closed).toBe(1003);
  });

  test("is given up at a start that cannot be served", async () => {
    const { opening, carrier, dispose } = await openStreamPair("telephony1");
    onTestFinished(dispose);
    const mediaFormat = { encoding: "audio/x-l16", sampleRate: 16_000 };
    carrier.socket.once("open", () =>
      carrier.send({ event: "start", streamSid: "s", start: { mediaFormat } }),
    );
    if (carrier.socket.readyState === carrier.socket.OPEN) {
      carrier.send({ event: "start", streamSid: "s", start: { mediaFormat } });
    }
    expect(await opening).toEqual({
      kind: "refused",
      reason: "has the audio format audio/x-l16 at 16000 Hz",
    });
  });

  test("is closed when the carrier closes it", async () => {
    const { opening, carrier, dispose } = await openStreamPair("telephony2");
    onTestFinished(dispose);
    carrier.socket.terminate();
    expect(await opening).toEqual({ kind: "closed" });
  });
});

test("what comes between the start and the join is not lost", async () => {
  const pair = await openStreamPair("telephony1", { sendsLine: false });
  onTestFinished(pair.dispose);
  await pair.carrier.begin();
  pair.carrier.press("1");
  pair.carrier.sendAudio(sine(440, 8_000, 160));
  pair.carrier.press("2");
  const opening = await pair.opening;
  if (opening.kind !== "started") throw new Error("not started");
  await new Promise((resolve) => setTimeout(resolve, 20));
  const record = new TransportRecord();
  opening.stream.open(record, ENDS);
  expect(record.digits).toEqual([]);
  await eventually(() => record.digits.length === 2, "both keys");
  expect([record.digits, record.samples().length]).toEqual([["1", "2"], 160]);
});
