/** Which thread a new leg goes to. */

/**
 * Legs of one thread before another is started: 30 of them, with everything else of their calls, take 67 % of a core.
 */
export const LEGS_PER_THREAD = 40;

/** A thread as the choice sees it. */
export interface ThreadLoad {
  readonly legCount: number;
  /** False from the first ping that it has not answered until it answers one. */
  readonly isResponsive: boolean;
  legCountOf(accountId: string): number;
  /** Accounts other than this one that have legs in it. */
  otherAccountsThan(accountId: string): number;
}

/**
 * The thread for a leg of this account; `start`: a new one; null: none can take it now.
 *
 * A fault of the WebRTC library can end a thread with all its legs, so a leg must share its thread with as few others as
 * possible. A thread for each account would be the safest, but every thread costs memory and competes for the cores, so
 * another is started only when all are full, and among those that have room
 *
 * 1. the one with the fewest legs of the account comes first: one lost thread takes only a part of its calls;
 * 2. then the one with the fewest other accounts: where an account has no leg yet, it joins those that are alone, and
 *    the number of accounts that one thread takes with it stays low;
 * 3. then the one with the fewest legs, which also balances the load.
 *
 * Where all are full and no more may be started, the load counts first. A thread that does not answer gets no leg, and
 * its place may be taken by a new one: there are at most twice `maxThreads`, also if all of them come back.
 */
export function chooseThread<Thread extends ThreadLoad>(
  threads: Iterable<Thread>,
  accountId: string,
  maxThreads: number,
): Thread | "start" | null {
  const all = [...threads];
  const responsive = all.filter(({ isResponsive }) => isResponsive);
  const byAccount = (thread: Thread): readonly number[] => [
    thread.legCountOf(accountId),
    thread.otherAccountsThan(accountId),
    thread.legCount,
  ];
  const withRoom = responsive.filter(({ legCount }) => legCount < LEGS_PER_THREAD);
  if (withRoom.length > 0) return least(withRoom, byAccount);
  if (responsive.length < maxThreads && all.length < 2 * maxThreads) return "start";
  return least(responsive, (thread) => [thread.legCount, ...byAccount(thread)]);
}

/** The first one whose numbers come before those of the others; null where there is none. */
function least<Thread>(threads: readonly Thread[], numbersOf: (thread: Thread) => readonly number[]) {
  let best: { readonly thread: Thread; readonly numbers: readonly number[] } | null = null;
  for (const thread of threads) {
    const numbers = numbersOf(thread);
    if (best === null || isBefore(numbers, best.numbers)) best = { thread, numbers };
  }
  return best?.thread ?? null;
}

function isBefore(one: readonly number[], other: readonly number[]): boolean {
  for (const [at, number] of one.entries()) {
    const difference = number - (other[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
