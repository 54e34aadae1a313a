/** The client of one call: it joins at any node, comes back at any node when its connection is lost, and hangs up in the end. */

import type { Draw } from "../draw.ts";
import type { SimulatedNode } from "./simulated-node.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** Between two tries to join. */
const RETRY_MS = { min: 200, max: 900 } as const;
/** A request without an answer is given up after this. */
const ANSWER_LIMIT_MS = 12_000;
/** As our clients: longer than the service waits for them. */
const RETURN_LIMIT_MS = 40_000;

/** `stayed_away`: it did not come back, on purpose or because nobody let it. */
export type CallerState = "waits" | "talks" | "returns" | "done" | "refused" | "stayed_away";

export interface CallerDeps {
  readonly callId: string;
  readonly token: string;
  readonly time: VirtualTime;
  readonly draw: Draw;
  /** A process that a balancer would choose now; null: none. */
  readonly anyNode: () => SimulatedNode | null;
  /** Runs code of a process; nothing happens where it does not run. */
  readonly runAt: (node: SimulatedNode, run: () => Promise<void>) => void;
  /** It hangs up after this time of talk. */
  readonly talkMs: number;
  /** It does not come back when it has lost its connection. */
  readonly givesUp: boolean;
}

export class Caller {
  state: CallerState = "waits";
  /** Losses of its connection. */
  losses = 0;
  /** Its process died after it had hung up: that the end was stored by then is not certain. */
  isUnheard = false;
  /** Answers that say that the call is over. */
  refusal: string | null = null;
  readonly #deps: CallerDeps;
  #at: SimulatedNode | null = null;
  #lostAtMs = 0;
  #attempt = 0;

  constructor(deps: CallerDeps) {
    this.#deps = deps;
    deps.time.after(deps.draw.whole(0, 3_000), () => this.#join());
    deps.time.after(deps.talkMs, () => this.#hangUp());
  }

  get isOver(): boolean {
    return this.state === "done" || this.state === "refused" || this.state === "stayed_away";
  }

  isAt(node: SimulatedNode): boolean {
    return this.#at === node;
  }

  nodeDied(node: SimulatedNode): void {
    if (this.#at === node && this.state === "done") this.isUnheard = true;
    this.lost(node);
  }

  /** The process has closed its connection, or has died. */
  lost(node: SimulatedNode): void {
    if (this.#at !== node) return;
    this.#at = null;
    if (this.isOver) return;
    this.losses += 1;
    this.#lostAtMs = this.#deps.time.nowMs();
    if (this.#deps.givesUp) this.state = "stayed_away";
    else {
      this.state = "returns";
      this.#later();
    }
  }

  /** Only the network between: the process learns of it. */
  loseNetwork(): void {
    const node = this.#at;
    if (node === null) return;
    this.#deps.runAt(node, async () => node.runner.detach(this.#deps.callId));
    this.lost(node);
  }

  #later(): void {
    const { time, draw } = this.#deps;
    time.after(draw.whole(RETRY_MS.min, RETRY_MS.max), () => this.#join());
  }

  #join(): void {
    const { callId, token, time, anyNode, runAt } = this.#deps;
    if (this.isOver || this.#at !== null) return;
    if (this.state === "returns" && time.nowMs() - this.#lostAtMs > RETURN_LIMIT_MS) {
      this.state = "stayed_away";
      return;
    }
    const node = anyNode();
    if (node === null) {
      this.#later();
      return;
    }
    this.#attempt += 1;
    const attempt = this.#attempt;
    const isAwaited = (): boolean => attempt === this.#attempt && !this.isOver;
    time.after(ANSWER_LIMIT_MS, () => {
      if (!isAwaited() || this.#at !== null) return;
      this.#attempt += 1;
      this.#join();
    });
    runAt(node, async () => {
      const answer = await this.#ask(node, { callId, token });
      if (!isAwaited()) {
        if (answer === "connected") node.runner.detach(callId);
        return;
      }
      if (answer === "connected") {
        this.#at = node;
        this.state = "talks";
      } else if (answer === "gone") {
        this.state = "refused";
        this.refusal = `refused by ${node.process.name} at ${String(Math.round(time.nowMs()))} ms`;
      } else this.#later();
    });
  }

  async #ask(
    node: SimulatedNode,
    { callId, token }: { readonly callId: string; readonly token: string },
  ): Promise<"connected" | "gone" | "later"> {
    try {
      const found = await node.reach.findJoin({ callId, token, medium: "server_web_socket" });
      if (found === "gone" || found === "not_found") return "gone";
      if (found !== "ok" && found !== "lost") return "later";
      // The client has given this request up, or its process was asked for the call meanwhile.
      if (this.#at !== null) return "later";
      return node.runner.attach(callId) ? "connected" : "later";
    } catch {
      return "later";
    }
  }

  #hangUp(): void {
    const node = this.#at;
    if (this.isOver) return;
    if (node === null) {
      // It hangs up when it is back.
      this.#deps.time.after(1_000, () => this.#hangUp());
      return;
    }
    this.state = "done";
    this.#deps.runAt(node, async () => node.runner.hangUp(this.#deps.callId));
  }
}
