/** What happens to calls over SIP: their medium, their dials and their events. */

import type { SipTermination } from "@parley/schema";
import type { Logger } from "pino";
import { messageOf } from "../../pacing/error-text.ts";
import type { SipCallListener, SipCallOwner, SipMediaFigures } from "../../ports/sip-calls.ts";
import type { LiveCalls } from "../../runner/live-calls.ts";
import type { Db } from "../../store/database/db.ts";
import { noteSipTermination } from "../../store/calls/sip-terminations.ts";
import { type DialResult, noteProgress } from "../../store/telephony/carrier-dials.ts";
import { type CallNote, noteInCall } from "../call-notes.ts";

export interface SipOutcomeDeps {
  readonly db: Db;
  readonly liveCalls: Pick<LiveCalls, "connectCall" | "endUnjoined">;
  /** For the metrics. */
  readonly measured: (figures: SipMediaFigures) => void;
  readonly logger: Pick<Logger, "error">;
}

export const RESULTS: Readonly<Record<SipTermination, DialResult>> = {
  NORMAL: "completed",
  INVALID_NUMBER: "failed",
  TIMEOUT: "no_answer",
  DESTINATION_UNAVAILABLE: "failed",
  BUSY: "busy",
  CANCELED: "canceled",
  REJECTED: "failed",
  UNKNOWN: "failed",
};

type Outcomes = Required<
  Pick<SipCallListener, "connected" | "failed" | "ended" | "unencrypted" | "measured">
>;

export function createSipOutcomes(deps: SipOutcomeDeps): Outcomes {
  const { db, liveCalls, logger } = deps;
  /** Records must not end a call: what cannot be stored is logged. */
  const store = (owner: SipCallOwner, dial: Dial, note: CallNote): void => {
    storeOutcome(db, owner, dial, note).catch((error: unknown) => {
      const { callId } = owner;
      logger.error({ callId, error: messageOf(error) }, "the outcome of a SIP call could not be stored");
    });
  };
  return {
    async connected(owner, open) {
      try {
        const info = { clientVersion: null, experimentalMessages: [] };
        const outcome = await liveCalls.connectCall(
          owner.callId,
          (_medium, listener) => open(listener),
          info,
        );
        if (outcome !== "connected") return false;
        store(owner, { isAnswered: true, result: null, detail: null, talkedMs: null }, ANSWERED);
        return true;
      } catch (error) {
        const { callId } = owner;
        logger.error({ callId, error: messageOf(error) }, "a SIP call could not be connected");
        liveCalls.endUnjoined(callId);
        return false;
      }
    },
    failed(owner, termination, detail) {
      const note: CallNote = {
        severity: "warning",
        type: "sip.failed",
        text: `the call was not connected: ${detail}`,
        extras: { termination },
      };
      const { accountId, callId } = owner;
      const dial = { isAnswered: false, result: RESULTS[termination], detail, talkedMs: null };
      // The end of the call stores what is not known by then, and batches read the result after it.
      Promise.all([
        noteSipTermination(db, accountId, callId, termination),
        storeOutcome(db, owner, dial, note),
      ])
        .catch((error: unknown) => {
          logger.error({ callId, error: messageOf(error) }, "the outcome of a SIP call could not be stored");
        })
        .finally(() => liveCalls.endUnjoined(callId));
    },
    ended(owner, termination, talkedMs) {
      const note: CallNote = {
        severity: "info",
        type: "sip.ended",
        text: "the SIP call has ended",
        extras: { termination },
      };
      const result = RESULTS[termination];
      // Also the time without the agent, after a transfer.
      store(owner, { isAnswered: true, result, detail: null, talkedMs: Math.round(talkedMs) }, note);
    },
    unencrypted(owner) {
      const { accountId, callId } = owner;
      noteInCall(db, accountId, callId, UNENCRYPTED).catch((error: unknown) => {
        logger.error({ callId, error: messageOf(error) }, "an event of a SIP call could not be stored");
      });
    },
    measured(owner, figures) {
      deps.measured(figures);
      const { accountId, callId } = owner;
      noteInCall(db, accountId, callId, mediaNote(figures)).catch((error: unknown) => {
        logger.error({ callId, error: messageOf(error) }, "the figures of a SIP call could not be stored");
      });
    },
  };
}

/** Times in ms with one digit after the point. */
function mediaNote({ packetsSent, packetsReceived, packetsLost, ...rest }: SipMediaFigures): CallNote {
  const rounded = (ms: number): number => Math.round(ms * 10) / 10;
  const { jitterMs, roundTripMs, remote } = rest;
  return {
    severity: "info",
    type: "sip.media",
    text: `${String(packetsLost)} of ${String(packetsReceived + packetsLost)} packets of the other side were lost`,
    extras: {
      packetsSent,
      packetsReceived,
      packetsLost,
      jitterMs: rounded(jitterMs),
      roundTripMs: roundTripMs === null ? null : rounded(roundTripMs),
      remote:
        remote === null ? null : { packetsLost: remote.packetsLost, jitterMs: rounded(remote.jitterMs) },
    },
  };
}

const UNENCRYPTED: CallNote = {
  severity: "warning",
  type: "sip.unencrypted",
  text: "the other side has refused encrypted media, and is called again without encryption",
  extras: null,
};

const ANSWERED: CallNote = {
  severity: "info",
  type: "sip.answered",
  text: "the SIP call was answered",
  extras: null,
};

interface Dial {
  readonly isAnswered: boolean;
  readonly result: DialResult | null;
  readonly detail: string | null;
  readonly talkedMs: number | null;
}

async function storeOutcome(
  db: Db,
  { accountId, callId }: SipCallOwner,
  dial: Dial,
  note: CallNote,
): Promise<void> {
  // Without effect on a call that came in, which has no dial.
  await noteProgress(db, accountId, callId, { ...dial, carrierCallId: null });
  await noteInCall(db, accountId, callId, note);
}
