/** What the process of a fake vendor tells. Any message to it ends it. */

export type FromVendor =
  | { readonly type: "ready"; readonly baseUrl: string }
  /** A text came, or the first of its audio was given to the network. */
  | { readonly type: "text" | "audio"; readonly text: string; readonly atMs: number }
  | { readonly type: "problems"; readonly problems: readonly string[] };

/** The same clock in all processes of a machine. */
export function wallMs(): number {
  return performance.timeOrigin + performance.now();
}
