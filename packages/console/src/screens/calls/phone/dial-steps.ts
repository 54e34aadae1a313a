/** The progress of a dialled call, as steps and as one sentence. */

import type { Call, CallDial } from "@parley/schema";
import type { Tone } from "../../../ui/display.tsx";

export interface DialStep {
  readonly label: string;
  /** Null: it is not known when. */
  readonly at: string | null;
}

export interface DialSummary {
  readonly steps: readonly DialStep[];
  readonly text: string;
  readonly tone: Tone;
  /** Something more will happen. */
  readonly isRunning: boolean;
}

type Result = NonNullable<CallDial["result"]>;

const RESULTS: Readonly<Record<Result, { readonly text: string; readonly tone: Tone }>> = {
  completed: { text: "The call has ended", tone: "good" },
  busy: { text: "The line was busy", tone: "warn" },
  no_answer: { text: "Nobody answered", tone: "warn" },
  failed: { text: "The carrier could not connect the call", tone: "bad" },
  canceled: { text: "The call was canceled before anybody answered", tone: "warn" },
  machine: { text: "A machine answered, and the carrier ended the call", tone: "warn" },
  refused: { text: "The carrier refused the call. Nobody was dialled", tone: "bad" },
};

export function dialSummary(
  call: Pick<Call, "joined" | "ended">,
  dial: CallDial,
  carrier: string,
): DialSummary {
  const { dialled, ringing, answered, ended, result, talked } = dial;
  const steps = [
    { label: `${carrier} was asked to call`, at: dialled },
    ...(ringing === null ? [] : [{ label: "The phone rang", at: ringing }]),
    ...(answered === null ? [] : [{ label: "Answered", at: answered }]),
    ...(call.joined === null ? [] : [{ label: "The agent was connected", at: call.joined }]),
    ...(result === null ? [] : [{ label: RESULTS[result].text, at: ended ?? call.ended }]),
  ];
  if (result !== null) {
    const { text, tone } = RESULTS[result];
    const words = result === "completed" || dial.detail === null ? "" : `: ${dial.detail}`;
    const length = talked === null || result !== "completed" ? "" : ` after ${seconds(talked)}`;
    return { steps, text: `${text}${length}${words}.`, tone, isRunning: false };
  }
  if (call.ended !== null) return { steps, ...endedHere(call, dial), isRunning: false };
  return { steps, text: runningText(call, dial, carrier), tone: "agent", isRunning: true };
}

/** The call has ended in the service, and the carrier has reported no end. */
function endedHere(
  { joined }: Pick<Call, "joined">,
  { answered }: Pick<CallDial, "answered">,
): { readonly text: string; readonly tone: Tone } {
  if (joined !== null) return { text: "The call has ended.", tone: "good" };
  const before = answered === null ? "anybody answered" : "the agent was connected";
  return { text: `The call ended before ${before}.`, tone: "warn" };
}

function runningText(
  { joined }: Pick<Call, "joined">,
  { state }: Pick<CallDial, "state">,
  carrier: string,
): string {
  if (joined !== null) return "The agent is talking.";
  if (state === "answered") return "Answered. The carrier connects the agent.";
  if (state === "ringing") return "The phone is ringing.";
  return `${carrier} is dialling.`;
}

function seconds(talked: string): string {
  return `${String(Math.round(Number.parseFloat(talked)))} s`;
}
