/** Checks the tool calls of forced messages, from whomever they come, like those of the model. */

import { type ClientDataMessage, permittedMessage } from "@parley/schema";
import type { CallState } from "../../call/call.ts";
import type { CallEngineEventBody } from "../../call/events.ts";
import { levelOf } from "../../call/life/message-rights.ts";
import { checkToolCall, type CheckArguments } from "./tool-call-check.ts";

type ForcedMessage = Extract<ClientDataMessage, { readonly type: "forced_agent_message" }>;
type Checked = Pick<CallState, "plan" | "stage">;

/** The tool calls of the event that are checked before the engine gets it. */
function callsToCheck(event: CallEngineEventBody, { plan }: Checked): ForcedMessage["toolCalls"] {
  if (event.type !== "dataMessageReceived" || event.message.type !== "forced_agent_message") return [];
  const { message } = permittedMessage(levelOf(plan, event.source), event.message);
  // A check costs time, which a client that may not make calls cannot take.
  return message?.type === "forced_agent_message" ? message.toolCalls : [];
}

/** The event with what is wrong with its tool calls in the present stage; other events as they are. */
export async function withProblems(
  event: CallEngineEventBody,
  state: Checked,
  checkArguments: CheckArguments,
): Promise<CallEngineEventBody> {
  const calls = callsToCheck(event, state);
  if (event.type !== "dataMessageReceived" || calls.length === 0) return event;
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
    if (event.type !== "dataMessageReceived") return false;
    if (this.#waiting === 0 && callsToCheck(event, this.#deps.state()).length === 0) return false;
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
