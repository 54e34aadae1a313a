/** What the agent says while the words of a turn are awaited from a recogniser that does not answer. Rule R155 of SPEC.md. */

import { update, type Draft } from "../draft.ts";
import { takeNotice } from "../life/engines.ts";
import { startReply } from "../reply/reply.ts";
import { sentencesFor } from "../sentences.ts";
import type { UserTurn } from "../state.ts";

/**
 * The turn has ended, no recogniser has given its words, and the slot is free. Once in an outage. It is not among the
 * forced messages: one that is cut short would be said again after the words that it asks to wait for.
 */
export function askToWaitForWords(draft: Draft, turn: UserTurn): void {
  update(draft, { turn: { ...turn, asksPatience: false } });
  if (draft.state.outputMedium !== "voice" || !takeNotice(draft, "stt")) return;
  const { stage, inputs } = draft.state;
  const text = sentencesFor(stage.languageHint).moment;
  startReply(draft, { purpose: "reminder", text, covers: inputs.answered });
}
