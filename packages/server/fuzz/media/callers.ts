/** Program of the processes that hold callers: witnesses, whose audio must go on, or the attackers. */

import { attackCalls, type Figures } from "./attack-calls.ts";
import { attackHandshakes } from "./attack-handshakes.ts";
import { attackOffers } from "./attack-offers.ts";
import { type Caller, joinedCaller } from "./caller.ts";
import { captureCall } from "./capture-call.ts";
import type { Captures } from "./captures.ts";
import type { Attack, ToCallers } from "./messages.ts";
import { recentInputs } from "./recent-inputs.ts";
import { ServiceRequests, tell } from "./service-requests.ts";

/** Of the inputs in DTLS: those that are sent during a handshake. */
const HANDSHAKE_SHARES = { stranger: 0.1, spoofer: 0, caller: 0.5 };

const requests = new ServiceRequests();
const witnesses: Caller[] = [];
let captures: Captures | null = null;

async function talk(calls: number): Promise<void> {
  for (let call = 1; call <= calls; call += 1) {
    witnesses.push(await joinedCaller(requests, `witness-${String(call)}`, { purpose: "witness" }));
  }
  tell({ type: "talking" });
}

async function attack(wanted: Attack): Promise<void> {
  captures ??= await captureCall(requests);
  tell({ type: "done", figures: await figuresOf(wanted, captures) });
}

async function figuresOf(wanted: Attack, captured: Captures): Promise<Figures> {
  const { protocol, sender, inputs } = wanted;
  if (protocol === "sdp") return attackOffers(requests, captured, wanted);
  if (protocol !== "dtls") return attackCalls(requests, captured, { ...wanted, protocol });
  const handshakeInputs = Math.round(inputs * HANDSHAKE_SHARES[sender]);
  const first = await attackHandshakes(requests, captured, { ...wanted, inputs: handshakeInputs });
  const second = await attackCalls(requests, captured, {
    ...wanted,
    protocol,
    inputs: inputs - handshakeInputs,
  });
  return { inputs, calls: first.calls + second.calls, ended: first.ended + second.ended };
}

function failed(error: unknown): void {
  tell({ type: "fault", detail: error instanceof Error ? (error.stack ?? String(error)) : String(error) });
}

process.on("message", (message: ToCallers) => {
  if (requests.take(message)) return;
  if (message.type === "talk") talk(message.calls).catch(failed);
  else if (message.type === "attack") attack(message.attack).catch(failed);
  else if (message.type === "show") tell({ type: "inputs", inputs: recentInputs() });
  else if (message.type === "count") {
    const counts = witnesses.map(({ callId, sent, received }) => ({ callId, sent, received }));
    tell({ type: "counted", counts });
  }
});
process.on("uncaughtException", failed);
process.on("unhandledRejection", failed);
process.once("disconnect", () => process.exit());
tell({ type: "ready" });
