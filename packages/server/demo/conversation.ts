/** Follows a call through its data messages: prints it as it happens and tracks what has been answered. */

import type { TurnLatency } from "@parley/schema";
import type { CallerMessage } from "./caller.ts";

export class Conversation {
  readonly #print: (line: string) => void;
  readonly #startedMs = performance.now();
  readonly #figures: TurnLatency[] = [];
  readonly #waiting = new Set<() => void>();
  #state = "idle";
  #answers = 0;
  #interruptions = 0;
  #heardTurns = 0;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  /** Agent utterances that are over, interrupted ones included. */
  get answers(): number {
    return this.#answers;
  }

  message(message: CallerMessage): void {
    if (message.type === "state") this.#state = String(message["state"]);
    if (message.type === "transcript" && message["final"] === true) this.#transcript(message);
    if (message.type === "call_event")
      this.#event(message["event"] as { type: string; text: string; extras: unknown });
    for (const check of this.#waiting) check();
  }

  /** Resolves true when more than `before` answers are over and the agent listens again; false in time. */
  answered(before: number, limitMs: number): Promise<boolean> {
    return this.#until(() => this.#answers > before && this.#state === "listening", limitMs);
  }

  speaking(limitMs: number): Promise<boolean> {
    return this.#until(() => this.#state === "speaking", limitMs);
  }

  printSummary(): void {
    const waits = this.#figures
      .flatMap((turn) => (turn.firstPlayedMs === null ? [] : [turn.firstPlayedMs]))
      .sort((a, b) => a - b);
    const median = waits[Math.floor(waits.length / 2)];
    this.#print(
      `${String(this.#heardTurns)} turns heard, ${String(this.#interruptions)} interruption(s), median wait from the caller's last ` +
        `sound to the answer ${median === undefined ? "unknown" : `${String(Math.round(median))} ms`}.`,
    );
  }

  /** What a good demonstration must have and this one lacked. */
  problem(): string | null {
    if (this.#heardTurns === 0) return "no turn of the caller was heard";
    if (this.#interruptions === 0) return "the interruption did not take place";
    return null;
  }

  #transcript(message: CallerMessage): void {
    const agent = message["role"] === "agent";
    if (agent) this.#answers += 1;
    else this.#heardTurns += 1;
    this.#line(agent ? "agent " : "caller", String(message["text"]));
  }

  #event(event: { type: string; text: string; extras: unknown }): void {
    if (event.type === "turn.completed") {
      const figures = event.extras as TurnLatency;
      this.#figures.push(figures);
      this.#print(`                 └ ${describe(figures)}`);
    } else if (event.type === "turn.interrupted") {
      this.#interruptions += 1;
      this.#line("      ", "— the caller interrupts —");
    } else if (event.type !== "call.joined" && event.type !== "call.ended") {
      this.#line("event ", `${event.type}: ${event.text}`);
    }
  }

  #line(who: string, text: string): void {
    const seconds = ((performance.now() - this.#startedMs) / 1000).toFixed(1).padStart(6);
    this.#print(`${seconds} s  ${who}  ${text}`);
  }

  #until(holds: () => boolean, limitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (value: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve(value);
      };
      const check = (): void => {
        if (holds()) settle(true);
      };
      const timer = setTimeout(() => settle(false), limitMs);
      this.#waiting.add(check);
      check();
    });
  }
}

function describe(figures: TurnLatency): string {
  const step = (name: string, ms: number | null): string =>
    ms === null ? "" : ` · ${name} ${String(Math.round(ms))}`;
  return (
    `ms after the last sound: end of turn ${String(Math.round(figures.endOfTurnMs))}` +
    step("transcript", figures.transcriptFinalMs) +
    step("first token", figures.firstTokenMs) +
    step("first audio", figures.firstAudioMs) +
    step("heard", figures.firstPlayedMs) +
    (figures.speculative ? " (reply begun early)" : "")
  );
}
