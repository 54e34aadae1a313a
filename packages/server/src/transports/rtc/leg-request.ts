/** What a thread of legs can open. */

import type { PeerOptions } from "./peer.ts";
import type { RtpSocketOptions } from "./rtp-media.ts";

export type LegRequest =
  | { readonly kind: "webRtc"; readonly offer: string; readonly options: PeerOptions }
  | { readonly kind: "rtp"; readonly options: RtpSocketOptions };

/** What came of it. */
export type LegOpening =
  | { readonly kind: "webRtc"; readonly answer: string }
  | { readonly kind: "rtp"; readonly port: number; readonly rtcpPort: number };
