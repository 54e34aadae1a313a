/** One generated conversation: a kind of trouble, drawn from a seed, played on the virtual clock to its end. */

import type { CallEngineEventBody } from "../src/call/events.ts";
import { isAtRest } from "../src/call/testing/at-rest.ts";
import type { PlanChanges } from "../src/call/testing/plan.ts";
import { Scenario } from "../src/call/testing/scenario.ts";
import { Draw } from "./draw.ts";
import { KINDS, type KindName } from "./kinds.ts";

export interface Played {
  readonly kind: KindName;
  readonly steps: number;
  /** Virtual time. */
  readonly lastedMs: number;
}

/** What went wrong, with the seed that reproduces it. */
export class ConversationFailed extends Error {
  override readonly name = "ConversationFailed";
}

/** The call must be at rest within this time after any trouble; engines time out after 15 s. */
const REST_LIMIT_MS = 300_000;
const FINAL_QUESTION = "And now the final question";

const SETTINGS: PlanChanges = {
  // Some troubles last a minute; the call must survive them.
  turnTaking: { engineFailureLimitMs: 600_000, maximumTurnMs: 20_000, reconnectGraceMs: 5_000 },
  dataMessages: { debug: true, callEvent: true, userStartedSpeaking: true, userStoppedSpeaking: true },
};

/** @throws ConversationFailed */
export function playConversation(seed: number, kindNames: readonly [KindName, ...KindName[]]): Played {
  const draw = new Draw(seed);
  const kind = draw.one(kindNames);
  const call = new Scenario(planOf(draw, KINDS[kind].plan?.(draw) ?? {}));
  try {
    vary(call, draw);
    call.join();
    KINDS[kind].play(call, draw);
    if (!call.hasEnded) {
      heal(call);
      expectAnswer(call);
      KINDS[kind].expect?.(call);
    }
    expectOneEnd(call);
  } catch (error) {
    throw new ConversationFailed(`seed ${String(seed)}, ${kind}: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return { kind, steps: call.events.length, lastedMs: call.atMs };
}

function planOf(draw: Draw, own: PlanChanges): PlanChanges {
  const firstSpeaker = draw.one<NonNullable<PlanChanges["firstSpeaker"]>>([
    { kind: "user", fallback: null },
    { kind: "user", fallback: { delayMs: 2_000, text: "Are you there?", prompt: null } },
    { kind: "agent", delayMs: 0, text: null, prompt: null, uninterruptible: false },
    {
      kind: "agent",
      delayMs: 300,
      text: "Welcome. How can I be of use?",
      prompt: null,
      uninterruptible: false,
    },
    { kind: "agent", delayMs: 0, text: "Welcome. How can I be of use?", prompt: null, uninterruptible: true },
  ]);
  const vad = { turnEndpointDelayMs: draw.one([128, 384, 384, 800]), ...own.stage?.vad };
  return {
    firstSpeaker,
    ...SETTINGS,
    ...own,
    turnTaking: { ...SETTINGS.turnTaking, ...own.turnTaking },
    stage: { ...own.stage, vad },
  };
}

/** Engines of any speed. */
function vary(call: Scenario, draw: Draw): void {
  const { stt, voice, llm } = call;
  stt.delayMs = draw.whole(0, 900);
  stt.partialsMs = draw.one([null, 64, 320]);
  voice.delayMs = draw.whole(0, 500);
  voice.clientBufferMs = draw.one([0, 0, 60, 500, 30_000]);
  const firstMs = draw.whole(0, 1_200);
  const pieceMs = draw.whole(0, 40);
  const { usual } = llm;
  llm.usual = (request) => ({ firstMs, pieceMs, ...usual(request) });
}

/** From here on everything works. */
function heal(call: Scenario): void {
  call.disturb = () => "none";
  call.stt.script = [];
  call.stt.delayMs = 60;
  call.llm.script = [];
  call.voice.script = [];
  call.voice.answers = true;
}

/** After any trouble the agent comes to rest, and a new question is heard and answered. */
function expectAnswer(call: Scenario): void {
  const ended = () => call.hasEnded;
  call.runUntil((state) => ended() || isAtRest(state), REST_LIMIT_MS);
  call.run(1_300).runUntil((state) => ended() || isAtRest(state), REST_LIMIT_MS);
  if (ended()) throw new Error("the call ended by itself");
  const before = call.messages.length;
  call.says(FINAL_QUESTION, 960).run(500).runUntil(isAtRest, REST_LIMIT_MS);
  // Words after an unanswered message are joined to it.
  const after = call.messages.slice(Math.max(0, before - 1));
  const questionAt = after.findIndex(({ role, text }) => role === "user" && text.endsWith(FINAL_QUESTION));
  if (questionAt < 0) throw new Error(`the last question was not heard, but ${JSON.stringify(after)}`);
  if (!after.slice(questionAt).some(({ role, text }) => role === "agent" && text !== "")) {
    throw new Error("the last question was not answered");
  }
}

function expectOneEnd(call: Scenario): void {
  const end: CallEngineEventBody = { type: "transportHungUp" };
  call.post(end);
  call.run(5_000);
  const ends = call.effectsOf("endCall").length;
  if (ends !== 1) throw new Error(`${String(ends)} ends`);
  if (Object.keys(call.state.timers).length > 0) throw new Error("timers are left");
}
