/**
 * Callers who wait for a warm transfer whose process has stopped. Their call has ended here, so nobody would bring them
 * back from the hold: they hear that the call is over, and the called person is hung up.
 */

import type { Logger } from "pino";
import { messageOf } from "../../pacing/error-text.ts";
import { repeat, type Loop } from "../../pacing/repeat.ts";
import { takeLeftTransfers, type LeftTransfer } from "../../store/telephony/call-transfers.ts";
import { getDial } from "../../store/telephony/carrier-dials.ts";
import { readTelephonyConfigs } from "../../store/telephony/telephony-configs.ts";
import type { TransferDeps } from "./attempts.ts";
import { transferUrlOf } from "./transfer-urls.ts";

/** Longest additional wait of such a caller. */
const SWEEP_MS = 5_000;

export type LeftTransferDeps = Pick<
  TransferDeps,
  "db" | "carriers" | "publicUrl" | "hangUpLeg" | "closing"
> & { readonly logger: Pick<Logger, "warn"> };

export function watchLeftTransfers(deps: LeftTransferDeps): Loop {
  return repeat(
    () => endLeftTransfers(deps),
    () => SWEEP_MS,
    SWEEP_MS,
    (error) => deps.logger.warn({ error: messageOf(error) }, "transfers without a process could not be read"),
  );
}

export async function endLeftTransfers(deps: LeftTransferDeps): Promise<void> {
  await endEach(deps, await takeLeftTransfers(deps.db), (left) => endLeft(deps, left));
}

/**
 * At the same time, because each caller waits. They are taken from the database only once, so a failure of one must not
 * leave the others on hold: its caller is hung up. Exported for tests.
 */
export async function endEach(
  { hangUpLeg, logger }: Pick<LeftTransferDeps, "hangUpLeg" | "logger">,
  taken: readonly LeftTransfer[],
  end: (left: LeftTransfer) => Promise<void>,
): Promise<void> {
  await Promise.all(
    taken.map(async (left) => {
      try {
        await end(left);
      } catch (error) {
        const { accountId, callId, carrier, carrierCallId } = left;
        logger.warn({ callId, error: messageOf(error) }, "a caller on hold is hung up without a sentence");
        hangUpLeg({ accountId, callId, carrier, carrierCallId });
      }
    }),
  );
}

async function endLeft(deps: LeftTransferDeps, left: LeftTransfer): Promise<void> {
  const { db, carriers, publicUrl, hangUpLeg, closing, logger } = deps;
  const { transferId, accountId, callId, carrier, carrierCallId, consultCallId } = left;
  logger.warn({ callId }, "a caller waits for a transfer that no process pursues; the call is ended");
  const called = await getDial(db, consultCallId);
  if (called !== null && called.carrierCallId !== null && called.result === null)
    hangUpLeg({ accountId, callId: consultCallId, carrier, carrierCallId: called.carrierCallId });
  const account = (await readTelephonyConfigs(db, accountId))[carrier];
  const url = transferUrlOf(publicUrl(), transferId, "instructions");
  const told =
    account === undefined
      ? null
      : await carriers[carrier].transfers.redirect(account, carrierCallId, url, closing);
  if (told?.kind !== "redirected") hangUpLeg({ accountId, callId, carrier, carrierCallId });
}
