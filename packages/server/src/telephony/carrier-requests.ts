/** Everything that the HTTP API asks about carriers. */

import type { CarrierRequests } from "./api.ts";
import { createCallbacks, type CallbackDeps } from "./callbacks.ts";
import { checkConfig, type CheckDeps } from "./check-config.ts";
import { createTransferRequests, type TransferRequestDeps } from "./transfers/transfer-requests.ts";
import { createIncoming, type IncomingDeps } from "./incoming-calls.ts";

export type CarrierRequestsDeps = CallbackDeps & IncomingDeps & CheckDeps & TransferRequestDeps;

export function createCarrierRequests(deps: CarrierRequestsDeps): CarrierRequests {
  return {
    ...createIncoming(deps),
    ...createCallbacks(deps),
    ...createTransferRequests(deps),
    check: (accountId, carrier) => checkConfig(deps, accountId, carrier),
  };
}
