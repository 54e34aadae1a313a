/** Everything that the HTTP API asks about carriers. */

import type { CarrierRequests } from "./api.ts";
import { createCallbacks, type CallbackDeps } from "./callbacks.ts";
import { checkConfig, type CheckDeps } from "./check-config.ts";
import { createIncoming, type IncomingDeps } from "./incoming-calls.ts";

export type CarrierRequestsDeps = CallbackDeps & IncomingDeps & CheckDeps;

export function createCarrierRequests(deps: CarrierRequestsDeps): CarrierRequests {
  return {
    ...createIncoming(deps),
    ...createCallbacks(deps),
    check: (accountId, carrier) => checkConfig(deps, accountId, carrier),
  };
}
