import { assert, boolean, property, uint8Array } from "fast-check";
import { describe, expect, test } from "vitest";
import { acceptableRecords } from "./dtls-records.ts";
import { dtlsRecord, handshakeMessage } from "./testing/packets.ts";

const HELLO = dtlsRecord({});
const CIPHER_CHANGE = dtlsRecord({ type: 20, fragment: Buffer.from([1]) });
const FINISHED = dtlsRecord({ epoch: 1, fragment: Buffer.alloc(40) });
const DATA = dtlsRecord({ type: 23, epoch: 1, fragment: Buffer.alloc(60) });

function judge(datagram: Buffer, isConnected = false, handshakeBytesLeft = 65_536) {
  const alerts: Buffer[] = [];
  const rules = { isConnected, handshakeBytesLeft, alert: (record: Buffer) => alerts.push(record) };
  return { records: acceptableRecords(datagram, rules), alerts, left: rules.handshakeBytesLeft };
}

describe("before the handshake is over", () => {
  test("a client's flights are accepted", () => {
    for (const flight of [HELLO, Buffer.concat([HELLO, CIPHER_CHANGE, FINISHED]), DATA]) {
      expect(judge(flight).records).toBe(flight);
    }
  });

  test.each([
    ["an alert that is not encrypted", dtlsRecord({ type: 21, fragment: Buffer.from([1, 0]) })],
    ["data that are not encrypted", dtlsRecord({ type: 23 })],
    ["an unknown content type", dtlsRecord({ type: 24 })],
    ["the last unknown content type", dtlsRecord({ type: 63, epoch: 1 })],
    ["an epoch that does not exist", dtlsRecord({ epoch: 2 })],
    ["a record that exceeds the datagram", HELLO.subarray(0, -1)],
    ["a record without a whole header", HELLO.subarray(0, 12)],
    ["a message of 16 MiB", dtlsRecord({ fragment: handshakeMessage({ length: 0xff_ffff }) })],
    ["a fragment behind the end of its message", dtlsRecord({ fragment: handshakeMessage({ offset: 1 }) })],
    [
      "a fragment without bytes",
      dtlsRecord({ fragment: handshakeMessage({ length: 9, fragment: Buffer.alloc(0) }) }),
    ],
    ["a message that exceeds its record", dtlsRecord({ fragment: handshakeMessage({}).subarray(0, -1) })],
    ["an empty record", dtlsRecord({ fragment: Buffer.alloc(0) })],
  ])("%s is dropped", (_what, datagram) => {
    expect(judge(datagram)).toMatchObject({ records: null, alerts: [] });
  });

  test("good records of a datagram stay when others are dropped", () => {
    const alert = dtlsRecord({ type: 21, fragment: Buffer.from([1, 0]) });
    expect(judge(Buffer.concat([alert, HELLO, alert, FINISHED])).records).toEqual(
      Buffer.concat([HELLO, FINISHED]),
    );
  });

  test("handshake messages are bounded in all", () => {
    const { left } = judge(HELLO);
    expect(left).toBe(65_536 - (HELLO.length - 13));
    expect(judge(HELLO, false, HELLO.length - 14).records).toBeNull();
  });
});

describe("after the handshake", () => {
  test("only encrypted records are accepted", () => {
    expect(judge(Buffer.concat([HELLO, CIPHER_CHANGE, FINISHED]), true).records).toEqual(FINISHED);
    expect(judge(DATA, true).records).toBe(DATA);
    expect(judge(HELLO, true).records).toBeNull();
  });

  test("encrypted alerts go to us", () => {
    const alert = dtlsRecord({ type: 21, epoch: 1, fragment: Buffer.alloc(26) });
    expect(judge(alert, true)).toMatchObject({ records: null, alerts: [alert] });
  });
});

test("random bytes are dropped or kept without an error", () => {
  assert(
    property(uint8Array({ maxLength: 200 }), boolean(), (bytes, isConnected) => {
      judge(Buffer.from([22, 0xfe, 0xfd, ...bytes]), isConnected);
    }),
  );
});
