/**
 * `npm run bench:gate`: the time that our checks before the WebRTC library take, for each kind of packet and for a batch
 * as one turn of the event loop may bring it.
 */

import { DatagramGate, type Source } from "../../src/transports/rtc/edge/datagram-gate.ts";
import { ReplayGuard } from "../../src/transports/rtc/edge/replay-window.ts";
import { type Association, problemOfPacket } from "../../src/transports/rtc/edge/sctp-packets.ts";
import {
  CREDENTIALS,
  dtlsRecord,
  numbers,
  sctpChunk,
  sctpPacket,
  stunRequest,
} from "../../src/transports/rtc/edge/testing/packets.ts";
import { percentile, publish } from "../report.ts";

const ROUNDS = 20_000;
/** Not counted: the compiler of the engine is still at work. */
const WARM_UP = 5_000;
/** A pause of 20 ms of the event loop brings this many packets of 32 calls. */
const BATCH = 32;
const LIMIT_US = 100;
const CLIENT: Source = ["192.0.2.1", 5_000];
const STRANGER: Source = ["198.51.100.9", 5_000];
const TAG = 77;
/** DTLS: application data. */
const APPLICATION_DATA = 23;

const association: Association = {
  localVerificationTag: TAG,
  isEstablished: true,
  lastReceivedTsn: 1_000,
  lastConfirmedTsn: 500,
  lastSentTsn: 520,
};
const rtp = Buffer.concat([Buffer.from([0x80, 111]), Buffer.alloc(118)]);
const request = stunRequest();
const guessed = stunRequest({ password: "guessed" });
const record = dtlsRecord({ type: APPLICATION_DATA, epoch: 1, number: 9, fragment: Buffer.alloc(200) });
const message = sctpPacket(
  TAG,
  sctpChunk(0, Buffer.concat([numbers([4, 1_001], [2, 0], [2, 0], [4, 51]), Buffer.alloc(150)])),
);

const gate = new DatagramGate({ credentials: [CREDENTIALS], isEncrypted: true }, () => undefined);
const replays = new ReplayGuard(1);
let sequence = 0;

function admitted(data: Buffer): void {
  if (gate.admit(data, CLIENT) === null) throw new Error("the gate refused a packet of the caller");
}

function media(): void {
  admitted(rtp);
  sequence += 1;
  replays.once(
    1,
    (window) => window.extended(sequence & 0xff_ff),
    () => rtp,
  );
}

function refused(data: Buffer): void {
  if (gate.admit(data, STRANGER) !== null) throw new Error("the gate let a stranger's packet through");
}

const KINDS: readonly (readonly [name: string, check: () => void])[] = [
  ["RTP of the caller, with the check for replays", media],
  ["STUN request of the caller, signed", () => admitted(request)],
  ["DTLS record of the caller", () => admitted(record)],
  [
    "SCTP packet of the caller, after decryption",
    () => {
      if (problemOfPacket(message, association) !== null)
        throw new Error("an SCTP packet of the caller was refused");
    },
  ],
  ["RTP of a stranger", () => refused(rtp)],
  ["STUN request of a stranger, with a guessed password", () => refused(guessed)],
  [
    `a batch of ${String(BATCH)}: RTP of the caller, 1 STUN request among them`,
    () => {
      admitted(request);
      for (let index = 1; index < BATCH; index += 1) media();
    },
  ],
];

/** Microseconds of each round. */
function timesOf(check: () => void): number[] {
  const times: number[] = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const startedAt = performance.now();
    check();
    const took = (performance.now() - startedAt) * 1_000;
    if (round >= WARM_UP) times.push(took);
  }
  return times;
}

admitted(request);
const rows = KINDS.map(([name, check]) => {
  const times = timesOf(check);
  return `| ${name} | ${percentile(times, 0.5).toFixed(1)} | ${percentile(times, 0.99).toFixed(1)} |`;
});

await publish(
  "bench:gate",
  `Aim: at most ${String(LIMIT_US)} µs for a batch.\n\n| packets | p50, µs | p99, µs |\n| --- | --- | --- |\n${rows.join("\n")}`,
);
