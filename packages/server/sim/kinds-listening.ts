/** Sounds over the agent's voice that do not interrupt it: the agent's own echo, listening words. */

import type { Scenario } from "../src/call/testing/scenario.ts";
import { ANSWER, asks, STORY, sometime, type Kind } from "./kind.ts";
import type { Draw } from "./draw.ts";

/** Echo of a loudspeaker: the agent's voice comes back later, quieter, and not in every window. */
interface Room {
  readonly delayMs: number;
  /** The detector's score of the echo. */
  readonly score: number;
  /** The estimator's score of it, once it has converged. */
  readonly likelihood: number;
  /** Share of windows in which the estimator detects nothing. */
  readonly missed: number;
  /** Time until the estimator has converged; until then it answers that it does not know. */
  readonly learningMs: number;
}

/** The estimator's answer for every window until it has converged. */
const UNKNOWN = 0.3;

/** Twenty decibels below the agent's voice the detector is sure, thirty below it wavers. */
const AT_MINUS_20_DB = { score: 0.85, likelihood: 0.95, missed: 0.05 };
const AT_MINUS_30_DB = { score: 0.35, likelihood: 0.9, missed: 0.1 };

function inRoom(call: Scenario, draw: Draw, level: Pick<Room, "score" | "likelihood" | "missed">): void {
  const room: Room = { ...level, delayMs: draw.whole(20, 240), learningMs: draw.whole(0, 1_400) };
  const sounding: boolean[] = [];
  let heardMs = 0;
  const { user } = call;
  const plain = user.score.bind(user);
  let speaks = false;
  let echoes = false;
  let isKnown = false;
  const doubted: { readonly mediaMs: number; readonly score: number }[] = [];
  user.score = (toMs) => {
    sounding.push(call.voice.isSounding);
    echoes = sounding.at(-1 - Math.round(room.delayMs / 32)) === true;
    if (echoes) heardMs += 32;
    const own = plain(toMs);
    speaks = own > 0.5;
    return echoes ? Math.max(own, room.score) : own;
  };
  call.echo = (toMs) => {
    if (heardMs < room.learningMs && (echoes || call.voice.isSounding)) {
      if (speaks) doubted.push({ mediaMs: toMs, score: 0.9 });
      return UNKNOWN;
    }
    if (!echoes || speaks || draw.chance(room.missed)) return 0;
    return room.likelihood;
  };
  // Only an echo that was heard can be learned; the estimator then judges the windows before it again.
  call.echoLearned = () => {
    if (isKnown || !echoes || heardMs < room.learningMs) return null;
    isKnown = true;
    return doubted;
  };
}

function echoAt(level: typeof AT_MINUS_20_DB): Kind {
  return {
    play(call, draw) {
      inRoom(call, draw, level);
      call.llm.usual = () => ({ text: ANSWER });
      asks(call, draw);
      const interrupts = draw.chance(0.4);
      if (interrupts) sometime(call, draw).says("No, wait a moment", draw.whole(500, 1_500));
      call.run(20_000);
      if (interrupts) return;
      const said = call.messages.filter(({ role }) => role === "agent").map(({ text }) => text);
      if (!said.includes(ANSWER)) throw new Error(`the echo cost a reply: ${JSON.stringify(said)}`);
    },
  };
}

export const echo20: Kind = echoAt(AT_MINUS_20_DB);
export const echo30: Kind = echoAt(AT_MINUS_30_DB);

/** The agent speaks, the caller says "mhm": the whole reply is heard. */
export const listeningWord: Kind = {
  plan: () => ({ firstSpeaker: { kind: "user", fallback: null } }),
  play(call, draw) {
    call.llm.usual = () => ({ text: STORY, firstMs: 100 });
    asks(call, draw);
    call.runUntil(({ reply }) => reply?.begun === true);
    call
      .run(draw.whole(400, 3_000))
      .says(draw.one(["mhm", "yeah", "okay", "yeah okay"]), draw.whole(200, 900));
    call.run(20_000);
    const said = call.messages.filter(({ role }) => role === "agent").map(({ text }) => text);
    if (!said.includes(STORY)) throw new Error(`the story was cut: ${JSON.stringify(said)}`);
  },
};
