/** Attacks connections, one after the other and a few at a time, until all inputs are sent. */

import { Draw } from "../../sim/draw.ts";
import { ATTACK_KINDS, type AttackKind, type Target } from "./attack-kinds.ts";
import { joinedCaller } from "./caller.ts";
import type { Captures } from "./captures.ts";
import type { Attack, AttackFigures } from "./messages.ts";
import { PROTOCOLS, type Protocol } from "./protocols.ts";
import { remember } from "./recent-inputs.ts";
import type { ServiceRequests } from "./service-requests.ts";
import { openStranger } from "./stranger.ts";

/** Inputs that are on their way at a time: the receive buffer of a UDP socket holds some 90 large datagrams. */
const BATCH = 32;

/** The draws of one of several attackers; no two are the same in a run. */
export function drawOf({ seed, protocol, sender }: Attack, lane: number): Draw {
  const place =
    PROTOCOLS.indexOf(protocol) * 64 + ["stranger", "spoofer", "caller"].indexOf(sender) * 16 + lane;
  return new Draw(Math.imul(seed, 0x9e37_79b1) + place * 7_919);
}

/** The inputs of one of several attackers. Each has its share, so that what it sends depends on the seed alone. */
export class InputCount {
  readonly #most: number;
  #taken = 0;

  private constructor(most: number) {
    this.#most = most;
  }

  static share(inputs: number, lane: number, lanes: number): InputCount {
    return new InputCount(Math.floor(inputs / lanes) + (lane < inputs % lanes ? 1 : 0));
  }

  get isOver(): boolean {
    return this.#taken >= this.#most;
  }

  take(): void {
    this.#taken += 1;
  }
}

/** `AttackFigures` that are counted up. */
export interface Figures extends AttackFigures {
  calls: number;
  ended: number;
}

export function attackFigures(inputs: number): Figures {
  return { inputs, calls: 0, ended: 0 };
}

export async function attackCalls(
  requests: ServiceRequests,
  captures: Captures,
  attack: Attack & { readonly protocol: Exclude<Protocol, "sdp"> },
): Promise<Figures> {
  const kind = ATTACK_KINDS[attack.protocol][attack.sender];
  if (kind === undefined) throw new Error(`there is no attack by a ${attack.sender}`);
  const figures = attackFigures(attack.inputs);
  const stranger = await openStranger();
  const lane = async (index: number): Promise<void> => {
    const draw = drawOf(attack, index);
    const count = InputCount.share(attack.inputs, index, kind.lanes);
    while (!count.isOver) {
      figures.calls += 1;
      const callId = `${attack.sender}-${attack.protocol}-${String(figures.calls)}`;
      const caller = await joinedCaller(requests, callId, { purpose: attack.sender });
      await attackCall(kind, { caller, stranger, captures }, draw, count);
      if (attack.sender !== "caller") await caller.talksOn();
      else if (caller.isEnded) figures.ended += 1;
      await caller.close();
    }
  };
  try {
    await Promise.all(Array.from({ length: kind.lanes }, (_, index) => lane(index)));
  } finally {
    stranger.close();
  }
  if (attack.sender === "stranger" && stranger.answers > 0) {
    throw new Error(`a stranger got ${String(stranger.answers)} answers`);
  }
  return figures;
}

async function attackCall(kind: AttackKind, target: Target, draw: Draw, count: InputCount): Promise<void> {
  const deliver = kind.begin(target);
  for (let sent = 0; sent < kind.inputsPerCall && !count.isOver;) {
    const sending: Promise<Buffer>[] = [];
    while (sending.length < BATCH && !count.isOver) {
      sending.push(deliver(draw));
      count.take();
      sent += 1;
    }
    for (const input of await Promise.all(sending)) remember(input);
    if (!(await target.caller.settled())) return;
  }
}
