/** One request to a list of engines that answer in parts: the first engine whose answer begins serves it. */

import { abortError, throwIfAborted } from "../../pacing/abort.ts";
import { errorOf } from "../../pacing/error-text.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { EngineUser } from "../../ports/engine-steps.ts";
import { Attempt } from "./attempt.ts";
import type { Use } from "./breaker.ts";
import type { EngineList, UseOf } from "./engine-list.ts";
import type { ListedEngine } from "./listed-engine.ts";

/** An engine that had sent nothing for so long when the call gave it up has failed. */
export const STALLED_MS = 4_000;

export interface StreamedRequest<Engine extends object, Part> {
  readonly list: EngineList<Engine>;
  readonly user: EngineUser | undefined;
  readonly signal: AbortSignal;
  readonly use: UseOf<Engine>;
  readonly start: (listed: ListedEngine<Engine>, signal: AbortSignal) => AsyncIterable<Part>;
  readonly begins: (part: Part) => boolean;
  readonly empty: () => Error | null;
  /** Limit until the answer of an engine begins; of the last one too, so that the call can say that none answers. */
  readonly limitMs: number;
  readonly limitAfter: Promise<null> | null;
  /** A second engine is asked as well when no answer has begun for so long; null: never. */
  readonly hedgeMs: number | null;
  readonly stallMs: () => number | null;
  /** Those that have failed in an earlier part of the same answer are not asked; those that fail now are added. */
  readonly failed?: Set<ListedEngine<Engine>>;
  /** Told the engine whose answer has begun. */
  readonly serves: (listed: ListedEngine<Engine>) => void;
}

interface Running<Engine, Part> {
  readonly listed: ListedEngine<Engine>;
  readonly attempt: Attempt<Part>;
  readonly use: Use;
}

export async function* streamed<Engine extends object, Part>(
  request: StreamedRequest<Engine, Part>,
): AsyncGenerator<Part> {
  const { signal } = request;
  throwIfAborted(signal);
  const aborted = Promise.withResolvers<null>();
  const abort = () => aborted.resolve(null);
  signal.addEventListener("abort", abort, { once: true });
  try {
    yield* answerOf(request, await firstOf(request, aborted.promise));
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

async function* answerOf<Engine extends object, Part>(
  request: StreamedRequest<Engine, Part>,
  serving: Running<Engine, Part>,
): AsyncGenerator<Part> {
  const { signal, list, user, stallMs } = request;
  const { attempt, use, listed } = serving;
  request.serves(listed);
  const drop = (): void => giveUp(request, serving);
  signal.addEventListener("abort", drop, { once: true });
  try {
    for await (const part of attempt.parts(stallMs)) {
      throwIfAborted(signal);
      yield part;
      throwIfAborted(signal);
    }
    throwIfAborted(signal);
  } catch (thrown) {
    throwIfAborted(signal);
    const error = errorOf(thrown);
    request.failed?.add(listed);
    use.failed(error);
    list.failed(listed, error, user, null);
    const type = error instanceof EngineFailure ? error.type : null;
    // The call asks again, and the next engine answers: a refusal within an answer is no reason to end the call.
    throw new EngineFailure(error.message, { type, cause: error });
  } finally {
    signal.removeEventListener("abort", drop);
    // It ended well, or its reader had heard enough.
    use.succeeded();
    attempt.drop();
  }
}

/** The call has no use for the answer any more. */
function giveUp<Engine extends object, Part>(
  { list, user, limitMs }: StreamedRequest<Engine, Part>,
  { attempt, use, listed }: Running<Engine, Part>,
  hasBegun = true,
): void {
  const { waitedMs } = attempt;
  const isLate = waitedMs >= (hasBegun ? STALLED_MS : limitMs);
  const message = `nothing came for ${String(Math.round(waitedMs))} ms`;
  const error = isLate ? new EngineFailure(message, { type: "timeout" }) : undefined;
  attempt.drop(error);
  if (error !== undefined) {
    use.failed(error);
    list.failed(listed, error, user, null);
  } else if (hasBegun) use.succeeded();
  else use.dropped();
}

async function firstOf<Engine extends object, Part>(
  request: StreamedRequest<Engine, Part>,
  aborted: Promise<null>,
): Promise<Running<Engine, Part>> {
  const { list, user, use, signal, failed } = request;
  const waiting = list.candidates(use, user).filter((listed) => failed?.has(listed) !== true);
  if (waiting.length === 0) throw new EngineFailure("no other engine is left", { isExhausted: true });
  const running = new Set<Running<Engine, Part>>();
  const errors: Error[] = [];
  const hedge = hedgeTimer(request);
  const launch = (isServing: boolean): void => {
    const listed = waiting.shift();
    if (listed === undefined) return;
    const settled = list.begin(listed, use, user, isServing);
    const attempt = new Attempt<Part>({
      ...request,
      clock: list.clock,
      start: (own) => request.start(listed, own),
    });
    running.add({ listed, attempt, use: settled });
  };
  try {
    launch(true);
    for (;;) {
      const begun = [...running].map(async (one) => ({ one, error: await one.attempt.begun }));
      const outcome = await Promise.race([...begun, aborted, hedge.fired]);
      if (signal.aborted || outcome === null) {
        for (const one of running) giveUp(request, one, false);
        throw abortError();
      }
      if (outcome === "hedge") {
        hedge.fired = never();
        launch(false);
        continue;
      }
      const { one, error } = outcome;
      running.delete(one);
      if (error === null) return one;
      errors.push(error);
      failed?.add(one.listed);
      one.use.failed(error);
      const isAlone = running.size === 0;
      list.failed(one.listed, error, user, isAlone ? (waiting[0] ?? null) : null);
      if (!isAlone) continue;
      if (waiting.length === 0) throw list.exhausted(error, errors, use);
      launch(true);
    }
  } finally {
    hedge.cancel();
    for (const one of running) {
      one.attempt.drop();
      one.use.dropped();
    }
  }
}

function hedgeTimer<Engine extends object, Part>({ list, hedgeMs }: StreamedRequest<Engine, Part>) {
  const fired = Promise.withResolvers<"hedge">();
  const cancel = hedgeMs === null ? () => undefined : list.clock.after(hedgeMs, () => fired.resolve("hedge"));
  return { fired: fired.promise, cancel };
}

function never(): Promise<"hedge"> {
  return new Promise(() => undefined);
}
