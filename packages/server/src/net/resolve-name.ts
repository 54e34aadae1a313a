/**
 * Addresses of names that users give. The runtime's `lookup` (`getaddrinfo`) holds one of the four threads that files
 * are read and written with until it answers, half a minute where a name's server is silent. So names are asked for by
 * DNS, which takes no thread; `lookup` is left for what only the machine knows, and takes half of the threads at most.
 */

import { lookup, Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { openSemaphore } from "../pacing/semaphore.ts";

export interface NameSources {
  /** The machine's own list of names, as its text. */
  readonly hostsFile: () => Promise<string>;
  readonly queryDns: (name: string, family: 4 | 6) => Promise<readonly string[]>;
  /** Cannot be stopped. */
  readonly lookUp: (name: string) => Promise<readonly string[]>;
}

/** Of the four threads. */
const MAX_LOOKUPS = 2;
/** Names that wait for one of these. */
const WAITING_LOOKUPS = { most: 200, refusal: "too many names are being looked up" };
/** Of the first question to a server; the second one waits twice as long. */
const DNS_TRY_MS = 1_500;
const DNS_TRIES = 2;

/** DNS says that there is no such name or that it has no address; or there is no DNS server here. */
const NOT_IN_DNS = new Set(["ENOTFOUND", "ENODATA", "ECONNREFUSED", "ENONAME", "EBADNAME"]);

/** An empty answer: the name has no address. @throws why the name is not found, with a `code` */
export function openNameResolver(sources: NameSources): (name: string) => Promise<readonly string[]> {
  const { hostsFile, queryDns } = sources;
  const semaphore = openSemaphore(MAX_LOOKUPS, WAITING_LOOKUPS);
  const lookUp: NameSources["lookUp"] = (name) => semaphore(() => sources.lookUp(name));
  return async (given) => {
    const name = given.toLowerCase().replace(/\.$/, "");
    const own = addressesIn(await hostsFile().catch(() => ""), name);
    if (own.length > 0) return own;
    if (isLocal(name)) return lookUp(name);
    const answers = await Promise.allSettled([queryDns(name, 4), queryDns(name, 6)]);
    const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const failed = answers.find((answer) => answer.status === "rejected" && !isNotInDns(answer.reason));
    // Asking a second time, by a thread, would wait for the same silence.
    if (failed?.status === "rejected") throw failed.reason;
    return lookUp(name);
  };
}

/** A name of one part, or one that DNS does not know by its nature. */
function isLocal(name: string): boolean {
  return !name.includes(".") || name.endsWith(".localhost") || name.endsWith(".local");
}

function isNotInDns(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" && NOT_IN_DNS.has(code);
}

/** Lines of an address and its names; `#` begins a comment (hosts(5)). */
function addressesIn(hostsFile: string, name: string): readonly string[] {
  return hostsFile.split("\n").flatMap((line) => {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    return isIP(address) !== 0 && names.some((one) => one.toLowerCase() === name) ? [address] : [];
  });
}

const dns = new Resolver({ timeout: DNS_TRY_MS, tries: DNS_TRIES });

/** By the sources of this machine. */
export const resolveName = openNameResolver({
  hostsFile: () => readFile("/etc/hosts", "utf8"),
  queryDns: (name, family) => (family === 4 ? dns.resolve4(name) : dns.resolve6(name)),
  lookUp: async (name) => {
    const found = await lookup(name, { all: true });
    return found.map(({ address }) => address);
  },
});
