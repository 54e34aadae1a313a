/** Everything that the HTTP API asks about carriers. */

import type { CarrierRequests } from "./api.ts";
import { createCallbacks } from "./callbacks.ts";
import { checkConfig, type CheckDeps } from "./check-config.ts";
import { createTransferRequests, type TransferRequestDeps } from "./transfers/transfer-requests.ts";
import { createIncoming, type IncomingDeps } from "./incoming-calls.ts";
import { createInstructions, type InstructionDeps } from "./instructions.ts";

export type CarrierRequestsDeps = InstructionDeps & IncomingDeps & CheckDeps & TransferRequestDeps;

export function createCarrierRequests(deps: CarrierRequestsDeps): CarrierRequests {
  return {
    ...createIncoming(deps),
    ...createCallbacks(deps),
    ...createInstructions(deps),
    ...createTransferRequests(deps),
    check: (accountId, carrier) => checkConfig(deps, accountId, carrier),
  };
}
