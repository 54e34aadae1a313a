/** What must be true of every call after the kills. */

import type { Rest } from "../../demo/child-service.ts";
import { allOf } from "../batches.ts";
import type { Conversation } from "./conversation.ts";
import { answerText, turnText } from "./counting-engines.ts";

export interface CallRecord {
  readonly callId: string;
  readonly joinUrl: string;
  readonly ended: string | null;
  readonly endReason: string | null;
}

interface Message {
  readonly role: string;
  readonly text: string;
}

/** Calls end, and orphans are given up, within this. */
const SETTLE_LIMIT_MS = 120_000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Empty when each call has ended once, by the hang-up of its client, its history has every turn that the client heard
 * the answer to, in order and once, and no tool was called twice for a turn.
 */
export async function faultsOf(
  rest: Rest,
  known: ReadonlyMap<string, Conversation>,
  counts: ReadonlyMap<string, number>,
): Promise<string[]> {
  const faults: string[] = [];
  for (const [key, count] of counts)
    if (count > 1) faults.push(`the tool was called ${String(count)} times for ${key}`);
  const untilMs = performance.now() + SETTLE_LIMIT_MS;
  for (const [callId, conversation] of known) {
    const found = [
      ...clientFaults(conversation),
      ...(await endFaults(rest, callId, untilMs)),
      ...(await historyFaults(rest, callId, conversation)),
    ];
    faults.push(...found.map((fault) => `${callId}: ${fault}`));
  }
  return faults;
}

function clientFaults({ over, silentReturns, completed }: Conversation): string[] {
  return [
    ...(over === null ? [] : [`its client could not go on: ${String(over)}`]),
    ...(silentReturns === 0 ? [] : [`it stayed silent after ${String(silentReturns)} returns`]),
    ...(completed.length > 0 ? [] : ["no turn was answered"]),
  ];
}

async function endFaults(rest: Rest, callId: string, untilMs: number): Promise<string[]> {
  let call = await rest<CallRecord>("GET", `/api/calls/${callId}`);
  while (call.ended === null && performance.now() < untilMs) {
    await pause(1_000);
    call = await rest<CallRecord>("GET", `/api/calls/${callId}`);
  }
  if (call.ended === null) return ["it has not ended"];
  const faults = call.endReason === "hangup" ? [] : [`it ended with ${String(call.endReason)}`];
  const events = await allOf<{ type: string }>(rest, `/api/calls/${callId}/events?pageSize=100`);
  for (const type of ["call.joined", "call.ended"]) {
    const number = events.filter((event) => event.type === type).length;
    if (number !== 1) faults.push(`it has ${String(number)} events ${type}`);
  }
  return faults;
}

async function historyFaults(
  rest: Rest,
  callId: string,
  { asked, completed }: Conversation,
): Promise<string[]> {
  const messages = await allOf<Message>(rest, `/api/calls/${callId}/messages?pageSize=100`);
  const placesOf = (role: string, text: string): number[] =>
    messages.flatMap((message, place) =>
      message.role === role && message.text.includes(text) ? [place] : [],
    );
  const faults: string[] = [];
  let last = -1;
  for (let turn = 1; turn <= asked; turn += 1) {
    const [place = -1, ...more] = placesOf("MESSAGE_ROLE_USER", turnText(turn));
    if (more.length > 0) faults.push(`turn ${String(turn)} is ${String(more.length + 1)} times on record`);
    if (place !== -1 && place < last) faults.push(`turn ${String(turn)} is not in its place`);
    last = Math.max(last, place);
    if (!completed.includes(turn)) continue;
    if (place === -1) faults.push(`turn ${String(turn)} was answered and is not on record`);
    else if (!placesOf("MESSAGE_ROLE_AGENT", answerText(turn)).some((answer) => answer > place))
      faults.push(`the answer to turn ${String(turn)} was heard and is not on record`);
  }
  return faults;
}
