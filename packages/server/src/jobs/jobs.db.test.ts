import { PgBoss } from "pg-boss";
import { expect, it, vi } from "vitest";
import { inTransaction } from "../store/database/db.ts";
import { describeOnBothDatabases, type TestStore } from "../store/testing/databases.ts";
import { runnable, type JobDefinition, type JobHandler } from "./definitions/job.ts";
import { openJobs, type Jobs } from "./jobs.ts";

interface Sum {
  readonly terms: readonly number[];
}

const givenUpJob: JobDefinition<Sum> = {
  name: "sum-given-up",
  read: (data) => data as Sum,
  atOnce: 1,
  limitSeconds: 30,
  retries: { limit: 2, delaySeconds: 0, maxDelaySeconds: null },
};

const sumJob: JobDefinition<Sum> = {
  name: "sum",
  read: (data) => data as Sum,
  atOnce: 2,
  limitSeconds: 30,
  retries: { limit: 2, delaySeconds: 0, maxDelaySeconds: null },
  givenUp: givenUpJob,
};

interface Share {
  readonly accountId: string;
  readonly name: string;
}

const shareJob: JobDefinition<Share> = {
  name: "share",
  read: (data) => data as Share,
  atOnce: 2,
  ofAccount: { atOnce: 1, idOf: ({ accountId }) => accountId },
  limitSeconds: 120,
  retries: { limit: 2, delaySeconds: 0, maxDelaySeconds: null },
};

const logged: object[] = [];
const silent = { warn: () => undefined, error: () => undefined };
const LIMIT = { timeout: 60_000, interval: 20 };

async function open({ store }: TestStore): Promise<Jobs> {
  const log = { ...silent, warn: (fields: object) => void logged.push(fields) };
  return openJobs({ store, definitions: [givenUpJob, sumJob, shareJob], log });
}

async function withJobs(
  current: TestStore,
  handler: JobHandler<Sum>,
  work: (jobs: Jobs) => Promise<void>,
): Promise<void> {
  const jobs = await open(current);
  try {
    await jobs.start([runnable(sumJob, handler)]);
    await work(jobs);
  } finally {
    await jobs.close();
  }
}

describeOnBothDatabases("jobs", (current) => {
  it("are run once their transaction is over, and never when it was rolled back", async () => {
    const { db } = current();
    const done: number[] = [];
    await withJobs(
      current(),
      async ({ data }) => void done.push(data.terms.reduce((sum, term) => sum + term, 0)),
      async (jobs) => {
        const lost = inTransaction(db, async (tx) => {
          await jobs.send(tx, sumJob, { terms: [1] });
          throw new Error("on second thoughts");
        });
        await expect(lost).rejects.toThrow("on second thoughts");
        await inTransaction(db, async (tx) => {
          await jobs.send(tx, sumJob, { terms: [1, 2] });
          await jobs.send(tx, sumJob, { terms: [3, 4] });
          jobs.wake(sumJob);
        });
        jobs.wake(sumJob);
        await expect.poll(() => done.toSorted((a, b) => a - b), LIMIT).toEqual([3, 7]);
      },
    );
    expect(done).toHaveLength(2);
  });

  it("make one place poll for each of them, in turn", async () => {
    const woken = vi.spyOn(PgBoss.prototype, "notifyWorker");
    await withJobs(
      current(),
      () => Promise.resolve(),
      (jobs) => {
        const wokenBy = (newJobs?: number): string[] => {
          woken.mockClear();
          jobs.wake(sumJob, newJobs);
          return woken.mock.calls.map(([worker]) => worker);
        };
        const [first, second, third] = [wokenBy(), wokenBy(), wokenBy()];
        expect([first.length, second.length]).toEqual([1, 1]);
        expect(second).not.toEqual(first);
        expect(third).toEqual(first);
        expect(wokenBy(9).toSorted()).toEqual([...first, ...second].toSorted());
        expect(wokenBy(0)).toEqual([]);
        return Promise.resolve();
      },
    );
    woken.mockRestore();
  });

  it("are retried, and after their last attempt reported and passed to another job", async () => {
    const { db } = current();
    const seen: number[] = [];
    const givenUp: number[] = [];
    logged.length = 0;
    await withJobs(
      current(),
      ({ data: { terms } }) => {
        const [first = 0] = terms;
        seen.push(first);
        return Promise.reject(new Error("no"));
      },
      async (jobs) => {
        const giveUp: JobHandler<Sum> = ({ data }) => {
          givenUp.push(...data.terms);
          return Promise.resolve();
        };
        await jobs.start([runnable(givenUpJob, giveUp)]);
        await jobs.send(db, sumJob, { terms: [9] });
        jobs.wake(sumJob);
        await expect.poll(() => givenUp, LIMIT).toEqual([9]);
        expect(seen).toEqual([9, 9, 9]);
        const line = { job: "sum", error: "Error: no" };
        expect(logged).toMatchObject([line, line, line]);
      },
    );
  });

  it("of an account wait for each other, and those of another account pass them", async () => {
    const { db } = current();
    const jobs = await open(current());
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    try {
      await inTransaction(db, async (tx) => {
        for (const [accountId, name] of [
          ["a", "a1"],
          ["a", "a2"],
          ["b", "b1"],
        ] as const)
          await jobs.send(tx, shareJob, { accountId, name });
      });
      const handler: JobHandler<Share> = async ({ data: { name } }) => {
        begun.push(name);
        await new Promise<void>((end) => ends.set(name, end));
      };
      await jobs.start([runnable(shareJob, handler)]);
      await expect.poll(() => begun.toSorted(), LIMIT).toEqual(["a1", "b1"]);
      ends.get("b1")?.();
      ends.get("a1")?.();
      await expect.poll(() => begun.toSorted(), LIMIT).toEqual(["a1", "a2", "b1"]);
      ends.get("a2")?.();
    } finally {
      for (const end of ends.values()) end();
      await jobs.close();
    }
  });

  it("wait for their time, and for a process that runs them", async () => {
    const { db } = current();
    const first = await open(current());
    const startAfterMs = Date.now() + 700;
    // The queue was not used before: it must not be looked up beside the transaction.
    await inTransaction(db, async (tx) => first.send(tx, sumJob, { terms: [5] }, { startAfterMs }));
    await first.close();
    let ranAtMs = 0;
    await withJobs(
      current(),
      () => {
        ranAtMs = Date.now();
        return Promise.resolve();
      },
      async () => {
        await expect.poll(() => ranAtMs, LIMIT).toBeGreaterThan(0);
      },
    );
    // The clock of a database on another machine would differ; here it is the same.
    expect(ranAtMs).toBeGreaterThanOrEqual(startAfterMs - 5);
  });

  it("end before the service does, and get an abort signal when they must", async () => {
    const { db } = current();
    const jobs = await open(current());
    const events: string[] = [];
    const started = Promise.withResolvers<void>();
    const handler: JobHandler<Sum> = async ({ signal }) => {
      started.resolve();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      events.push("job ended");
      throw new Error("cut off");
    };
    await jobs.start([runnable(sumJob, handler)]);
    await jobs.send(db, sumJob, { terms: [1] });
    jobs.wake(sumJob);
    await started.promise;
    await jobs.close();
    events.push("closed");
    expect(events).toEqual(["job ended", "closed"]);
    const done: number[] = [];
    // The next process finds what was cut off.
    await withJobs(
      current(),
      ({ data }) => {
        done.push(...data.terms);
        return Promise.resolve();
      },
      async () => {
        await expect.poll(() => done, LIMIT).toEqual([1]);
      },
    );
  });
});
