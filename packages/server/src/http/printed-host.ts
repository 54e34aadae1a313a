/** The spelling of a host in a URL; a wildcard is replaced by the loopback address. */
export function printedHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
