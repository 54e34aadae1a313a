/** Kinds of trouble that a conversation can have. */

import type { CallEngineEventBody } from "../src/call/events.ts";
import type { Generation } from "../src/call/testing/fake-engines.ts";
import { ANSWER, asks, SWEEP_STEP_MS, SWEEP_STEPS, type Kind } from "./kind.ts";
import { echo20, echo30, listeningWord } from "./kinds-listening.ts";
import { clocks, forced, threads, tools } from "./kinds-tools.ts";

/** Final words that last a minute and a half. */
const FAREWELL = "It was a pleasure to speak with you today. ".repeat(38).trim();

const interruption: Kind = {
  play(call, draw) {
    call.llm.script = [{ text: ANSWER }];
    asks(call, draw);
    call.run(draw.whole(0, SWEEP_STEPS) * SWEEP_STEP_MS);
    call.says(draw.one(["No, wait a moment", "Stop", "Actually the day after"]), draw.whole(300, 1_500));
  },
};

const cough: Kind = {
  play(call, draw) {
    call.llm.script = [{ text: ANSWER }];
    asks(call, draw);
    for (let n = draw.whole(1, 4); n > 0; n -= 1) {
      call.run(draw.whole(0, 100) * SWEEP_STEP_MS).coughs(draw.whole(60, 380));
    }
  },
};

const typed: Kind = {
  play(call, draw) {
    asks(call, draw);
    for (let n = draw.whole(1, 5); n > 0; n -= 1) {
      const text = draw.one(["", "Any rooms?", "…"]);
      const urgency = draw.one<"immediate" | "soon" | "later">(["immediate", "soon", "later"]);
      call.run(draw.whole(0, 1_500)).sends({ type: "user_text_message", text, urgency, threadId: "UI" });
    }
  },
};

/** Timers and messages come from the runner itself; everything else may be lost, duplicated or late. */
const NEVER_DROPPED = new Set<CallEngineEventBody["type"]>(["timerFired", "dataMessageReceived"]);

const disorder: Kind = {
  play(call, draw) {
    call.disturb = (event) => {
      if (draw.chance(0.75)) return "none";
      const how = draw.one<"drop" | "twice" | "late">(["drop", "twice", "late", "late"]);
      if (how === "late") return draw.whole(1, 700);
      return how === "drop" && NEVER_DROPPED.has(event.type) ? "none" : how;
    };
    asks(call, draw);
    call.run(draw.whole(0, 4_000)).says("No wait", draw.whole(200, 900)).run(5_000);
  },
};

const failingEngines: Kind = {
  play(call, draw) {
    const many = <T>(options: readonly [T, ...T[]]): T[] =>
      Array.from({ length: draw.whole(1, 4) }, () => draw.one(options));
    call.stt.script = many(["answer", "fail", "hang"]);
    call.voice.script = many(["ok", "fail", "fail-midway", "hang", "stall", "empty"]);
    call.llm.script = many<Generation>([
      { text: ANSWER },
      { text: "", end: "finish" },
      { text: "Yes, of course. One mo", end: "fail" },
      { text: "Let me see", end: "hang" },
      { text: "", end: "fail" },
    ]);
    asks(call, draw);
    call.run(draw.whole(0, 8_000));
    if (draw.chance(0.5)) asks(call, draw);
  },
};

const broken: Kind = {
  play(call, draw) {
    asks(call, draw);
    call.run(draw.whole(0, 4_000));
    call.post({ type: "transportLost" });
    call.run(draw.whole(0, 4_500));
    call.post({ type: "transportRestored" });
    if (draw.chance(0.5)) asks(call, draw);
  },
};

const silence: Kind = {
  play(call, draw) {
    if (draw.chance(0.5)) asks(call, draw);
    call.run(draw.whole(5_000, 60_000));
  },
};

/** Someone else talks near the caller: short bursts, with or without words for the recogniser. */
const secondVoice: Kind = {
  play(call, draw) {
    call.llm.script = [{ text: ANSWER }];
    asks(call, draw);
    for (let n = draw.whole(1, 5); n > 0; n -= 1) {
      call
        .run(draw.whole(100, 2_000))
        .says(draw.chance(0.5) ? "" : "pass me the salt", draw.whole(100, 1_500));
    }
  },
};

/** Longer than the model's window, which has space for a few sentences; every request has to fit it. */
const longCall: Kind = {
  plan(draw) {
    const initial = Array.from({ length: draw.whole(0, 8) }, (_, n) => ({
      role: n % 2 === 0 ? ("user" as const) : ("agent" as const),
      text: n % 2 === 0 ? "Do you have a room for tonight" : ANSWER,
      medium: "text" as const,
      invocationId: null,
      toolName: null,
    }));
    const narrow = { contextWindowTokens: draw.whole(20, 600) };
    return { ...tools.plan?.(draw), initialMessages: initial, turnTaking: narrow };
  },
  play(call, draw) {
    tools.play(call, draw);
    for (let n = draw.whole(4, 16); n > 0; n -= 1) {
      asks(call, draw);
      call.run(draw.whole(500, 6_000));
    }
  },
};

const hangUp: Kind = {
  play(call, draw) {
    asks(call, draw);
    call.run(draw.whole(0, SWEEP_STEPS) * SWEEP_STEP_MS);
    const end = draw.one<CallEngineEventBody>([
      { type: "transportHungUp" },
      { type: "mediaIdled" },
      { type: "endRequested", cause: "shutdown" },
      { type: "faulted", error: "boom" },
      { type: "voiceDetectionFailed", error: "gone" },
      { type: "dataMessageReceived", message: { type: "hang_up", message: "Goodbye." }, source: "api" },
      { type: "dataMessageReceived", message: { type: "hang_up", message: FAREWELL }, source: "client" },
    ]);
    call.post(end);
    call.run(120_000);
    if (!call.hasEnded) throw new Error(`${end.type} did not end the call`);
  },
};

export const KINDS = {
  interruption,
  cough,
  typed,
  disorder,
  failingEngines,
  broken,
  silence,
  secondVoice,
  longCall,
  hangUp,
  echo20,
  echo30,
  listeningWord,
  tools,
  forced,
  threads,
  clocks,
} as const satisfies Readonly<Record<string, Kind>> as Readonly<Record<KindName, Kind>>;

export type KindName =
  | "interruption"
  | "cough"
  | "typed"
  | "disorder"
  | "failingEngines"
  | "broken"
  | "silence"
  | "secondVoice"
  | "longCall"
  | "hangUp"
  | "echo20"
  | "echo30"
  | "listeningWord"
  | "tools"
  | "forced"
  | "threads"
  | "clocks";

export const KIND_NAMES = Object.keys(KINDS) as [KindName, ...KindName[]];
