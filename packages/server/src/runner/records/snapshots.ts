/**
 * Takes snapshots of a live call, and starts its effects. What sends a tool waits until the snapshot that knows of it is
 * stored, and while another process may have taken the call, so that no two processes send it. Rule R175 of SPEC.md.
 */

import { isSnapshotDue, sendsTool } from "../../call/adoption/snapshot-due.ts";
import { snapshotOf } from "../../call/adoption/snapshot.ts";
import type { CallState } from "../../call/call.ts";
import type { CallEffect } from "../../call/effects.ts";
import type { Clock } from "../../pacing/clock.ts";
import type { CallLease } from "../call-deps.ts";
import type { CallUse } from "../use/call-use.ts";
import type { RecordQueue } from "./record-queue.ts";

/**
 * How long a tool waits for its snapshot. A write takes some milliseconds; with a database that does not answer, the
 * call goes on as it would without snapshots.
 */
export const STORE_LIMIT_MS = 1_000;

export interface SnapshotDeps {
  readonly records: Pick<RecordQueue, "snapshot">;
  readonly use: Pick<CallUse, "soFar">;
  readonly clock: Pick<Clock, "after">;
  /** Undefined: no other process can take the call. */
  readonly lease?: CallLease | undefined;
  readonly start: (effect: CallEffect) => void;
}

export class Snapshots {
  readonly #deps: SnapshotDeps;
  readonly #isOn: boolean;
  /** Invocations that wait for their snapshot. */
  readonly #held = new Set<string>();

  /** @param isOn false: nothing is stored, and nothing waits */
  constructor(isOn: boolean, deps: SnapshotDeps) {
    this.#isOn = isOn;
    this.#deps = deps;
  }

  /** Starts the effects of a step. */
  run(before: CallState, after: CallState, effects: readonly CallEffect[]): void {
    const { start } = this.#deps;
    if (!this.#isOn) {
      for (const effect of effects) start(effect);
      return;
    }
    const late = effects.filter(sendsTool);
    for (const effect of late) this.#held.add(invocationOf(effect));
    for (const effect of effects) {
      if (sendsTool(effect)) continue;
      // What was not sent yet need not be aborted.
      if (effect.type === "abortTool" && this.#held.delete(effect.invocationId)) continue;
      start(effect);
    }
    if (!isSnapshotDue(before, after, effects)) {
      for (const effect of late) this.#send(effect);
      return;
    }
    const { records, use, clock } = this.#deps;
    const stored = records.snapshot({ snapshot: snapshotOf(after), use: use.soFar() });
    if (late.length === 0) return;
    let isOver = false;
    const send = (): void => {
      if (isOver) return;
      isOver = true;
      cancel();
      for (const effect of late) this.#send(effect);
    };
    const cancel = clock.after(STORE_LIMIT_MS, send);
    void stored.then(send);
  }

  #send(effect: CallEffect): void {
    const invocationId = invocationOf(effect);
    if (!this.#held.has(invocationId)) return;
    const { lease, start } = this.#deps;
    if (lease?.isHeld() === false) {
      // Until then the tool's own timeout passes. Where another process has the call, it is stopped here before.
      void lease.whenHeld().then(() => this.#send(effect));
      return;
    }
    this.#held.delete(invocationId);
    start(effect);
  }
}

function invocationOf(effect: CallEffect): string {
  if (effect.type === "invokeTool") return effect.invocation.invocationId;
  if (effect.type !== "sendDataMessage" && effect.type !== "sendDataConnectionMessage") return "";
  const { message } = effect;
  const invokes =
    message.type === "client_tool_invocation" || message.type === "data_connection_tool_invocation";
  return invokes ? message.invocationId : "";
}
