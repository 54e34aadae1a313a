/**
 * Which process a join belongs to. A call that nobody has joined is claimed for the process that the join has reached;
 * a joined one stays where it runs.
 */

import type { CallDirectory } from "../ports/nodes/call-directory.ts";
import type { LiveCalls, StartOutcome } from "../runner/live-calls.ts";
import type { JoinLookup } from "./api.ts";
import type { JoiningCalls } from "./joining-calls.ts";

/** The first try, one after the other process has given the call up, and one after its lease has lapsed meanwhile. */
const MAX_CLAIMS = 3;

export interface ClaimDeps {
  readonly directory: CallDirectory;
  readonly liveCalls: Pick<LiveCalls, "capacity" | "handOver" | "joinState" | "release">;
  readonly joining: JoiningCalls;
  /** This process is being stopped: its waiting calls are for others. */
  readonly isDraining: () => boolean;
  /** Starts a stored call that nobody has joined, in this process. */
  readonly startWaiting: (callId: string) => Promise<StartOutcome | "over">;
  /** Takes a call that nobody has joined out of this process, with its offers. False: it was joined, or is not here. */
  readonly leave: (callId: string) => Promise<boolean>;
  /**
   * Goes on with a joined call whose process is gone, in this process. `resumed`: it waits for its client. `later`: its
   * process may still run, or this one cannot go on with it, and the client may come again.
   */
  readonly adopt: (callId: string) => Promise<"resumed" | "later" | "gone">;
  /** Gives a joined call up that is of this process and does not run here. */
  readonly giveUpLost: (callId: string) => Promise<void>;
}

/** For a call that the database does not know as joined. */
export async function claimJoin(deps: ClaimDeps, callId: string): Promise<JoinLookup> {
  const { directory, liveCalls, joining } = deps;
  if (deps.isDraining()) return "draining";
  for (let claims = 0; claims < MAX_CLAIMS; claims += 1) {
    const isHere = liveCalls.joinState(callId) !== "not_live";
    const capacity = liveCalls.capacity();
    if (!isHere && capacity !== "free") return capacity;
    const claimed = await joining.during(callId, async () =>
      (await directory.claim(callId)) ? startHere(deps, callId) : null,
    );
    if (claimed !== null) return claimed;
    const { state, holder } = await directory.ownerOf(callId);
    if (state === "over") return "gone";
    if (state === "joined") return joinedElsewhere(deps, callId);
    if (holder !== "other") continue;
    // What is kept ready here is of no use.
    if (isHere) await deps.leave(callId);
    const answer = await askHolder(directory, callId);
    if (answer === "unreachable") return "elsewhere";
    if (answer !== "released") return answer;
  }
  return "elsewhere";
}

/** `released`: the call may be claimed now. `elsewhere`: the client may return to the node that has it. */
async function askHolder(
  directory: CallDirectory,
  callId: string,
): Promise<"released" | "joined" | "gone" | "elsewhere" | "unreachable"> {
  const sent = await directory.forward(callId, { kind: "yield" });
  if (sent.kind === "unreachable") return "unreachable";
  if (sent.kind === "no_owner" || sent.answer === "released") return "released";
  return sent.answer === "joined" || sent.answer === "gone" ? sent.answer : "elsewhere";
}

async function startHere(
  { directory, liveCalls, startWaiting }: ClaimDeps,
  callId: string,
): Promise<JoinLookup> {
  const isHere = (): boolean => liveCalls.joinState(callId) !== "not_live";
  if (isHere()) return "ok";
  let outcome: StartOutcome | "over" | null = null;
  try {
    outcome = await startWaiting(callId);
  } finally {
    // Unless another join of the same moment has started it.
    if (outcome !== "started" && !isHere()) await directory.release(callId);
  }
  if (outcome === "started" || isHere()) return "ok";
  return outcome === "over" ? "gone" : outcome;
}

/** For a joined call that does not run in this process. */
export async function joinedElsewhere(
  { directory, liveCalls, adopt, leave, isDraining }: ClaimDeps,
  callId: string,
): Promise<JoinLookup> {
  const { state, holder } = await directory.ownerOf(callId);
  if (state !== "joined") return "gone";
  // The process that answers next takes it up.
  if (isDraining()) return "draining";
  // Made here and joined at another process: what was kept ready here is not the call any more.
  if (holder !== "self" && liveCalls.joinState(callId) === "joinable") await leave(callId);
  if (holder === "other") {
    const answer = await askHolder(directory, callId);
    if (answer !== "released" && answer !== "unreachable") return answer;
  }
  // Handed over, or its process is gone or seems to be: the client is held until the lease shows it.
  const outcome = await adopt(callId);
  if (outcome === "resumed") return "lost";
  return outcome === "gone" ? "gone" : "orphaned";
}

/** `released`: any process may claim it, or continue it. `joined`: it is connected here. `lost`: its client may return here. */
export type Yielded = "released" | "joined" | "lost" | "gone";

/** Another process asks for a call that this one has claimed, or keeps ready. */
export async function yieldCall(
  {
    directory,
    liveCalls,
    joining,
    leave,
    giveUpLost,
  }: Omit<ClaimDeps, "startWaiting" | "adopt" | "isDraining">,
  callId: string,
): Promise<Yielded> {
  if (joining.has(callId)) return "joined";
  if (liveCalls.joinState(callId) !== "joinable" || !(await leave(callId))) {
    const outcome = await liveCalls.handOver(callId);
    if (outcome === "joined") return "joined";
    if (outcome === "kept") return "lost";
    if (outcome === "handed_over") return "released";
    await giveUpLost(callId);
  }
  await directory.release(callId);
  return "released";
}
