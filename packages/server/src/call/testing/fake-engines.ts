/** Fake recogniser, model and user speech, driven by the virtual clock of a scenario. */

import type { LlmToolCall } from "@parley/schema";
import type { EffectOf, ReplyRequest } from "../effects.ts";
import type { CallEngineEventBody } from "../events.ts";

export type Post = (afterMs: number, event: CallEngineEventBody) => void;

/** Speech of the user: words spread evenly over its length; no words for a cough. */
export interface Spoken {
  readonly fromMs: number;
  readonly toMs: number;
  readonly words: readonly string[];
}

export class FakeUser {
  readonly #spoken: Spoken[] = [];

  speak(fromMs: number, lastingMs: number, text: string): void {
    const words = text.split(/\s+/).filter((word) => word !== "");
    this.#spoken.push({ fromMs, toMs: fromMs + lastingMs, words });
  }

  /** Whether any of the window [toMs - 32, toMs) has speech at its middle. */
  score(toMs: number): number {
    const middle = toMs - 16;
    return this.#spoken.some(({ fromMs, toMs: end }) => middle >= fromMs && middle < end) ? 0.9 : 0.01;
  }

  heard(fromMs: number, toMs: number): string {
    return this.#spoken
      .flatMap((spoken) =>
        spoken.words.filter((_, index) => {
          const wordMs = (spoken.toMs - spoken.fromMs) / spoken.words.length;
          const endMs = spoken.fromMs + (index + 1) * wordMs;
          return endMs > fromMs && endMs <= toMs + wordMs / 2;
        }),
      )
      .join(" ");
  }
}

export type SttAnswer = "answer" | "hang" | "fail" | "refuse" | "exhaust";

const FAILURES = { fail: {}, refuse: { permanent: true }, exhaust: { exhausted: true } } as const;

export class FakeStt {
  readonly #user: FakeUser;
  readonly #post: Post;
  readonly #openedMs = new Map<number, number>();
  delayMs = 60;
  /** Partial text this often while an utterance is open; null: none. */
  partialsMs: number | null = null;
  /** How the next requests go; `answer` when used up. */
  script: SttAnswer[] = [];

  constructor(user: FakeUser, post: Post) {
    this.#user = user;
    this.#post = post;
  }

  open({ utteranceId, prerollMs }: EffectOf<"openUtterance">, nowMs: number): void {
    this.#openedMs.set(utteranceId, nowMs - prerollMs);
  }

  request({ utteranceId, revision }: EffectOf<"requestTranscript">, nowMs: number): void {
    const answer = this.script.shift() ?? "answer";
    if (answer === "hang") return;
    if (answer !== "answer") {
      const error = { type: "transcriptFailed", utteranceId, revision, error: answer } as const;
      this.#post(this.delayMs, { ...error, ...FAILURES[answer] });
      return;
    }
    const text = this.#user.heard(this.#openedMs.get(utteranceId) ?? nowMs, nowMs);
    const understood = text !== "";
    this.#post(this.delayMs, { type: "transcriptFinished", utteranceId, revision, text, understood });
  }

  partials(nowMs: number): void {
    for (const [utteranceId, fromMs] of this.#openedMs) {
      const text = this.#user.heard(fromMs, nowMs);
      if (text !== "") this.#post(0, { type: "transcriptUpdated", utteranceId, text });
    }
  }

  abandon(utteranceId: number): void {
    this.#openedMs.delete(utteranceId);
  }
}

export interface FakeCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly problem?: string;
}

/** Text arrives in pieces of four characters; then it ends, fails or hangs. */
export interface Generation {
  readonly text: string;
  readonly end?: "finish" | "fail" | "refuse" | "exhaust" | "hang";
  /** After the text. */
  readonly calls?: readonly FakeCall[];
  readonly firstMs?: number;
  readonly pieceMs?: number;
}

const PIECE_CHARS = 4;

/** The events about one generation. */
interface GenerationEvents {
  readonly text: (text: string) => CallEngineEventBody;
  readonly called: (call: LlmToolCall, problem: string | null) => CallEngineEventBody;
  readonly finished: () => CallEngineEventBody;
  readonly failed: (error: string, kind: "refuse" | "exhaust" | "fail") => CallEngineEventBody;
}

function replyEvents(replyId: number): GenerationEvents {
  const kinds = { refuse: { permanent: true }, exhaust: { exhausted: true }, fail: {} } as const;
  return {
    text: (text) => ({ type: "replyTextReceived", replyId, text }),
    called: (call, problem) => ({ type: "replyToolCalled", replyId, call, problem }),
    finished: () => ({ type: "replyTextFinished", replyId, inputTokens: 100, outputTokens: 20 }),
    failed: (error, kind) => ({ type: "replyFailed", replyId, error, ...kinds[kind] }),
  };
}

function sideEvents(generationId: number): GenerationEvents {
  return {
    text: (text) => ({ type: "sideTextReceived", generationId, text }),
    called: (call, problem) => ({ type: "sideToolCalled", generationId, call, problem }),
    finished: () => ({ type: "sideTextFinished", generationId, inputTokens: 100, outputTokens: 20 }),
    failed: (error, kind) => {
      const permanent = kind === "refuse" ? { permanent: true as const } : {};
      return { type: "sideGenerationFailed", generationId, error, ...permanent };
    },
  };
}

export class FakeLlm {
  readonly #post: Post;
  readonly requests: ReplyRequest[] = [];
  readonly #aborted = new Set<number>();
  readonly sideRequests: EffectOf<"generateSide">[] = [];
  readonly #abortedSides = new Set<number>();
  /** The same for generations of side threads. */
  sideScript: Generation[] = [];
  usualSide: (request: ReplyRequest) => Generation = () => ({ text: "Noted." });
  /** How the next generations go; afterwards `usual`. */
  script: Generation[] = [];
  usual: (request: ReplyRequest) => Generation = (request) => ({
    text: `You said ${request.messages.at(-1)?.text ?? "nothing"}. That is understood. What else can I do for you?`,
  });

  constructor(post: Post) {
    this.#post = post;
  }

  generate({ replyId, request }: EffectOf<"generateReply">): void {
    this.requests.push(request);
    this.#write(this.script.shift() ?? this.usual(request), replyEvents(replyId));
  }

  /** A generation of a side thread begins, or is aborted. */
  side(effect: EffectOf<"generateSide" | "abortSide">): void {
    if (effect.type === "abortSide") {
      this.#abortedSides.add(effect.generationId);
      return;
    }
    this.sideRequests.push(effect);
    this.#write(this.sideScript.shift() ?? this.usualSide(effect.request), sideEvents(effect.generationId));
  }

  #write(generation: Generation, events: GenerationEvents): void {
    const { text, end = "finish", calls = [], firstMs = 120, pieceMs = 8 } = generation;
    let atMs = firstMs;
    for (let from = 0; from < text.length; from += PIECE_CHARS) {
      this.#post(atMs, events.text(text.slice(from, from + PIECE_CHARS)));
      atMs += pieceMs;
    }
    for (const { name, arguments: given = {}, problem = null } of calls) {
      this.#post(atMs, events.called({ id: `model_${atMs}`, name, arguments: given }, problem));
      atMs += pieceMs;
    }
    if (end === "finish") this.#post(atMs, events.finished());
    if (end === "refuse") this.#post(atMs, events.failed("no such model", end));
    if (end === "exhaust") this.#post(atMs, events.failed("no other one is left", end));
    if (end === "fail") this.#post(atMs, events.failed("stream broke", end));
  }

  isSideAborted(generationId: number): boolean {
    return this.#abortedSides.has(generationId);
  }

  abort(replyId: number): void {
    this.#aborted.add(replyId);
  }

  isAborted(replyId: number): boolean {
    return this.#aborted.has(replyId);
  }
}
