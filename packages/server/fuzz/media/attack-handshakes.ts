/** Sends changed handshake messages while a DTLS handshake is under way, between those of the client. */

import { attackFigures, drawOf, type Figures, InputCount } from "./attack-calls.ts";
import { Caller, joinedCaller, type JoinOptions } from "./caller.ts";
import type { Captures } from "./captures.ts";
import { udpOf } from "./client-inside.ts";
import { dtlsFields } from "./fields.ts";
import type { Attack } from "./messages.ts";
import { mutated, oneOf } from "./mutate.ts";
import { remember } from "./recent-inputs.ts";
import type { ServiceRequests } from "./service-requests.ts";
import { openStranger, type Stranger } from "./stranger.ts";

const LANES = 3;
/** Other draws than those of the attacks on connections that are made already. */
const FIRST_LANE = 8;
/** Before each datagram of the client. The service takes 64 KiB of handshake messages for one connection. */
const INPUTS_PER_DATAGRAM = 25;
const MAX_INPUTS_PER_CALL = 150;
/** A handshake that its own caller has broken goes no further. Over the loopback one takes some 50 ms. */
const BROKEN_AFTER_MS = 400;

/** Of a stranger: all handshakes must succeed. */
export async function attackHandshakes(
  requests: ServiceRequests,
  captures: Captures,
  attack: Attack,
): Promise<Figures> {
  const figures = attackFigures(attack.inputs);
  const stranger = await openStranger();
  const lane = async (index: number): Promise<void> => {
    const draw = drawOf(attack, FIRST_LANE + index);
    const count = InputCount.share(attack.inputs, index, LANES);
    while (!count.isOver) {
      figures.calls += 1;
      const callId = `${attack.sender}-handshake-${String(figures.calls)}`;
      let sent = 0;
      const next = (datagram: Buffer): Buffer | null => {
        if (count.isOver || sent >= MAX_INPUTS_PER_CALL) return null;
        count.take();
        sent += 1;
        const source = draw.chance(0.7) ? datagram : oneOf(draw, captures.dtls);
        const input = mutated(draw, source, dtlsFields, captures.dtls);
        remember(input);
        return input;
      };
      const prepare = (caller: Caller): void => sendBetween(caller, attack, stranger, next);
      if (attack.sender === "stranger") {
        const caller = await joinedCaller(requests, callId, { purpose: attack.sender, prepare });
        await caller.close();
      } else await breakHandshake(new Caller(requests, callId), { purpose: attack.sender, prepare });
    }
  };
  try {
    await Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
  } finally {
    stranger.close();
  }
  return figures;
}

function sendBetween(
  { client }: Caller,
  { sender }: Attack,
  stranger: Stranger,
  next: (datagram: Buffer) => Buffer | null,
): void {
  const udp = udpOf(client);
  const send = udp.send.bind(udp);
  udp.send = async (data, to) => {
    const [first = 0] = data;
    if (first >= 20 && first <= 63) {
      for (let left = INPUTS_PER_DATAGRAM; left > 0; left -= 1) {
        const input = next(data);
        if (input === null) break;
        if (sender === "stranger") await stranger.send(input, to);
        else await send(input, to);
      }
    }
    await send(data, to);
  };
}

async function breakHandshake(caller: Caller, options: JoinOptions): Promise<void> {
  try {
    await caller.offer(options);
    await Promise.race([caller.joined, new Promise((resolve) => setTimeout(resolve, BROKEN_AFTER_MS))]);
    // The inputs have been processed.
    await caller.settled();
  } finally {
    await caller.close();
  }
}
