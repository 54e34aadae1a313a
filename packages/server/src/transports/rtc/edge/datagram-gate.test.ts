import { describe, expect, test } from "vitest";
import { DatagramGate, type GateState, type Source } from "./datagram-gate.ts";
import { CREDENTIALS, dtlsRecord, stunRequest } from "./testing/packets.ts";

const CLIENT: Source = ["192.0.2.1", 5_000];
const OTHER: Source = ["192.0.2.1", 5_001];
const STRANGER: Source = ["198.51.100.9", 5_000];
const HELLO = dtlsRecord({});
const RTP = Buffer.concat([Buffer.from([0x80, 111]), Buffer.alloc(40)]);

function openGate() {
  const state: { -readonly [Name in keyof GateState]: GateState[Name] } = {
    credentials: [CREDENTIALS],
    isEncrypted: false,
  };
  const alerts: Buffer[] = [];
  return { state, alerts, gate: new DatagramGate(state, (record) => alerts.push(record)) };
}

describe("the gate of a connection", () => {
  test("has nothing for strangers, whatever they send", () => {
    const { gate, state } = openGate();
    gate.admit(stunRequest(), CLIENT);
    for (const isEncrypted of [false, true]) {
      state.isEncrypted = isEncrypted;
      const sent = [HELLO, RTP, stunRequest({ password: "guessed" }), Buffer.alloc(0), Buffer.from([64])];
      for (const data of sent) expect(gate.admit(data, STRANGER)).toBeNull();
    }
  });

  test("lets through who has signed a request", () => {
    const { gate } = openGate();
    expect(gate.admit(HELLO, CLIENT)).toBeNull();
    expect(gate.admit(stunRequest(), CLIENT)).toEqual(stunRequest());
    expect([gate.admit(HELLO, CLIENT), gate.admit(HELLO, OTHER)]).toEqual([HELLO, null]);
    expect(gate.admit(stunRequest(), OTHER)).toEqual(stunRequest());
    expect([gate.admit(HELLO, CLIENT), gate.admit(HELLO, OTHER)]).toEqual([HELLO, HELLO]);
  });

  test("takes media only when they are encrypted, and only of the size of a packet", () => {
    const { gate, state } = openGate();
    gate.admit(stunRequest(), CLIENT);
    expect(gate.admit(RTP, CLIENT)).toBeNull();
    state.isEncrypted = true;
    expect(gate.admit(RTP, CLIENT)).toBe(RTP);
    expect(gate.admit(Buffer.concat([RTP, Buffer.alloc(2_048)]), CLIENT)).toBeNull();
    expect(gate.admit(RTP.subarray(0, 7), CLIENT)).toBeNull();
  });

  test("takes nothing from port 0", () => {
    expect(openGate().gate.admit(stunRequest(), ["192.0.2.1", 0])).toBeNull();
  });

  test("knows the last 32 addresses that signed requests came from", () => {
    const { gate } = openGate();
    for (let port = 1; port <= 32; port += 1) gate.admit(stunRequest(), ["192.0.2.1", port]);
    gate.admit(stunRequest(), ["192.0.2.1", 1]);
    gate.admit(stunRequest(), ["192.0.2.1", 33]);
    const known = [1, 2, 3, 33].filter((port) => gate.admit(HELLO, ["192.0.2.1", port]) !== null);
    expect(known).toEqual([1, 3, 33]);
  });

  test("hears nothing of a ClientHello once the handshake is over", () => {
    const { gate, state } = openGate();
    gate.admit(stunRequest(), CLIENT);
    expect(gate.admit(HELLO, CLIENT)).toBe(HELLO);
    state.isEncrypted = true;
    expect(gate.admit(HELLO, CLIENT)).toBeNull();
  });

  test("takes 64 KiB of handshakes in all", () => {
    const { gate } = openGate();
    gate.admit(stunRequest(), CLIENT);
    const admitted = Array.from({ length: 2_000 }, () => gate.admit(HELLO, CLIENT));
    expect(admitted.filter((data) => data !== null)).toHaveLength(Math.floor(65_536 / (HELLO.length - 13)));
  });
});
