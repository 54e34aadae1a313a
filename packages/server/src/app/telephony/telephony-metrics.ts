/** Metrics of transfers, and of the machines that carriers detect. */

import type { ConfiguredCarrier } from "@parley/schema";
import { Counter, Histogram, type Registry } from "prom-client";
import type { SipMediaFigures } from "../../ports/sip-calls.ts";
import type { TransferOutcome } from "../../telephony/transfers/transfer-calls.ts";

export interface TelephonyMetrics {
  readonly transferEnded: (carrier: ConfiguredCarrier | "sip", outcome: TransferOutcome) => void;
  readonly machineDetected: (carrier: ConfiguredCarrier) => void;
  /** The media of a call over SIP that is over. */
  readonly sipMeasured: (figures: SipMediaFigures) => void;
}

/** Up to 100 ms nobody notices; from 400 ms on two people talk at the same time. */
const DELAY_BUCKETS_S = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8];

export function telephonyMetrics(registry: Registry): TelephonyMetrics {
  const transfers = new Counter({
    name: "parley_transfers_total",
    help:
      "Transfers of calls by carrier and outcome: connected, failed, refused (by the service, before the carrier was " +
      "asked), canceled (the call has ended meanwhile)",
    labelNames: ["carrier", "outcome"] as const,
    registers: [registry],
  });
  const machines = new Counter({
    name: "parley_machines_detected_total",
    help: "Dialled calls in which the carrier has detected an answering machine, by carrier; each result counts",
    labelNames: ["carrier"] as const,
    registers: [registry],
  });
  const packets = new Counter({
    name: "parley_sip_packets_total",
    help:
      "RTP packets of calls over SIP that are over: received, lost (sent by the other side and not received), sent, " +
      "remote_lost (sent and, as the other side reports, not received there)",
    labelNames: ["kind"] as const,
    registers: [registry],
  });
  const delays = (name: string, help: string) =>
    new Histogram({ name, help, buckets: DELAY_BUCKETS_S, registers: [registry] });
  const jitter = delays("parley_sip_jitter_seconds", "Jitter of what calls over SIP receive, at their end");
  const roundTrip = delays(
    "parley_sip_round_trip_seconds",
    "Round trip to the other side of calls over SIP, as the last report of the other side shows it",
  );
  return {
    sipMeasured({ packetsSent, packetsReceived, packetsLost, jitterMs, roundTripMs, remote }) {
      packets.inc({ kind: "sent" }, packetsSent);
      packets.inc({ kind: "received" }, packetsReceived);
      packets.inc({ kind: "lost" }, Math.max(0, packetsLost));
      packets.inc({ kind: "remote_lost" }, Math.max(0, remote?.packetsLost ?? 0));
      jitter.observe(jitterMs / 1_000);
      if (roundTripMs !== null) roundTrip.observe(roundTripMs / 1_000);
    },
    transferEnded: (carrier, outcome) => transfers.inc({ carrier, outcome }),
    machineDetected: (carrier) => machines.inc({ carrier }),
  };
}
