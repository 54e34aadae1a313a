/** The DNS of this machine, for `locate`. */

import { Resolver } from "node:dns/promises";
import { resolveName } from "../../../net/resolve-name.ts";
import type { SipDns } from "./locate.ts";

/** Of the first question; the second one waits twice as long. */
const DNS_TRY_MS = 1_500;
const DNS_TRIES = 2;

const NO_RECORDS = new Set(["ENOTFOUND", "ENODATA", "ENONAME", "EBADNAME"]);

export function openSipDns(): SipDns {
  const resolver = new Resolver({ timeout: DNS_TRY_MS, tries: DNS_TRIES });
  return {
    naptr: async (name) => {
      const records = await recordsOf(resolver.resolveNaptr(name));
      return records.map((record) => ({ ...record, protocol: record["service"] }));
    },
    srv: (name) => recordsOf(resolver.resolveSrv(name)),
    addresses: resolveName,
  };
}

/** Many DNS servers do not know these types, or refuse them: the address itself is asked for then. */
async function recordsOf<Record>(answer: Promise<readonly Record[]>): Promise<readonly Record[]> {
  try {
    return await answer;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (typeof code === "string" && (NO_RECORDS.has(code) || REFUSALS.has(code))) return [];
    throw error;
  }
}

const REFUSALS = new Set(["ENOTIMP", "EREFUSED", "ESERVFAIL", "ECONNREFUSED"]);
