/** A semaphore that limits how many bytes of large bodies are held at a time. */

import type { EventEmitter } from "node:events";
import { ApiError } from "@parley/schema";
import { MAX_BODY_BYTES } from "./json-body.ts";

/** Three batches of 32 MiB, or nine files. While it is parsed, a body takes some ten times its size in memory. */
const MAX_HELD_BYTES = 96 * 1024 * 1024;

export interface LargeBody {
  /** The client: one large body of each is read at a time, so that none can keep all others waiting. */
  readonly accountId: string;
  /** As announced; a body of unknown length may become as large as the operation allows. */
  readonly contentLength: string | undefined;
  readonly maxBytes: number;
}

/** A request and its answer, which closes when both are over, with or without an error. */
export interface LargeExchange {
  readonly request: object;
  readonly answer: Pick<EventEmitter, "once">;
}

export class LargeBodies {
  readonly #accounts = new Set<string>();
  readonly #held = new WeakMap<object, Hold>();
  #heldBytes = 0;

  /**
   * Call it before the body is read. Returns whether the body is large. A large one is held until its request is over
   * and its work has ended. Throws ApiError (503) when too much is held.
   */
  admit({ accountId, contentLength, maxBytes }: LargeBody, { request, answer }: LargeExchange): boolean {
    const announced = Number(contentLength ?? Number.POSITIVE_INFINITY);
    if (Math.min(announced, maxBytes) <= MAX_BODY_BYTES) return false;
    // A body over the operation's limit is refused before it is read completely.
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

  /** The work on the body holds it too, even when the client has disconnected. */
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

/** Released once, when all who took it have released it. */
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
