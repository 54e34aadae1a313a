import { expect, test, vi } from "vitest";
import { TransportRecord } from "../../../ports/testing/transport-conformance.ts";
import type { LegTransport } from "../../rtc/leg.ts";
import { AgentLine } from "./agent-line.ts";

function open() {
  const done: string[] = [];
  const leg: LegTransport = {
    inputSampleRateHz: 8_000,
    outputSampleRateHz: 8_000,
    outputEncoding: "mulaw",
    aheadMs: 60,
    signalsDigits: true,
    sendAudio: () => done.push("audio") > 0,
    mark: (position) => void done.push(`mark ${String(position)}`),
    clearAudio: () => void done.push("clear"),
    sendDigits: (digits) => void done.push(`digits ${digits}`),
    sendData: () => undefined,
    probe: () => Promise.resolve(true),
    close: (code) => void done.push(`close ${String(code)}`),
    hangUp: () => undefined,
  };
  const record = new TransportRecord();
  const line = new AgentLine(record);
  return { line, record, done, transport: line.transportOf(leg) };
}

const FRAME = new Int16Array(160).fill(7);

test("a line passes on what both sides say", () => {
  const { line, record, done, transport } = open();
  line.heard.audio(FRAME);
  line.heard.digit("5");
  line.heard.played(3);
  expect(transport.sendAudio(FRAME)).toBe(true);
  transport.sendDigits?.("1");
  transport.close(1000, "");
  expect([record.samples()[0], record.digits, record.positions]).toEqual([7, ["5"], [3]]);
  expect(done).toEqual(["audio", "digits 1", "close 1000"]);
});

test("on hold neither hears the other, and time goes on", () => {
  const { line, record, done, transport } = open();
  line.hold(true);
  line.heard.audio(FRAME);
  line.heard.digit("5");
  expect(transport.sendAudio(FRAME)).toBe(true);
  transport.mark?.(1);
  transport.clearAudio?.(FRAME);
  transport.sendDigits?.("1");
  expect([record.samples().length, record.samples()[0], record.digits]).toEqual([160, 0, []]);
  expect(done).toEqual(["mark 1"]);
  line.hold(false);
  line.heard.audio(FRAME);
  expect(record.samples().at(-1)).toBe(7);
});

test("the end of the agent leaves a call that is kept, and is reported once and later", async () => {
  const { line, record, done, transport } = open();
  line.keep();
  transport.close(1000, "");
  expect(record.closings).toEqual([]);
  await line.closed;
  await vi.waitFor(() => expect(record.closings).toEqual([{ regular: true, code: 1000 }]));
  line.close(false, 1006);
  line.heard.audio(FRAME);
  expect(transport.sendAudio(FRAME)).toBe(false);
  expect(await transport.probe(1)).toBe(false);
  expect([record.closings.length, record.samples().length, done]).toEqual([1, 0, []]);
});
