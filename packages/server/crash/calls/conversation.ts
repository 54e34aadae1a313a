/** One client in a conversation that comes back whenever its connection is lost. */

import type { ChildService } from "../../demo/child-service.ts";
import { CallClient, wait } from "../../src/runner/testing/call-client.ts";

/** The time in which a service is started again on a busy machine is part of it. */
const RETURN_LIMIT_MS = 240_000;
const RETURN_PAUSE_MS = 300;
/** A turn that nobody answers in this time is given up, and the next one is asked. */
const ANSWER_LIMIT_MS = 30_000;
/** Close codes after which a call can go on. */
const PASSING: ReadonlySet<number> = new Set([1006, 1011, 1012, 1013]);

export interface ConversationOptions {
  /** It has made the call, and gets the first join. */
  readonly owner: ChildService;
  readonly joinUrl: string;
  /** Any service that runs now; null: none does. */
  readonly anyService: () => ChildService | null;
  readonly random: () => number;
  /** Calls a tool in every so many turns. */
  readonly toolEvery: number;
}

export class Conversation {
  /** What the client said and heard an answer to, in its order. */
  readonly completed: string[] = [];
  /** From the connection that was taken to the first sound of the agent. */
  readonly speechAgainMs: number[] = [];
  /** The last close code of a call that did not go on; null: it goes on. */
  over: number | null = null;
  readonly #options: ConversationOptions;
  #client: CallClient | null = null;
  #isStopped = false;
  #turns = 0;

  constructor(options: ConversationOptions) {
    this.#options = options;
  }

  /** Until `stop`, or the end of the call. */
  async run(): Promise<void> {
    while (!this.#isStopped && this.over === null) {
      const client = await this.#connect();
      if (client === null) {
        this.over = 1006;
        return;
      }
      this.#client = client;
      const [code] = await Promise.all([client.closed, this.#talk(client)]);
      if (!PASSING.has(code)) this.over = code;
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#client?.socket.close(1000);
  }

  async #connect(): Promise<CallClient | null> {
    const { owner, joinUrl, anyService } = this.#options;
    const isFirst = this.#turns === 0;
    const untilMs = performance.now() + RETURN_LIMIT_MS;
    while (performance.now() < untilMs && !this.#isStopped) {
      const service = isFirst ? owner : anyService();
      if (service !== null) {
        const client = new CallClient(
          joinUrl.replace(/^ws:\/\/[^/]+/, service.baseUrl.replace("http", "ws")),
        );
        try {
          await client.opened();
          client.start();
          if (!isFirst) void this.#measure(client);
          return client;
        } catch {
          // No process has it at the moment, or this one was killed meanwhile.
        }
      }
      await wait(RETURN_PAUSE_MS);
    }
    return null;
  }

  async #measure(client: CallClient): Promise<void> {
    const fromMs = performance.now();
    while (client.frames.length === 0 && !isClosed(client) && performance.now() - fromMs < ANSWER_LIMIT_MS)
      await wait(5);
    if (client.frames.length > 0) this.speechAgainMs.push(performance.now() - fromMs);
  }

  async #talk(client: CallClient): Promise<void> {
    while (!this.#isStopped && !isClosed(client)) {
      this.#turns += 1;
      const text = `This is turn ${String(this.#turns)} of the conversation.`;
      const before = answers(client);
      send(client, { type: "user_text_message", text });
      if (this.#turns % this.#options.toolEvery === 0) {
        const toolCalls = [{ name: "count", arguments: {} }];
        send(client, { type: "forced_agent_message", content: "", toolCalls, urgency: "later" });
      }
      const untilMs = performance.now() + ANSWER_LIMIT_MS;
      while (answers(client) === before && !isClosed(client) && performance.now() < untilMs) await wait(20);
      if (answers(client) > before) this.completed.push(text);
      await wait(200 + this.#options.random() * 1_500);
    }
  }
}

function isClosed({ socket }: CallClient): boolean {
  return socket.readyState !== socket.OPEN;
}

function send(client: CallClient, message: Readonly<Record<string, unknown>>): void {
  if (!isClosed(client)) client.send(message);
}

function answers(client: CallClient): number {
  return client.of("transcript").filter(({ role, final }) => role === "agent" && final).length;
}
