/**
 * Messages between the process with the connections and the processes of the callers. The callers have processes of
 * their own, so that their work and their memory are not those of the service.
 */

import type { WebRtcAnswer, WebRtcPatched } from "../../src/joins/api.ts";
import type { Protocol, Sender } from "./protocols.ts";

/** What a call is for: `witness`: its audio must go on. `offer`: its offer is an input, and it is never connected. */
export type Purpose = "witness" | Sender | "offer";

/** One protocol, attacked by one kind of sender. */
export interface Attack {
  readonly protocol: Protocol;
  readonly sender: Sender;
  readonly inputs: number;
  readonly seed: number;
}

export interface AttackFigures {
  readonly inputs: number;
  /** Connections that were attacked, one after the other; of offers: those that were answered. */
  readonly calls: number;
  /** Connections that the service ended. Only its own caller may cause that. */
  readonly ended: number;
}

export type ToCallers =
  | { readonly type: "answer"; readonly request: number; readonly answer: WebRtcAnswer }
  | { readonly type: "patched"; readonly request: number; readonly patched: WebRtcPatched }
  | { readonly type: "hungUp"; readonly request: number }
  | { readonly type: "failed"; readonly request: number; readonly detail: string }
  /** Media flow, and are sent back. */
  | { readonly type: "joined"; readonly callId: string }
  | { readonly type: "ended"; readonly callId: string }
  | { readonly type: "talk"; readonly calls: number }
  | { readonly type: "count" }
  | { readonly type: "show" }
  | { readonly type: "attack"; readonly attack: Attack };

export type FromCallers =
  | { readonly type: "ready" }
  | {
      readonly type: "offer";
      readonly request: number;
      readonly callId: string;
      readonly purpose: Purpose;
      readonly sdp: string;
    }
  | {
      readonly type: "patch";
      readonly request: number;
      readonly callId: string;
      readonly connectionId: string;
      readonly fragment: string;
    }
  | {
      readonly type: "hangUp";
      readonly request: number;
      readonly callId: string;
      readonly connectionId: string;
    }
  | { readonly type: "talking" }
  | { readonly type: "counted"; readonly counts: readonly Counted[] }
  | { readonly type: "done"; readonly figures: AttackFigures }
  | { readonly type: "fault"; readonly detail: string }
  /** The last ones, in hexadecimal digits. */
  | { readonly type: "inputs"; readonly inputs: readonly string[] };

export interface Counted {
  readonly callId: string;
  /** Packets of 20 ms. */
  readonly sent: number;
  readonly received: number;
}
