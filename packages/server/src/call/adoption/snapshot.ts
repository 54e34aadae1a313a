/**
 * Snapshots of a call: the state of its engine as JSON, from which another process continues the call.
 * Until the client of another process is back, the call takes no message (R176); where it stays away, the snapshot says
 * what the call has used (R177). Rule R180 of SPEC.md.
 */

import type { CallPlan, StagePlan } from "../../plan/plan.ts";
import type { CallState } from "../state.ts";

/**
 * Raised with each change of `CallState` that an older snapshot does not fit. A snapshot of another version is never
 * read.
 */
export const SNAPSHOT_VERSION = 1;

/** The plan is stored with the call. `stage` null: it is the first one, which the plan has. */
export type SnapshotState = Omit<CallState, "plan" | "stage"> & { readonly stage: StagePlan | null };

export interface CallSnapshot {
  readonly version: number;
  readonly state: SnapshotState;
}

/** Shares everything with the state, so it costs nothing until it is written. */
export function snapshotOf(state: CallState): CallSnapshot {
  const { plan, stage, ...rest } = state;
  return {
    version: SNAPSHOT_VERSION,
    state: { ...rest, stage: stage.stageId === plan.stage.stageId ? null : stage },
  };
}

/** @throws Error when the snapshot is of another version of the engine */
export function stateOfSnapshot(plan: CallPlan, { version, state }: CallSnapshot): CallState {
  if (version !== SNAPSHOT_VERSION) {
    throw new Error(`a snapshot of version ${String(version)}, not ${String(SNAPSHOT_VERSION)}`);
  }
  return { ...state, plan, stage: state.stage ?? plan.stage };
}
