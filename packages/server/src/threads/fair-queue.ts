/** Jobs that wait for a thread: bounded, one at a time for each account, the accounts in turn. Pure. */

export interface FairQueueLimits {
  /** Jobs of all accounts that wait. */
  readonly waiting: number;
  /** Jobs of one account that wait, so that no account fills the queue. */
  readonly waitingOfAccount: number;
}

export class FairQueue<Job extends { readonly accountId: string }> {
  readonly #limits: FairQueueLimits;
  /** Waiting jobs of each account, the account whose turn is next first. */
  readonly #waiting = new Map<string, Job[]>();
  readonly #running = new Set<string>();
  #count = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /** Whether the job was taken; false: too many are waiting. */
  add(job: Job): boolean {
    const own = this.#waiting.get(job.accountId) ?? [];
    if (this.#count >= this.#limits.waiting || own.length >= this.#limits.waitingOfAccount) return false;
    own.push(job);
    this.#waiting.set(job.accountId, own);
    this.#count += 1;
    return true;
  }

  /** Whether `take` has a job. */
  get hasNext(): boolean {
    return this.#nextAccount() !== null;
  }

  /** The job whose turn it is. Its account gets no other one until `done`. Null: nothing can run now. */
  take(): Job | null {
    const accountId = this.#nextAccount();
    if (accountId === null) return null;
    const [job, ...rest] = this.#waiting.get(accountId) ?? [];
    if (job === undefined) return null;
    this.#keep(accountId, rest);
    this.#running.add(accountId);
    return job;
  }

  /** The running job of the account is over. */
  done(accountId: string): void {
    this.#running.delete(accountId);
  }

  /** The job no longer waits. */
  remove(job: Job): void {
    const own = this.#waiting.get(job.accountId) ?? [];
    if (!own.includes(job)) return;
    const rest = own.filter((other) => other !== job);
    this.#count -= 1;
    if (rest.length === 0) this.#waiting.delete(job.accountId);
    else this.#waiting.set(job.accountId, rest);
  }

  /** Empties the queue. */
  removeAll(): readonly Job[] {
    const all = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    this.#count = 0;
    return all;
  }

  #nextAccount(): string | null {
    for (const accountId of this.#waiting.keys()) if (!this.#running.has(accountId)) return accountId;
    return null;
  }

  /** What is left of an account goes behind the other accounts. */
  #keep(accountId: string, rest: Job[]): void {
    this.#waiting.delete(accountId);
    this.#count -= 1;
    if (rest.length > 0) this.#waiting.set(accountId, rest);
  }
}
