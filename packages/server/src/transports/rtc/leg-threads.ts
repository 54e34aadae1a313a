/** Legs in threads of their own: as many threads as the calls need, and a leg for each call in one of them. */

import { PING_INTERVAL_MS } from "./heartbeat.ts";
import type { StartLegThread } from "./leg-thread.ts";
import type { LegRequest } from "./leg-request.ts";
import type { LegOwner, OpenLeg, OpenRtpLeg } from "./leg.ts";
import { NoLegError } from "./peer.ts";
import { type RemoteLeg, rtpLegOf, webRtcLegOf } from "./remote-leg.ts";
import { type LegThreadsListener, RemoteThread } from "./remote-thread.ts";
import { chooseThread } from "./thread-choice.ts";

/**
 * Wait for the leg before, where legs look for ports one after the other. It takes some milliseconds. A thread that is
 * stuck must not hold the legs of others: after this time it has missed a ping, and they go to another one.
 */
const PORT_TURN_LIMIT_MS = 2 * PING_INTERVAL_MS + 100;

export interface LegThreads {
  /** Answers an offer of WebRTC. */
  readonly open: OpenLeg;
  /** Binds a pair of RTP ports. */
  readonly openRtp: OpenRtpLeg;
  /** Starts the first thread; resolves when it has done once what takes long the first time. */
  warm(): Promise<void>;
  /** Ends all legs and threads. Idempotent. */
  close(): Promise<void>;
}

export interface LegThreadsOptions {
  readonly start: StartLegThread;
  /** At least 1. Threads that do not answer are not counted. */
  readonly maxThreads: number;
  readonly listener: LegThreadsListener;
}

export function openLegThreads(options: LegThreadsOptions): LegThreads {
  return new Pool(options);
}

class Pool implements LegThreads {
  readonly #options: LegThreadsOptions;
  readonly #threads = new Set<RemoteThread>();
  /** When the last leg that looks for a port has found one. */
  #turn: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: LegThreadsOptions) {
    this.#options = options;
  }

  readonly open: OpenLeg = async (offer, options, owner) => {
    const request = { kind: "webRtc", offer, options } as const;
    const leg =
      options.portRange === null
        ? await this.#thread(owner.accountId).open(request, owner)
        : await this.#openInTurn(request, owner);
    return webRtcLegOf(leg);
  };

  /** Ports of RTP are bound at once, and need no turn. */
  readonly openRtp: OpenRtpLeg = async (options, owner) =>
    rtpLegOf(await this.#threadBeside(owner).open({ kind: "rtp", options }, owner));

  /** Between the trial of a port and its use no other leg of any thread may look for one. */
  async #openInTurn(request: LegRequest, owner: LegOwner): Promise<RemoteLeg> {
    const before = this.#turn;
    const turn = Promise.withResolvers<void>();
    this.#turn = turn.promise;
    await before;
    let late: NodeJS.Timeout | undefined;
    try {
      const thread = this.#thread(owner.accountId);
      const opened = thread.open(request, owner);
      opened.catch(() => undefined);
      await Promise.allSettled([thread.ready]);
      late = setTimeout(turn.resolve, PORT_TURN_LIMIT_MS);
      return await opened;
    } finally {
      clearTimeout(late);
      turn.resolve();
    }
  }

  async warm(): Promise<void> {
    try {
      const [first = this.#start()] = this.#threads;
      await first.ready;
    } catch (error) {
      if (!this.#closed) throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#threads].map((thread) => thread.finish()));
  }

  /** A bridge needs both legs in one thread, so there the number of its legs does not count. */
  #threadBeside({ accountId, besideCallId = null }: LegOwner): RemoteThread {
    const beside =
      besideCallId === null || this.#closed
        ? undefined
        : [...this.#threads].find((thread) => thread.hasCall(besideCallId));
    return beside ?? this.#thread(accountId);
  }

  #thread(accountId: string): RemoteThread {
    if (this.#closed) throw new NoLegError("the service is stopping");
    const choice = chooseThread(this.#threads, accountId, this.#options.maxThreads);
    if (choice === null) throw new NoLegError("no media thread answers");
    return choice === "start" ? this.#start() : choice;
  }

  #start(): RemoteThread {
    if (this.#closed) throw new NoLegError("the service is stopping");
    const { start, listener } = this.#options;
    const thread: RemoteThread = new RemoteThread(start, listener, (hadLegs) => {
      this.#threads.delete(thread);
      // The clients of its calls are back in some seconds, and a start takes one or two.
      if (hadLegs && !this.#closed && this.#threads.size === 0) this.#start();
    });
    this.#threads.add(thread);
    return thread;
  }
}
