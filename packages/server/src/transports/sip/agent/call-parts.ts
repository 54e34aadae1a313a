/** What the parts of one call share. */

import type { Clock } from "../../../pacing/clock.ts";
import type { SipCallEnd, SipCallListener, SipHeader } from "../user-agent.ts";
import type { SipRandom } from "./context.ts";
import type { DialogLine } from "./dialog-line.ts";
import type { RefreshWatch } from "./refresh-watch.ts";

export interface CallParts {
  readonly clock: Clock;
  readonly random: SipRandom;
  readonly line: DialogLine;
  readonly watch: RefreshWatch;
  readonly contact: SipHeader;
  readonly isCaller: boolean;
  readonly listener: () => SipCallListener;
  readonly isOffering: () => boolean;
  readonly isPeerBusy: () => boolean;
  readonly call: {
    readonly isOver: boolean;
    /** Ends the call with BYE, unless it is over. */
    finish(cause: Exclude<SipCallEnd["cause"], "remote">, reason: string | null): void;
    sendDeferredBye(): void;
  };
  /** Our description that counts, for refreshes. */
  localSdp: string;
  peerAllowsUpdate: boolean;
}
