/** What the process of a fake vendor tells. Any message to it ends it. */

/** What an adapter needs to speak with a fake in another process. */
export interface VendorAddress {
  readonly baseUrl: string;
  /** Where the fake makes it: the document of a service account. */
  readonly key?: string;
  readonly tokenUrl?: string;
}

export type FromVendor =
  | ({ readonly type: "ready" } & VendorAddress)
  /** A text came, or the first of its audio was given to the network. */
  | { readonly type: "text" | "audio"; readonly text: string; readonly atMs: number }
  | { readonly type: "problems"; readonly problems: readonly string[] };

/** The same clock in all processes of a machine, which nobody sets while a benchmark runs. */
export function sharedNowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
