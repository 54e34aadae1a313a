/** Messages between the benchmark and the process of its callers. Times are of the wall clock, in ms with fractions. */

export type ToCallers =
  | { readonly type: "open"; readonly call: number; readonly joinUrl: string }
  | { readonly type: "say"; readonly call: number }
  | { readonly type: "text"; readonly call: number; readonly text: string }
  | { readonly type: "close"; readonly call: number };

export type FromCallers =
  | { readonly type: "ready" }
  /** `offeredMs`: just before the offer was posted. */
  | {
      readonly type: "opened";
      readonly call: number;
      readonly offeredMs: number;
      readonly connectedMs: number;
    }
  | { readonly type: "failed"; readonly call: number; readonly detail: string }
  /** The first packet of a saying was sent. */
  | { readonly type: "said"; readonly call: number; readonly atMs: number }
  /** The first packet of an utterance of the agent was received. */
  | { readonly type: "spokenTo"; readonly call: number; readonly atMs: number }
  | { readonly type: "closed"; readonly call: number; readonly packets: number };

export function wallMs(): number {
  return performance.timeOrigin + performance.now();
}
