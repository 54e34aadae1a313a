/** Which model and which server an engine uses. For traces. */

export interface EngineOrigin {
  /** As its server names it; of a language model the one that `default` selects. Unset: it has no name. */
  readonly model?: string;
  /** Unset: the engine runs on this machine. */
  readonly server?: { readonly address: string; readonly port: number };
}

/** Which engine answers a request, of a list or of several that a name selects. */
export interface ServingEngine extends EngineOrigin {
  readonly name: string;
  /** Its name in the list. */
  readonly entry: string;
}

/** Called when the answer of an engine begins; again where another engine goes on with the same answer. */
export type ServedBy = (engine: ServingEngine) => void;

/** Only what traces need of an engine. */
export function originOf({
  name,
  model,
  server,
}: EngineOrigin & { readonly name: string }): EngineOrigin & { readonly name: string } {
  return { name, ...(model === undefined ? {} : { model }), ...(server === undefined ? {} : { server }) };
}

/** The server of a base URL, without the parts of the URL that may be secret. */
export function serverOf(baseUrl: string): NonNullable<EngineOrigin["server"]> {
  const { hostname, port, protocol } = new URL(baseUrl);
  const address = hostname.replace(/^\[|\]$/g, "");
  return { address, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) };
}
