/** Metrics of transfers, and of the machines that carriers detect. */

import type { ConfiguredCarrier } from "@parley/schema";
import { Counter, type Registry } from "prom-client";
import type { TransferOutcome } from "../../telephony/transfers/transfer-calls.ts";

export interface TelephonyMetrics {
  readonly transferEnded: (carrier: ConfiguredCarrier, outcome: TransferOutcome) => void;
  readonly machineDetected: (carrier: ConfiguredCarrier) => void;
}

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
  return {
    transferEnded: (carrier, outcome) => transfers.inc({ carrier, outcome }),
    machineDetected: (carrier) => machines.inc({ carrier }),
  };
}
