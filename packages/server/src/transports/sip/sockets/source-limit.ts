/** How many connections a source may have at a time. Pure. */

import { networkOf } from "./flood-gate.ts";

/** Of one address that is not known, or of one network of IPv6, in which a peer has as many addresses as it likes. */
export const MAX_OF_SOURCE = 20;

export function hasTooMany(address: string, open: Iterable<{ readonly address: string }>): boolean {
  const network = networkOf(address);
  let count = 0;
  for (const connection of open) if (networkOf(connection.address) === network) count += 1;
  return count >= MAX_OF_SOURCE;
}
