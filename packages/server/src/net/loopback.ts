/** Loopback addresses are of use only to processes that share the loopback interface: those of one machine, or of one container. */

import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";

/** Whether a URL names the loopback interface. Host names other than localhost count as those of a network. */
export function isLoopbackUrl(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? "";
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/**
 * Identifies the loopback interface of this process, to be compared with that of another one. On Linux by the start of
 * the kernel and the network namespace, which containers do not share; elsewhere by the name of the machine.
 */
export async function readLoopbackId(): Promise<string> {
  if (process.platform !== "linux") return hostname();
  const [boot, namespace] = await Promise.all([
    readFile("/proc/sys/kernel/random/boot_id", "latin1").catch(() => "unknown start"),
    readlink("/proc/self/ns/net").catch(() => hostname()),
  ]);
  return `${boot.trim()} ${namespace}`;
}
