/** One client in a conversation that comes back whenever its connection is lost. */

import type { ChildService } from "../../demo/child-service.ts";
import { CallClient, wait } from "../../src/runner/testing/call-client.ts";
import { answerText, turnText } from "./counting-engines.ts";

/** The time in which a service is started again on a busy machine is part of it. */
const RETURN_LIMIT_MS = 240_000;
const RETURN_PAUSE_MS = 300;
/** A turn that nobody answers in this time is given up, and the next one is asked. */
const ANSWER_LIMIT_MS = 30_000;
/** Close codes after which a call can go on. */
const PASSING: ReadonlySet<number> = new Set([1006, 1011, 1012, 1013]);
/** The answer to a join URL whose call is over, as a close code. */
const GONE = 410;

export interface ConversationOptions {
  readonly joinUrl: string;
  /** Any service that runs now; null: none does. */
  readonly anyService: () => ChildService | null;
  readonly random: () => number;
}

export class Conversation {
  /** Turns whose answer the client heard to its end, in their order. */
  readonly completed: number[] = [];
  /** Turns that the client has asked. */
  asked = 0;
  /** Of each return: from the lost connection to the one that was taken. */
  readonly awayMs: number[] = [];
  /** Of each return: from the connection that was taken to the first sound of the agent. */
  readonly speechAgainMs: number[] = [];
  /** Returns to a call that stayed silent, though its connection lasted. */
  silentReturns = 0;
  /** How a call ended that the client did not end: a close code, or 410; null: it goes on. */
  over: number | null = null;
  readonly #options: ConversationOptions;
  #isStopped = false;
  #hasJoined = false;

  constructor(options: ConversationOptions) {
    this.#options = options;
  }

  /** Until the end of the call: after `stop` the client hangs up, once it is connected. */
  async run(): Promise<void> {
    let lostAtMs: number | null = null;
    for (;;) {
      const client = await this.#connect();
      if (client === null) return;
      if (lostAtMs !== null) this.awayMs.push(performance.now() - lostAtMs);
      const [code] = await Promise.all([client.closed, this.#attend(client)]);
      lostAtMs = performance.now();
      if (PASSING.has(code)) continue;
      if (!this.#isStopped || code !== 1000) this.over = code;
      return;
    }
  }

  /** The client hangs up when it is connected next. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Null: the call is over. */
  async #connect(): Promise<CallClient | null> {
    const { joinUrl, anyService } = this.#options;
    const untilMs = performance.now() + RETURN_LIMIT_MS;
    while (performance.now() < untilMs) {
      const service = anyService();
      if (service !== null) {
        const client = new CallClient(
          joinUrl.replace(/^ws:\/\/[^/]+/, service.baseUrl.replace("http", "ws")),
        );
        let refusal = "";
        client.socket.once("error", (error) => (refusal = error.message));
        try {
          await client.opened();
          client.start();
          return client;
        } catch {
          // No process has it at the moment, or this one was killed meanwhile.
          if (refusal.endsWith(String(GONE))) {
            // Its hang-up may have been the last thing that a killed service has stored.
            if (!this.#isStopped) this.over = GONE;
            return null;
          }
        }
      }
      await wait(RETURN_PAUSE_MS);
    }
    this.over = 1006;
    return null;
  }

  /** Until its connection is lost, or the client has hung up. */
  async #attend(client: CallClient): Promise<void> {
    if (this.#hasJoined) await this.#hearAgain(client);
    this.#hasJoined = true;
    while (!isClosed(client)) {
      if (this.#isStopped) {
        client.socket.close(1000);
        return;
      }
      await this.#turn(client);
    }
  }

  async #hearAgain(client: CallClient): Promise<void> {
    const fromMs = performance.now();
    const isHeard = (): boolean => client.frames.length > 0;
    await this.#while(() => !isHeard() && !isClosed(client), ANSWER_LIMIT_MS);
    if (isHeard()) this.speechAgainMs.push((client.frames[0]?.atMs ?? 0) - fromMs);
    else if (!isClosed(client)) this.silentReturns += 1;
  }

  async #turn(client: CallClient): Promise<void> {
    this.asked += 1;
    const turn = this.asked;
    client.send({ type: "user_text_message", text: turnText(turn) });
    await this.#while(() => !isClosed(client) && !isAnswered(client, turn), ANSWER_LIMIT_MS);
    if (isAnswered(client, turn)) this.completed.push(turn);
    await wait(200 + this.#options.random() * 1_500);
  }

  async #while(goesOn: () => boolean, limitMs: number): Promise<void> {
    const untilMs = performance.now() + limitMs;
    while (goesOn() && performance.now() < untilMs) await wait(10);
  }
}

function isClosed({ socket }: CallClient): boolean {
  return socket.readyState !== socket.OPEN;
}

function isAnswered(client: CallClient, turn: number): boolean {
  return client
    .of("transcript")
    .some(({ role, final, text }) => role === "agent" && final && text?.includes(answerText(turn)) === true);
}
