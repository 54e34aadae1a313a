/**
 * Far sides that want a call to go elsewhere (REFER): followed where the account says so, to a number that its dialling
 * rules allow. The agent then talks with whoever answers there.
 */

import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { messageOf } from "../../../pacing/error-text.ts";
import type { SipDestination } from "../../../ports/sip-calls.ts";
import type { ReferralListener, SipReferral, TransferableCall } from "../../../ports/sip/sip-transfers.ts";
import { advanceTransfer, insertTransfer } from "../../../store/telephony/call-transfers.ts";
import { noteProgress } from "../../../store/telephony/carrier-dials.ts";
import { admitDial, readDiallingRules, type DiallingRules } from "../../../store/telephony/dialling-rules.ts";
import { inTransaction, type Db } from "../../../store/database/db.ts";
import { isSipEnabled } from "../../../store/telephony/sip-accounts.ts";
import { readSipRules, type SipRules } from "../../../store/telephony/sip-rules.ts";
import { numberProblem } from "../../number-rules.ts";
import { noteTransfer, type TransferNote } from "../../transfers/transfer-notes.ts";
import type { TransferOutcome } from "../../transfers/transfer-calls.ts";
import { RESULTS } from "../outcomes.ts";
import { readSipGround } from "./sip-ground.ts";
import { ownUriOf, placeOf } from "./sip-transfer-order.ts";
import { COLD_LIMIT_MS } from "./sip-transfers.ts";

/** Of one call. People transfer a call once or twice; two phone systems that refer to each other never stop. */
export const MAX_FOLLOWED = 5;

/** The answer to a REFER that is not followed, whatever the reason is. */
const DECLINED = 603;
/** In the response to an attended transfer, which a phone system may offer only because it does not know better. */
const NO_REPLACES = "Replaces Is Not Supported";

export interface IncomingReferDeps {
  readonly db: Db;
  readonly sipHost: string;
  readonly nowMs: () => number;
  /** Called once for each REFER of an account that follows them, for the metrics. */
  readonly counted: (outcome: TransferOutcome) => void;
  /** Called when somebody else has answered and has the call. */
  readonly replaced: (callId: string) => void;
  readonly logger: Pick<Logger, "warn">;
}

export type Referred = (referral: SipReferral, call: TransferableCall) => void;

export function createIncomingRefers(deps: IncomingReferDeps): Referred {
  /** REFERs that were followed. */
  const followed = new WeakMap<TransferableCall, number>();
  return (referral, call) => {
    decide(deps, referral, call, followed).catch((error: unknown) => {
      const { callId } = call.owner;
      deps.logger.warn({ callId, error: messageOf(error) }, "a REFER could not be decided about");
      referral.refuse(500);
    });
  };
}

interface Move {
  readonly transferId: string;
  readonly destination: SipDestination;
}

async function decide(
  deps: IncomingReferDeps,
  referral: SipReferral,
  call: TransferableCall,
  followed: WeakMap<TransferableCall, number>,
): Promise<void> {
  const { db } = deps;
  const { accountId } = call.owner;
  const rules = await readSipRules(db, accountId);
  if (rules.incomingRefer !== "follow" || !(await isSipEnabled(db, accountId))) {
    decline(referral);
    return;
  }
  const nth = followed.get(call) ?? 0;
  const moved =
    nth >= MAX_FOLLOWED
      ? { problem: `the call was transferred ${String(nth)} times` }
      : await admitted(deps, referral, call, rules);
  if ("problem" in moved) {
    deps.counted("refused");
    decline(referral);
    await note(deps, call, "sip.transfer_failed", `a REFER of the other side was refused: ${moved.problem}`);
    return;
  }
  followed.set(call, nth + 1);
  const { transferId, destination } = moved;
  await note(deps, call, "sip.transferring", "the other side transfers the call", { transferId });
  referral.follow(destination, outcomesOf(deps, call, transferId));
}

function decline(referral: SipReferral): void {
  if (referral.hasReplaces) referral.refuse(DECLINED, NO_REPLACES);
  else referral.refuse(DECLINED);
}

/** Checks everything that can be checked before anybody is called, and stores the transfer with its dial. */
async function admitted(
  { db, sipHost }: IncomingReferDeps,
  { to, hasReplaces }: SipReferral,
  call: TransferableCall,
  { dialledSrtp: srtp }: SipRules,
): Promise<Move | { readonly problem: string }> {
  const { owner, peerUri } = call;
  const { accountId, callId } = owner;
  if (hasReplaces) return { problem: "it names a call that is to be replaced" };
  const number = numberOf(to);
  if (number === null) return { problem: "the target must be a number in E.164 form, such as +4930123456" };
  const rules = await readDiallingRules(db, accountId);
  const forbidden = numberProblem(number, rules.allowedPrefixes, "farSide");
  if (forbidden !== null) return { problem: `the target ${forbidden}` };
  const ground = await readSipGround(db, sipHost, { owner, peerUri });
  if (ground === null) return { problem: "the call does not exist" };
  if (call.isOver) return { problem: "the call has ended" };
  const transferId = randomUUID();
  // Both or neither: a dial without a transfer would stay without a result, and count for the limits of the day.
  const admission = await inTransaction(db, async (tx) => {
    const dial = await admitDial(tx, accountId, { callId: transferId, carrier: "sip", number }, rules);
    const transfer = {
      transferId,
      callId,
      carrier: "sip",
      carrierCallId: callId,
      order: { to: number },
    } as const;
    if (dial.kind === "admitted") await insertTransfer(tx, accountId, transfer);
    return dial;
  });
  if (admission.kind !== "admitted") {
    const limit = admission.kind === "calls" ? "dialled calls" : "dialled minutes";
    return { problem: `the account's limit of ${limit} within 24 hours is reached` };
  }
  // The host of the target could be anybody's. Numbers are dialled where the call itself is.
  const { scheme, place, transport } = placeOf(peerUri);
  const destination: SipDestination = {
    to: `${scheme}:${number}@${place}${transport}`,
    from: ownUriOf(ground.ownAddress ?? "anonymous", ground.domain),
    credentials: ground.credentials,
    ringLimitMs: COLD_LIMIT_MS,
    srtp,
    mayRedirectTo: (uri) => mayRedirect(uri, rules),
  };
  return { transferId, destination };
}

function mayRedirect(uri: string, { allowedPrefixes }: DiallingRules): boolean {
  const number = numberOf(uri);
  return number !== null && numberProblem(number, allowedPrefixes, "farSide") === null;
}

/** Of `sip:+49…@host` and `tel:+49-…`; null: it has none. */
export function numberOf(uri: string): string | null {
  const user = /^sips?:([^@;?]+)@/i.exec(uri)?.[1] ?? /^tel:([^;?]+)/i.exec(uri)?.[1] ?? "";
  const digits = user.replaceAll(/%2B/gi, "+").replaceAll(/[-.()]/g, "");
  return /^\+[1-9]\d{1,14}$/.test(digits) ? digits : null;
}

/** Stores what becomes of it. What cannot be stored is logged: the call goes on. */
function outcomesOf(deps: IncomingReferDeps, call: TransferableCall, transferId: string): ReferralListener {
  const { db, logger } = deps;
  const { accountId, callId } = call.owner;
  const store = (storing: Promise<unknown>): void => {
    storing.catch((error: unknown) => {
      logger.warn({ callId, error: messageOf(error) }, "the outcome of a transfer could not be stored");
    });
  };
  const progress = (step: Omit<Parameters<typeof noteProgress>[3], "carrierCallId">): void =>
    store(noteProgress(db, accountId, transferId, { carrierCallId: null, ...step }));
  const advance = (to: "connected" | "failed", failure?: string): void =>
    store(
      advanceTransfer(db, accountId, transferId, {
        from: ["requested"],
        to,
        ...(failure === undefined ? {} : { failure }),
      }),
    );
  return {
    answered() {
      deps.counted("connected");
      deps.replaced(callId);
      progress({ isAnswered: true, result: null, detail: null, talkedMs: null });
      advance("connected");
      void note(deps, call, "sip.transferred", "the other side has transferred the call", { by: "INVITE" });
    },
    failed(termination, detail) {
      deps.counted("failed");
      progress({ isAnswered: false, result: RESULTS[termination], detail, talkedMs: null });
      advance("failed", detail);
      const text = "the transfer by the other side has failed";
      void note(deps, call, "sip.transfer_failed", text, { termination, detail });
    },
    ended(termination, talkedMs) {
      const result = RESULTS[termination];
      progress({ isAnswered: true, result, detail: null, talkedMs: Math.round(talkedMs) });
    },
  };
}

/** A note that cannot be stored changes nothing of the transfer. Never rejects. */
async function note(
  deps: IncomingReferDeps,
  { owner }: TransferableCall,
  type: TransferNote["type"],
  text: string,
  extras: object = {},
): Promise<void> {
  const severity = type === "sip.transfer_failed" ? "warning" : "info";
  const { accountId, callId } = owner;
  try {
    await noteTransfer(deps, accountId, callId, { severity, type, text, extras });
  } catch (error) {
    deps.logger.warn({ callId, error: messageOf(error) }, "an event of a transfer could not be stored");
  }
}
