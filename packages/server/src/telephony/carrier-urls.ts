/** The addresses that carriers get from the service. */

import type { ConfiguredCarrier } from "@parley/schema";

/** Paths beside the join paths; the carrier's signature is the credential. */
export const STATUS_PATH = "/calls/{call_id}/carrier_status";
export const INSTRUCTIONS_PATH = "/calls/{call_id}/carrier_instructions";

export function statusUrlOf(publicUrl: string, callId: string): string {
  return `${publicUrl}${STATUS_PATH.replace("{call_id}", callId)}`;
}

export function instructionsUrlOf(publicUrl: string, callId: string): string {
  return `${publicUrl}${INSTRUCTIONS_PATH.replace("{call_id}", callId)}`;
}

/** The join URL of the call, which is never shown where the service dials. */
export function streamUrlOf(
  publicUrl: string,
  carrier: ConfiguredCarrier,
  call: { readonly callId: string; readonly joinToken: string },
): string {
  return `${publicUrl.replace(/^http/, "ws")}/calls/${call.callId}/${carrier}/${call.joinToken}`;
}
