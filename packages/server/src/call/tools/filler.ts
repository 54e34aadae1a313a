/**
 * A short sentence while a search takes its time, so that the user does not take the silence for a lost line.
 * Rules R178 and R179 of SPEC.md.
 */

import { update, type Draft } from "../draft.ts";
import { isHandingOver } from "../life/handing-over.ts";
import { cutReply } from "../reply/playout.ts";
import { startReply } from "../reply/reply.ts";
import { sentencesFor } from "../sentences.ts";
import type { CallState } from "../state.ts";
import type { WantedTimers } from "../timers.ts";
import { toolNamed } from "./round.ts";

/** Longer than most searches take, and shorter than a pause that people take for a fault. */
export const FILLER_AFTER_MS = 700;

/** The agent and the user are silent while a search runs, and nothing was said about it yet. */
function isSilentSearch(state: CallState): boolean {
  const { phase, connection, reply, turn, voice, toolRound, outputMedium } = state;
  if (toolRound === null || toolRound.spoke || toolRound.filled === true) return false;
  if (isHandingOver(state)) return false;
  if (phase.kind !== "live" || connection.kind !== "connected" || outputMedium !== "voice") return false;
  if (reply !== null || turn.kind !== "quiet" || voice.speaking) return false;
  return toolRound.calls.some(({ toolName, progress }) => {
    const { implementation } = toolNamed(state, toolName) ?? {};
    const isSearch = implementation?.kind === "builtIn" && implementation.builtIn === "queryCorpus";
    return isSearch && progress.kind === "running";
  });
}

export function fillerTimers(state: CallState): WantedTimers {
  if (!isSilentSearch(state)) return {};
  const [first] = state.toolRound?.calls ?? [];
  return { filler: { key: first?.invocationId ?? "", delayMs: FILLER_AFTER_MS } };
}

export function onFillerTimer(draft: Draft): void {
  const { toolRound, stage, inputs } = draft.state;
  if (toolRound === null || !isSilentSearch(draft.state)) return;
  update(draft, { toolRound: { ...toolRound, filled: true } });
  const text = sentencesFor(stage.languageHint).moment;
  startReply(draft, { purpose: "filler", text, covers: inputs.answered });
}

/** The results are there: a sentence that nobody has heard a part of would only delay the answer. */
export function dropUnheardFiller(draft: Draft): void {
  const { reply } = draft.state;
  if (reply?.purpose === "filler" && !reply.begun) cutReply(draft, "text");
}
