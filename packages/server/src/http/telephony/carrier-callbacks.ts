/** What carriers request about calls that the service dials: callbacks of their progress, and instructions. */

import { Uuid } from "@parley/schema";
import type { CarrierRequest } from "../../ports/carriers.ts";
import type { CarrierReply } from "../../telephony/api.ts";
import type { HandlerDeps } from "../api/endpoint.ts";
import type { PlainRequest, PlainRoute } from "../pages/plain-routes.ts";
import { plainAnswer, signedBy } from "./carrier-answers.ts";

/** Callbacks have about 40 fields. */
const MAX_CALLBACK_BYTES = 64 * 1024;

export function carrierCallbackRoutes(deps: HandlerDeps): PlainRoute[] {
  const { carriers } = deps.http;
  const checked = deps.checkSigned;
  const route = (
    path: string,
    answer: (callId: string, request: CarrierRequest) => Promise<CarrierReply>,
  ): PlainRoute => ({
    method: "POST",
    path,
    maxBytes: MAX_CALLBACK_BYTES,
    frequent: false,
    async answer(request: PlainRequest) {
      const callId = Uuid.safeParse(request.params["call_id"]);
      // The same answer as to a wrong signature.
      if (!callId.success) return plainAnswer({ kind: "forbidden" });
      const signed = signedBy(request, deps);
      return plainAnswer(
        await checked(request.clientAddress, callId.data, () => answer(callId.data, signed)),
      );
    },
  });
  const transfer: PlainRoute = {
    method: "POST",
    path: "/transfers/{transfer_id}/{step}",
    maxBytes: MAX_CALLBACK_BYTES,
    frequent: false,
    async answer(request) {
      const transferId = Uuid.safeParse(request.params["transfer_id"]);
      if (!transferId.success) return plainAnswer({ kind: "forbidden" });
      const { step = "" } = request.params;
      const signed = signedBy(request, deps);
      const answer = () => carriers.transfer(transferId.data, step, signed);
      return plainAnswer(await checked(request.clientAddress, transferId.data, answer));
    },
  };
  return [
    transfer,
    route("/calls/{call_id}/carrier_status", carriers.noteStatus),
    route("/calls/{call_id}/carrier_instructions", carriers.instruct),
  ];
}
