/** What a medium can do beside carrying audio; see `Transport`. */

import type { Transport } from "../../ports/transport.ts";

export interface MediumMeans {
  readonly mark?: (position: number) => void;
  readonly clearAudio?: (tail: Int16Array) => void;
  readonly sendDigits?: (digits: string) => void;
}

/**
 * Those of the first connection, which later ones of the call have as well.
 *
 * @param current the connection of the moment; null: none is open
 */
export function mediumMeans(first: Transport, current: () => Transport | null): MediumMeans {
  return {
    ...(first.mark === undefined ? {} : { mark: (position: number) => current()?.mark?.(position) }),
    ...(first.clearAudio === undefined
      ? {}
      : { clearAudio: (tail: Int16Array) => current()?.clearAudio?.(tail) }),
    ...(first.sendDigits === undefined
      ? {}
      : { sendDigits: (digits: string) => current()?.sendDigits?.(digits) }),
  };
}
