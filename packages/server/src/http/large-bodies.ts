/** How much of bodies above the usual size is held at a time. */

import type { EventEmitter } from "node:events";
import { ApiError } from "@parley/schema";
import { MAX_BODY_BYTES } from "./json-body.ts";

/** Three batches of 32 MiB, or nine files. While it is parsed, a body takes some ten times its size in memory. */
const MAX_HELD_BYTES = 96 * 1024 * 1024;

export interface LargeBody {
  /** Whose it is: one of each is read at a time, so that nobody can keep all others waiting. */
  readonly accountId: string;
  /** As announced; a body of unknown length may become as large as the operation takes. */
  readonly contentLength: string | undefined;
  readonly maxBytes: number;
}

/** A request and its answer, which closes when both are over, however they end. */
export interface LargeExchange {
  readonly request: object;
  readonly answer: Pick<EventEmitter, "once">;
}

export class LargeBodies {
  readonly #accounts = new Set<string>();
  readonly #held = new WeakMap<object, Hold>();
  #heldBytes = 0;

  /**
   * To be asked before the body is read. Answers whether it is a large one: then it is held until its request is over and
   * nobody works on it any more. Throws ApiError (503) when too much is held.
   */
  admit({ accountId, contentLength, maxBytes }: LargeBody, { request, answer }: LargeExchange): boolean {
    const announced = Number(contentLength ?? Number.POSITIVE_INFINITY);
    if (Math.min(announced, maxBytes) <= MAX_BODY_BYTES) return false;
    // More than the operation takes is refused before it is read whole.
    const bytes = Math.min(announced, maxBytes);
    if (this.#accounts.has(accountId)) {
      throw new ApiError(
        "no_capacity",
        "Another large body of this account is being read; send one at a time.",
      );
    }
    if (this.#heldBytes + bytes > MAX_HELD_BYTES) {
      throw new ApiError("no_capacity", "Other large bodies are being read; try again shortly.");
    }
    this.#accounts.add(accountId);
    this.#heldBytes += bytes;
    const hold = new Hold(() => {
      this.#accounts.delete(accountId);
      this.#heldBytes -= bytes;
    });
    this.#held.set(request, hold);
    answer.once("close", () => hold.letGo());
    return true;
  }

  /** What is made of the body holds it, also when the client has gone meanwhile. */
  async during<Result>(request: object, work: () => Promise<Result>): Promise<Result> {
    const hold = this.#held.get(request);
    hold?.take();
    try {
      return await work();
    } finally {
      hold?.letGo();
    }
  }
}

/** Released once, when everybody who took it has let go. */
class Hold {
  #holders = 1;
  readonly #release: () => void;

  constructor(release: () => void) {
    this.#release = release;
  }

  take(): void {
    this.#holders += 1;
  }

  letGo(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#release();
  }
}
