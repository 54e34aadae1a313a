/**
 * The process of a language model, for all calls. It makes as many replies at a time as it has contexts; a few more
 * wait. A process that is lost fails the replies that it was making, and those that wait are made by the next one.
 */

import { messageOf } from "../../pacing/error-text.ts";
import { ModelThread } from "../../threads/model-thread.ts";
import type { FromChild } from "../local-child/child-protocol.ts";
import type { LocalChild, StartLocalChild } from "../local-child/local-child.ts";
import { ANSWER_TIMEOUT_MS } from "../local-child/local-limits.ts";
import type { ChatRequest, LlmAnswer, LlmLoadOrder, ToLlmChild } from "./llm-protocol.ts";

/** Replies that wait for a context. A reply takes seconds, so a caller behind more of them waits too long. */
export const MAX_WAITING_REPLIES = 4;
/** From start to a loaded model. The largest of the catalogue has 2.5 GB, which are read twice. */
export const LLM_LOAD_TIMEOUT_MS = 300_000;

export interface GenerationListener {
  text(text: string): void;
  answered(answer: LlmAnswer): void;
  /** It is over; the process may have been lost. */
  failed(reason: string): void;
}

export interface LlmLinkOptions {
  readonly name: string;
  readonly program: URL;
  readonly order: LlmLoadOrder;
  readonly startChild: StartLocalChild;
  /** A process that says nothing for so long while it makes a reply is lost. */
  readonly answerTimeoutMs?: number;
  readonly log: (message: string) => void;
}

interface Generation {
  readonly id: number;
  readonly request: ChatRequest;
  /** Null: nobody listens any more. */
  listener: GenerationListener | null;
}

type Child = LocalChild<ToLlmChild>;

export class LlmLink {
  readonly #options: LlmLinkOptions;
  readonly #thread: ModelThread<Child>;
  readonly #running = new Map<number, Generation>();
  #waiting: Generation[] = [];
  #nextId = 0;
  #isClosed = false;
  readonly unusable: () => string | null;

  constructor(options: LlmLinkOptions) {
    this.#options = options;
    const { name, program, order, startChild, log } = options;
    this.#thread = new ModelThread<Child>({
      name,
      start: (run) =>
        startChild<ToLlmChild, LlmAnswer>(program, order, {
          heard: (message) => {
            if (run.isOver) return;
            if (message.type === "ready") run.ready();
            else if (message.type === "unusable") run.lost(message.detail);
            else this.#heard(message);
            this.#pump();
          },
          ended: (reason) => run.lost(reason),
        }),
      loadLimit: { ms: LLM_LOAD_TIMEOUT_MS, reason: "its model did not load in time" },
      discard: (child) => void child.end(),
      lost: (reason, unusable) => this.#lost(reason, unusable),
      log,
    });
    this.unusable = this.#thread.unusable;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  load(): Promise<void> {
    return this.#thread.load();
  }

  /**
   * Returns what abandons it: the listener hears nothing more.
   * @throws where it cannot be made soon
   */
  generate(request: ChatRequest, listener: GenerationListener): () => void {
    const unusable = this.unusable();
    if (unusable !== null) throw new Error(unusable);
    const { name, order } = this.#options;
    if (this.#running.size + this.#waiting.length >= order.parallel + MAX_WAITING_REPLIES)
      throw new Error(`too many replies are waiting for ${name}`);
    const generation: Generation = { id: this.#nextId, request, listener };
    this.#nextId += 1;
    this.#waiting.push(generation);
    this.#pump();
    return () => this.#abandon(generation);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const child = this.#thread.stop();
    this.#failAll(`${this.#options.name} is closed`);
    await child?.end();
  }

  #pump(): void {
    const child = this.#thread.ready;
    if (child === null) return;
    while (this.#running.size < this.#options.order.parallel) {
      const generation = this.#waiting.shift();
      if (generation === undefined) break;
      this.#running.set(generation.id, generation);
      try {
        child.send({ type: "generate", id: generation.id, request: generation.request });
      } catch (error) {
        // A request that cannot be copied to the process fails alone, and gives its place back.
        this.#running.delete(generation.id);
        fail(generation, messageOf(error));
      }
    }
    this.#watch();
  }

  /** A process that says nothing while it makes a reply hangs. */
  #watch(): void {
    if (this.#running.size === 0) {
      this.#thread.clearLimit();
      return;
    }
    const ms = this.#options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS;
    this.#thread.limit({ ms, reason: "it did not answer in time" });
  }

  #heard(message: Exclude<FromChild<LlmAnswer>, { type: "ready" | "unusable" }>): void {
    const generation = this.#running.get(message.id);
    const listener = generation?.listener ?? null;
    if (message.type === "partial") {
      if (message.text !== "") listener?.text(message.text);
      return;
    }
    this.#running.delete(message.id);
    if (generation !== undefined) generation.listener = null;
    if (message.type === "answered") listener?.answered(message.answer);
    else listener?.failed(`${this.#options.name} failed: ${message.detail}`);
  }

  /** What is being made ends soon, and its context is taken until then. */
  #abandon(generation: Generation): void {
    if (generation.listener === null) return;
    generation.listener = null;
    this.#waiting = this.#waiting.filter((waiting) => waiting !== generation);
    if (this.#running.has(generation.id)) this.#thread.ready?.send({ type: "abort", id: generation.id });
  }

  #lost(reason: string, unusable: string | null): void {
    const lost = [...this.#running.values()];
    this.#running.clear();
    for (const generation of lost) fail(generation, `${this.#options.name} was lost: ${reason}`);
    if (unusable !== null) this.#failAll(unusable);
  }

  #failAll(reason: string): void {
    const all = [...this.#running.values(), ...this.#waiting];
    this.#running.clear();
    this.#waiting = [];
    for (const generation of all) fail(generation, reason);
  }
}

function fail(generation: Generation, reason: string): void {
  const { listener } = generation;
  generation.listener = null;
  listener?.failed(reason);
}
