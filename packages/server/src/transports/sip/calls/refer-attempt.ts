/** One REFER of ours with its outcome. */

import type { ReferOutcome, ReferRequest } from "../../../ports/sip/sip-transfers.ts";
import { parseUri, uriText } from "../message/uri.ts";
import type { SipCall } from "../user-agent.ts";

/** The parts of a call that a `Replaces` names (RFC 3891), as the far side of that call sees them. */
type NamedCall = Pick<SipCall, "callId" | "localTag" | "remoteTag" | "remoteUri">;

export interface ReferAttempt {
  readonly outcome: Promise<ReferOutcome>;
  /** The far side has accepted the REFER. */
  readonly isAccepted: () => boolean;
  /** The far side has ended the call with us: the last thing of a transfer that it has accepted. */
  readonly left: () => void;
}

/** Never throws. */
export function referAttempt(call: SipCall, to: string, { headers, limitMs }: ReferRequest): ReferAttempt {
  const { promise: outcome, resolve } = Promise.withResolvers<ReferOutcome>();
  let isAccepted = false;
  try {
    call.refer(
      to,
      {
        responded(status, reason) {
          isAccepted = status < 300;
          if (!isAccepted) resolve({ kind: "refused", status, reason });
        },
        progressed(status, reason, isFinal) {
          // A NOTIFY with the final status may overtake the 202.
          if (isFinal) resolve({ kind: status < 300 ? "transferred" : "failed", status, reason });
        },
      },
      { headers, limitMs },
    );
  } catch (error) {
    resolve({ kind: "refused", status: 400, reason: error instanceof Error ? error.message : String(error) });
  }
  return {
    outcome,
    isAccepted: () => isAccepted,
    left: () => resolve({ kind: "transferred", status: 200, reason: "The far side has ended the call" }),
  };
}

/** A target whose call takes the place of ours in `named`. */
export function replacing({ callId, localTag, remoteTag, remoteUri }: NamedCall): string {
  const replaces = `${callId};to-tag=${remoteTag};from-tag=${localTag}`;
  const uri = parseUri(remoteUri);
  const target = uri === null ? remoteUri : uriText(uri);
  return `${target}?Replaces=${encodeURIComponent(replaces)}`;
}
