/** The work of one step: the next state so far and the effects so far. It lives only within `step`. */

import type { CallEffect } from "./effects.ts";
import type { CallState, IdKind, Reply, UserTurn } from "./state.ts";

/** `state` is replaced, never changed in place; the readonly types of `CallState` enforce that. */
export interface Draft {
  state: CallState;
  readonly effects: CallEffect[];
}

export function emit(draft: Draft, effect: CallEffect): void {
  draft.effects.push(effect);
}

export function update(draft: Draft, changes: Partial<CallState>): void {
  draft.state = { ...draft.state, ...changes };
}

/** Changes the reply of the slot; the caller has checked that it exists. */
export function updateReply(draft: Draft, changes: Partial<Reply>): Reply {
  const { reply } = draft.state;
  if (reply === null) throw new Error("no reply to change");
  const next = { ...reply, ...changes };
  update(draft, { reply: next });
  return next;
}

export function updateTurn(draft: Draft, changes: Partial<UserTurn>): UserTurn {
  const { turn } = draft.state;
  if (turn.kind === "quiet") throw new Error("no turn to change");
  const next = { ...turn, ...changes };
  update(draft, { turn: next });
  return next;
}

/** The next number of its kind; ids are never used twice within a call. */
export function nextId(draft: Draft, kind: IdKind): number {
  const id = draft.state.ids[kind];
  update(draft, { ids: { ...draft.state.ids, [kind]: id + 1 } });
  return id;
}
