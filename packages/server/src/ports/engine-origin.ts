/** Which model and which server an engine uses. For traces. */

export interface EngineOrigin {
  /** As its server names it; of a language model the one that `default` selects. Unset: it has no name. */
  readonly model?: string;
  /** Unset: the engine runs on this machine. */
  readonly server?: { readonly address: string; readonly port: number };
}

/** The server of a base URL, without the parts of the URL that may be secret. */
export function serverOf(baseUrl: string): NonNullable<EngineOrigin["server"]> {
  const { hostname, port, protocol } = new URL(baseUrl);
  const address = hostname.replace(/^\[|\]$/g, "");
  return { address, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) };
}
