import { describe, expect, it } from "vitest";
import { LEASE_MS } from "../store/nodes/announcements.ts";
import { OwnLease } from "./own-lease.ts";

function world() {
  let nowMs = 1_000;
  const lease = new OwnLease(nowMs, LEASE_MS, () => nowMs);
  return { lease, now: () => nowMs, wait: (ms: number) => void (nowMs += ms) };
}

const settled = async (): Promise<void> => {
  for (let turns = 0; turns < 5; turns += 1) await Promise.resolve();
};

describe("the lease of a process", () => {
  it("is held until it lapses, counted from before its statement was sent", () => {
    const { lease, now, wait } = world();
    wait(LEASE_MS - 1);
    expect([lease.isHeld(), lease.trustsOthers()]).toEqual([true, false]);
    const sentAtMs = now();
    wait(500);
    lease.renewed(sentAtMs, false);
    expect([lease.isHeld(), lease.trustsOthers()]).toEqual([true, true]);
    wait(LEASE_MS - 501);
    expect(lease.isHeld()).toBe(true);
    wait(1);
    expect([lease.isHeld(), lease.steadyMs(), lease.trustsOthers()]).toEqual([false, 0, false]);
  });

  it("is held again after a lapse once the calls that others have taken were stopped", async () => {
    const { lease, now, wait } = world();
    const checked: PromiseWithResolvers<void>[] = [];
    const failures: unknown[] = [];
    lease.onLapse(
      () => {
        const check = Promise.withResolvers<void>();
        checked.push(check);
        return check.promise;
      },
      (error) => void failures.push(error),
    );
    let isHeldAgain = false;
    wait(LEASE_MS);
    void lease.whenHeld().then(() => (isHeldAgain = true));
    wait(1);
    lease.renewed(now(), false);
    expect([lease.isCurrent(), lease.isHeld()]).toEqual([true, false]);
    checked[0]?.reject(new Error("the database was away"));
    await settled();
    expect([failures.length, lease.isHeld(), isHeldAgain]).toEqual([1, false, false]);
    // The next renewal checks again.
    lease.renewed(now(), false);
    checked[1]?.resolve();
    await settled();
    expect([checked.length, lease.isHeld(), isHeldAgain]).toEqual([2, true, true]);
  });

  it("has lapsed as well where only the database has seen it, as after the suspension of a machine", async () => {
    const { lease, now, wait } = world();
    let checks = 0;
    lease.onLapse(
      async () => void (checks += 1),
      () => undefined,
    );
    wait(2 * LEASE_MS);
    lease.renewed(now(), false);
    await settled();
    wait(LEASE_MS - 1);
    lease.renewed(now(), false);
    wait(2);
    expect(lease.trustsOthers()).toBe(true);
    lease.renewed(now(), true);
    expect([lease.isHeld(), lease.trustsOthers()]).toEqual([false, false]);
    await settled();
    expect([lease.isHeld(), checks]).toEqual([true, 2]);
  });
});
