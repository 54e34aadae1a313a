/** Checks the tool calls that data messages ask for, from whomever they come, like those of the model. */

import { permittedMessage } from "@parley/schema";
import type { CallState } from "../../call/call.ts";
import type { CallEngineEventBody } from "../../call/events.ts";
import { levelOf } from "../../call/life/message-rights.ts";
import { callsAskedFor, type GivenCall } from "../../call/threads/given-calls.ts";
import { checkToolCall, type CheckArguments } from "./tool-call-check.ts";

/** Calls of one event that are checked. The engine refuses more at the end of a thread's messages. */
const MAX_CHECKED = 16;

type Checked = Pick<CallState, "plan" | "stage">;

/** The tool calls of the event that are checked before the engine gets it. */
function callsToCheck(event: CallEngineEventBody, { plan }: Checked): readonly GivenCall[] {
  if (event.type !== "dataMessageReceived" && event.type !== "toolFinished") return [];
  // A check costs time, which a client that may not make calls cannot take.
  const message =
    event.type === "toolFinished"
      ? null
      : permittedMessage(levelOf(plan, event.source), event.message).message;
  return callsAskedFor(event, message).slice(0, MAX_CHECKED);
}

/** The event with what is wrong with its tool calls in the present stage; other events as they are. */
export async function withProblems(
  event: CallEngineEventBody,
  state: Checked,
  checkArguments: CheckArguments,
): Promise<CallEngineEventBody> {
  const calls = callsToCheck(event, state);
  if (calls.length === 0) return event;
  if (event.type !== "dataMessageReceived" && event.type !== "toolFinished") return event;
  const checked = calls.map(({ name, arguments: given }, index) => {
    const call = { id: "", name, arguments: given };
    return checkToolCall(call, index, state.stage.tools, checkArguments);
  });
  return { ...event, problems: (await Promise.all(checked)).map(({ problem }) => problem) };
}

export interface ForcedChecksDeps {
  readonly state: () => Checked;
  readonly checkArguments: CheckArguments;
  /** Gets the events in their order. */
  readonly post: (event: CallEngineEventBody) => void;
  readonly faulted: (error: unknown) => void;
}

/**
 * Holds data messages while the tool calls of one are checked, so that none overtakes another. What waits is bounded by
 * the rate of messages and by the limit of a check.
 */
export class ForcedChecks {
  readonly #deps: ForcedChecksDeps;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(deps: ForcedChecksDeps) {
    this.#deps = deps;
  }

  /** True: it is posted later. */
  take(event: CallEngineEventBody): boolean {
    if (event.type !== "dataMessageReceived" && event.type !== "toolFinished") return false;
    const waits = event.type === "dataMessageReceived" && this.#waiting > 0;
    if (!waits && callsToCheck(event, this.#deps.state()).length === 0) return false;
    this.#waiting += 1;
    this.#last = this.#last.then(() => this.#check(event));
    return true;
  }

  async #check(event: CallEngineEventBody): Promise<void> {
    const { state, checkArguments, post, faulted } = this.#deps;
    try {
      post(await withProblems(event, state(), checkArguments));
    } catch (error) {
      faulted(error);
    } finally {
      this.#waiting -= 1;
    }
  }
}
