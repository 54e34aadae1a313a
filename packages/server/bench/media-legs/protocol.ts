/** What the benchmark of media legs and the process of the other sides say to each other. */

import type { RtpCodecName } from "../../src/transports/rtc/rtp-media.ts";

export type ToOtherSides =
  /** Take an offer; answered by `answer`. */
  | {
      readonly type: "sip";
      readonly offer: string;
      readonly codec: RtpCodecName;
      readonly isSecure: boolean;
    }
  /** Make an offer; answered by `offer`, and followed by `answer`. */
  | { readonly type: "webRtc" }
  | { readonly type: "answer"; readonly sdp: string }
  /** Answered by `counted`: frames heard since the last time. */
  | { readonly type: "count" }
  /** All of them; answered by `closed`. */
  | { readonly type: "close" };

export type FromOtherSides =
  | { readonly type: "ready" }
  | { readonly type: "answer"; readonly sdp: string }
  | { readonly type: "offer"; readonly sdp: string }
  | { readonly type: "counted"; readonly frames: number }
  | { readonly type: "closed" }
  | { readonly type: "failed"; readonly detail: string };
