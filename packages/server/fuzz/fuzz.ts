/**
 * `npm run fuzz`: random requests to the REST interface, changed packets and offers to calls over WebRTC, changed
 * messages of rooms, hostile frames of carriers, changed messages of SIP, changed packets and descriptions to media over
 * SIP, and damaged documents. Ends with 1 when the service does not withstand one of them. Options:
 *
 * - `--side rest`, `--side media`, `--side rooms`, `--side telephony`, `--side sip`, `--side sip-media` or
 *   `--side readers`: one of them; default: all
 * - `--seed 1`
 * - `--requests 100000`, `--database <postgres url>` (an empty database; default: embedded): of REST
 * - `--inputs 100000` of each protocol, carrier or kind of packet, `--only stun,dtls,rtp,rtcp,sctp,sdp`: of media
 */

import { parseArgs } from "node:util";
import { protocolsIn, PROTOCOLS } from "./media/protocols.ts";
import { runMediaFuzz } from "./media/run-media.ts";
import { runReadersFuzz } from "./readers/run-readers.ts";
import { runRestFuzz } from "./rest/run-rest.ts";
import { runRoomsFuzz } from "./rooms/run-rooms.ts";
import { runSipMediaFuzz } from "./sip-media/run-sip-media.ts";
import { runSipFuzz } from "./sip/run-sip.ts";
import { runTelephonyFuzz } from "./telephony/run-telephony.ts";

const DEFAULT_COUNT = 100_000;
/** Damaged files of each kind; a damaged PDF takes 20 ms. */
const READERS_COUNT = 1_000;
const MAX_COUNT = 10_000_000;

const { values } = parseArgs({
  options: {
    side: { type: "string" },
    seed: { type: "string", default: "1" },
    requests: { type: "string" },
    database: { type: "string" },
    inputs: { type: "string" },
    only: { type: "string" },
  },
});
const { side, database, only } = values;
const SIDES: readonly string[] = ["rest", "media", "rooms", "telephony", "sip", "sip-media", "readers"];
if (side !== undefined && !SIDES.includes(side)) throw new Error(`--side: one of ${SIDES.join(", ")}`);
const seed = wholeNumber("--seed", values.seed);

/** @throws for what is no whole number from 0 on */
function wholeNumber(name: string, text: string | undefined, otherwise = 0): number {
  const number = text === undefined ? otherwise : Number(text);
  if (!Number.isSafeInteger(number) || number < 0) throw new Error(`${name}: a whole number is needed`);
  return number;
}

const count = (name: string, text: string | undefined): number =>
  Math.min(wholeNumber(name, text, DEFAULT_COUNT), MAX_COUNT);

const requests = count("--requests", values.requests);
const inputs = count("--inputs", values.inputs);
const protocols = only === undefined ? PROTOCOLS : protocolsIn(only);

let failed = 0;
if (side === undefined || side === "rest")
  failed += await runRestFuzz({ requests, seed, database: database ?? null });
if (side === undefined || side === "media") {
  const faults = await runMediaFuzz({ inputs, seed, only: protocols, log: (line) => console.log(line) });
  failed += faults.length;
}
if (side === undefined || side === "rooms") {
  failed += (await runRoomsFuzz({ inputs, seed, log: (line) => console.log(line) })).length;
}
if (side === undefined || side === "telephony") {
  failed += runTelephonyFuzz({ inputs, seed, log: (line) => console.log(line) }).length;
}
if (side === undefined || side === "sip") {
  failed += (await runSipFuzz({ inputs, seed, log: (line) => console.log(line) })).length;
}
if (side === undefined || side === "sip-media") {
  failed += (await runSipMediaFuzz({ inputs, seed, log: (line) => console.log(line) })).length;
}
if (side === undefined || side === "readers") {
  const ofReaders = values.inputs === undefined ? READERS_COUNT : inputs;
  failed += await runReadersFuzz({ inputs: ofReaders, seed, log: (line) => console.log(line) });
}
process.exitCode = failed === 0 ? 0 : 1;
