/** Advances the side threads of a call as its state allows. Rules R118 to R121 of SPEC.md. */

import type { Draft } from "../draft.ts";
import { resultsRoomChars } from "../history/context-window.ts";
import { isHandingOver } from "../life/handing-over.ts";
import { resultShare, shortened } from "../history/history.ts";
import { speaksAfter } from "../tools/outcome.ts";
import {
  announceCall,
  announceResult,
  answerCall,
  changedState,
  plainAnswer,
  toolNamed,
} from "../tools/round.ts";
import { beginCall } from "../tools/run.ts";
import type { ToolAnswer, ToolCall } from "../tools/tool-state.ts";
import { refuseCallChange } from "./call-change.ts";
import { deliverAll } from "./deliver.ts";
import { takeInbox } from "./inbox.ts";
import { startGeneration } from "./side-generation.ts";
import { updateThread } from "./thread-draft.ts";
import { withMessage } from "./thread-history.ts";
import { SIDE_CALLS_RUNNING_MAX } from "./thread-limits.ts";
import { liveThread, threadCalls, type SideThread, type ToolFilter } from "./thread-state.ts";

export function settleThreads(draft: Draft): void {
  if (draft.state.phase.kind !== "live") return;
  for (const { threadId } of draft.state.sideThreads.list) {
    const settle = (act: (thread: SideThread) => void) => {
      const thread = liveThread(draft.state.sideThreads, threadId);
      if (thread !== null) act(thread);
    };
    settle((thread) => {
      beginCalls(draft, thread);
    });
    settle((thread) => {
      closeRound(draft, thread);
    });
    settle((thread) => {
      goOn(draft, thread);
    });
  }
}

/** Calls run together, as far as the threads' share allows. */
function beginCalls(draft: Draft, thread: SideThread): void {
  const { round } = thread;
  if (round === null || round.borrowed || isHandingOver(draft.state)) return;
  const isRunning = ({ progress }: ToolCall) => progress.kind === "running";
  for (const call of round.calls) {
    if (call.progress.kind !== "waiting") continue;
    if (threadCalls(draft.state.sideThreads).filter(isRunning).length >= SIDE_CALLS_RUNNING_MAX) return;
    begin(draft, thread, call);
  }
}

/** What a thread without audio would do by these tools. */
const REFUSED = {
  hangUp: "end the call",
  leaveVoicemail: "end the call",
  playDtmfSounds: "play tones",
  coldTransfer: "transfer the call",
  warmTransfer: "transfer the call",
  acceptTransfer: "transfer the call",
  refuseTransfer: "end the call",
} as const;

function begin(draft: Draft, { threadId, toolFilter }: SideThread, call: ToolCall): void {
  const { invocationId, toolName } = call;
  const tool = toolNamed(draft.state, toolName);
  const runs = tool !== null && call.problem === null && call.knownResult === null;
  if (runs && !isAllowed(toolFilter, toolName)) {
    const text = `The tool ${toolName} is not available in this thread.`;
    answerCall(draft, invocationId, { ...plainAnswer(text), reaction: "speaks" });
    return;
  }
  if (runs && tool.implementation.kind === "builtIn" && tool.implementation.builtIn !== "queryCorpus") {
    refuseCallChange(draft, call, threadId, REFUSED[tool.implementation.builtIn]);
    return;
  }
  if (runs) announceCall(draft, call);
  beginCall(draft, call, tool);
}

function isAllowed({ allowedTools, disallowedTools }: ToolFilter, name: string): boolean {
  return (allowedTools.length === 0 || allowedTools.includes(name)) && !disallowedTools.includes(name);
}

/** The results of a complete round join the thread's messages, and what they send goes out. */
function closeRound(draft: Draft, thread: SideThread): void {
  const { threadId, round } = thread;
  if (round === null) return;
  const answered = round.calls.flatMap((call) =>
    call.progress.kind === "answered" ? [{ call, answer: call.progress.answer }] : [],
  );
  if (answered.length < round.calls.length) return;
  const reacts = speaksAfter(draft, round);
  let { history, callState } = thread;
  const lengths = answered.map(({ answer }) => answer.text.length);
  const share = resultShare(lengths, resultsRoomChars(draft.state));
  for (const { call, answer } of answered) {
    callState = changedState(draft, callState, call, answer.stateChanges) ?? callState;
    const text = shortened(answer.text, share);
    history = withMessage(draft.state, history, { role: "tool_result", text, call });
    if (!round.borrowed) announceResult(draft, call, answer);
  }
  updateThread(draft, threadId, { history, callState, round: null, due: reacts });
  const answers: readonly ToolAnswer[] = answered.map(({ answer }) => answer);
  // What borrowed calls send is sent once, by the parent.
  if (!round.borrowed) deliverAll(draft, answers, threadId);
}

function goOn(draft: Draft, thread: SideThread): void {
  if (thread.generation !== null || thread.round !== null || isHandingOver(draft.state)) return;
  const isRetrying = thread.due && thread.retryAtMs > draft.state.clock.atMs;
  if (isRetrying) return;
  const next = thread.inbox.length === 0 ? thread : takeInbox(draft, thread);
  if (next.due && next.round === null) startGeneration(draft, next);
}
