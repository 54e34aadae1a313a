/** The addresses of a transfer that carriers get from the service. */

/** What the carrier requests about a transfer; see `TransferCallbacks`, and `consultation-requests.ts` for the last three. */
export const TRANSFER_STEPS = [
  "instructions",
  "end",
  "progress",
  "question",
  "answer",
  "music",
  "held",
  "bridge",
  "left",
] as const;
export type TransferStep = (typeof TRANSFER_STEPS)[number];

/** Its id is a secret between the service and the carrier, whose signature is the other credential. */
export const TRANSFER_PATH = "/transfers/{transfer_id}/{step}";

export function transferUrlOf(publicUrl: string, transferId: string, step: TransferStep): string {
  return `${publicUrl}${TRANSFER_PATH.replace("{transfer_id}", transferId).replace("{step}", step)}`;
}
