/** Gives calls back that this process has taken and does not run, so that any process may take them. */

import type { Logger } from "pino";
import type { Clock } from "../../pacing/clock.ts";
import { messageOf } from "../../pacing/error-text.ts";
import type { Db } from "../../store/database/db.ts";
import type { NodeBoot } from "../../store/nodes/node-claims.ts";
import { giveUpCall } from "../../store/snapshots/orphans.ts";

/** Between two tries. */
const RETRY_MS = 500;
/** Clients wait for 30 s. What is not given back after this is ended as a call that its process does not run. */
const GIVE_BACK_LIMIT_MS = 600_000;

export interface GiveBackDeps {
  readonly db: Db;
  readonly boot: NodeBoot;
  readonly clock: Pick<Clock, "after" | "nowMs">;
  readonly logger: Pick<Logger, "error">;
}

export class GiveBacks {
  readonly #deps: GiveBackDeps;
  readonly #signal: AbortSignal;
  readonly #underWay = new Set<string>();

  constructor(deps: GiveBackDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
  }

  /** Whether the database has not answered yet. */
  has(callId: string): boolean {
    return this.#underWay.has(callId);
  }

  get count(): number {
    return this.#underWay.size;
  }

  /**
   * Resolves after the first try; others follow until the database has answered. Never rejects. A call that is not of
   * this process stays as it is.
   * @param orphanedAtMs since when its client has waited, ms since 1970; null: since now
   */
  async start(callId: string, orphanedAtMs: number | null): Promise<void> {
    this.#underWay.add(callId);
    await this.#attempt(callId, orphanedAtMs, this.#deps.clock.nowMs() + GIVE_BACK_LIMIT_MS);
  }

  async #attempt(callId: string, orphanedAtMs: number | null, untilMs: number): Promise<void> {
    const { db, boot, clock, logger } = this.#deps;
    try {
      await giveUpCall(db, boot, callId, orphanedAtMs);
    } catch (error) {
      if (!this.#signal.aborted && clock.nowMs() < untilMs) {
        clock.after(RETRY_MS, () => void this.#attempt(callId, orphanedAtMs, untilMs));
        return;
      }
      logger.error({ callId, error: messageOf(error) }, "a call could not be given back");
    }
    this.#underWay.delete(callId);
  }
}
