import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_HEAD_BYTES, StreamFraming } from "./framing.ts";

function read(chunks: readonly (string | Buffer)[]) {
  const events: string[] = [];
  const framing = new StreamFraming({
    message: (bytes) => void events.push(bytes.toString("utf8")),
    pinged: () => void events.push("ping"),
    broken: (reason) => void events.push(`broken: ${reason}`),
  });
  for (const chunk of chunks) framing.push(Buffer.from(chunk));
  return events;
}

const ONE = "OPTIONS sip:a SIP/2.0\r\nContent-Length: 5\r\n\r\nhello";
const TWO = "SIP/2.0 200 OK\r\nl:\r\n 0\r\nVia: x\r\n\r\n";

describe("StreamFraming", () => {
  it("finds the same messages however the stream is cut", () => {
    const stream = Buffer.from(`${ONE}\r\n\r\n${TWO}\r\n${ONE}`);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 40 }), (sizes) => {
        const chunks: Buffer[] = [];
        let at = 0;
        for (const size of [...sizes, stream.length]) {
          chunks.push(stream.subarray(at, at + size));
          at += size;
        }
        expect(read(chunks)).toEqual([ONE, "ping", TWO, ONE]);
      }),
    );
  });

  it.each([
    ["no Content-Length", "OPTIONS sip:a SIP/2.0\r\nVia: x\r\n\r\n"],
    ["two", "OPTIONS sip:a SIP/2.0\r\nl: 0\r\nContent-Length: 5\r\n\r\n"],
    ["one that is no number", "OPTIONS sip:a SIP/2.0\r\nContent-Length: -1\r\n\r\n"],
    ["one that is too large", "OPTIONS sip:a SIP/2.0\r\nContent-Length: 65535\r\n\r\n"],
    ["a header without an end", "x".repeat(MAX_HEAD_BYTES + 5)],
  ])("is broken by %s, and reads nothing after it", (_what, stream) => {
    const events = read([stream, ONE]);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatch(/^broken: /);
  });

  it("answers pings that came together once, and reads what follows empty lines", () => {
    expect(read(["\r\n\r\n".repeat(1_000) + ONE, "\r\n\r\n"])).toEqual(["ping", ONE, "ping"]);
    expect(read(["\n".repeat(1_000) + "\r".repeat(1_000) + ONE])).toEqual([ONE]);
  });

  // With time in the square of the length this would take minutes.
  it("reads many empty lines in time that grows with their number", () => {
    const lines = Buffer.alloc(4 * 1_048_576, "\r");
    expect(read([lines, "\n", ONE])).toEqual([ONE]);
  });

  it("waits for the rest of a message", () => {
    expect(read([ONE.slice(0, -1)])).toEqual([]);
    expect(read(["\r\n"])).toEqual([]);
  });
});
