import { expect, test, vi } from "vitest";
import { snapshotOf } from "../../call/adoption/snapshot.ts";
import { joinedCall } from "../../call/testing/scenario.ts";
import { storedPlan } from "../../plan/stored-plan.ts";
import type { StartOutcome } from "../../runner/live-calls.ts";
import { insertCall, markJoined } from "../../store/calls/calls.ts";
import { claimNode, type NodeBoot } from "../../store/nodes/node-claims.ts";
import { renewLease } from "../../store/nodes/announcements.ts";
import { saveSnapshot } from "../../store/snapshots/call-snapshots.ts";
import type { Db } from "../../store/database/db.ts";
import { giveUpCall, readHeldCall } from "../../store/snapshots/orphans.ts";
import { newCall } from "../../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../../store/testing/databases.ts";
import { ANNOUNCEMENT } from "../../store/testing/leases.ts";
import { openAdoption } from "./adoption.ts";

/** A database that is lost after the next transaction is stored, until it is restored. */
function losingAnswers(db: Db): { readonly db: Db; readonly restore: () => void } {
  let isLost = false;
  let losesAnswers = true;
  const fail = (): never => {
    throw new Error("the connection was lost");
  };
  const query = new Proxy(db.query, {
    get(target, name) {
      if (name === "transaction" && losesAnswers)
        return () => ({
          execute: async (work: Parameters<ReturnType<Db["query"]["transaction"]>["execute"]>[0]) => {
            await target.transaction().execute(work);
            isLost = true;
            fail();
          },
        });
      if (name === "getExecutor" && isLost) fail();
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { db: { ...db, query }, restore: () => void (isLost = losesAnswers = false) };
}

describeOnBothDatabases("the adoption of calls", (current) => {
  let boots = 0;
  async function newNode(nodeId?: string): Promise<NodeBoot> {
    boots += 1;
    const boot = { nodeId: nodeId ?? `adopting-${String(boots)}`, bootId: `boot-${String(boots)}` };
    await claimNode(current().db, boot, { endedBootIds: [], lock: "exclusive" });
    return boot;
  }

  async function lostCall(owner: NodeBoot, version = 1): Promise<string> {
    const { db } = current();
    const accountId = await newAccount(db);
    const { state } = joinedCall().run(320).says("Good morning", 640).run(3_000);
    const stored = newCall({ nodeId: owner.nodeId });
    const { callId } = stored;
    await insertCall(db, accountId, { ...stored, plan: storedPlan({ ...state.plan, callId, accountId }) });
    await markJoined(db, accountId, callId, { joinedAtMs: Date.now(), clientVersion: null, by: owner });
    const counts = { versions: 0, toolFailures: [], initialTokens: [] };
    const document = JSON.stringify({ snapshot: snapshotOf(state), counts, use: [] });
    await saveSnapshot(db, owner, { accountId, callId, version, document });
    return callId;
  }

  function newProcess(boot: NodeBoot, outcome: StartOutcome = "started", db: Db = current().db) {
    const live = new Set<string>();
    const leaving = new Set<string>();
    const journaled = new Set<string>();
    const resumedMs: number[] = [];
    const timers: (() => void)[] = [];
    const adoption = openAdoption({
      db,
      boot,
      liveCalls: {
        startCall: ({ callId }, { resumed }) => {
          if (outcome === "started") live.add(callId);
          resumedMs.push(resumed?.elapsedMs ?? -1);
          return outcome;
        },
        isLeaving: (callId) => leaving.has(callId),
        joinState: (callId) => (live.has(callId) ? "joinable" : "not_live"),
        release: async (callId) => live.delete(callId),
      },
      storage: { remember: () => undefined, forget: () => undefined },
      isJournaled: (callId) => journaled.has(callId),
      // Leases would lapse on a slow machine.
      trustsLeases: () => false,
      clock: {
        nowMs: () => performance.now(),
        // Looks at the lease come at once; the limit for the client only when a test lets it pass.
        after: (delayMs, fire) => {
          if (delayMs < 1_000) setTimeout(fire, 20);
          else timers.push(fire);
          return () => undefined;
        },
      },
      logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
    });
    return { adoption, live, leaving, journaled, resumedMs, timers };
  }

  test("a call of a node that was started again goes on at once, at one of two that ask", async () => {
    const owner = await newNode();
    const callId = await lostCall(owner);
    await newNode(owner.nodeId);
    const [one, two] = [newProcess(await newNode()), newProcess(await newNode())];
    const outcomes = await Promise.all([one.adoption.resume(callId), two.adoption.resume(callId)]);
    expect(outcomes.toSorted()).toEqual(["later", "resumed"]);
    expect(one.live.size + two.live.size).toBe(1);
    const winner = one.live.size === 1 ? one : two;
    expect(winner.resumedMs[0]).toBeGreaterThanOrEqual(0);
    // Its client asks again, while it waits here.
    expect(await winner.adoption.resume(callId)).toBe("resumed");
  });

  test("a client is held while the process may be gone, and sent away when it shows that it is alive", async () => {
    const { db } = current();
    const owner = await newNode();
    const callId = await lostCall(owner);
    const { adoption, live } = newProcess(await newNode());
    let outcome: string | null = null;
    const asking = adoption.resume(callId).then((result) => (outcome = result));
    await new Promise((done) => setTimeout(done, 100));
    expect(outcome).toBeNull();
    await renewLease(db, owner, ANNOUNCEMENT);
    await asking;
    expect([outcome, live.size]).toEqual(["later", 0]);
  });

  test("a snapshot of another version is left to others", async () => {
    const owner = await newNode();
    const callId = await lostCall(owner, 999);
    await newNode(owner.nodeId);
    expect(await newProcess(await newNode()).adoption.resume(callId)).toBe("later");
  });

  test("a full process gives the call back, and another one continues it", async () => {
    const owner = await newNode();
    const callId = await lostCall(owner);
    await newNode(owner.nodeId);
    expect(await newProcess(await newNode(), "full").adoption.resume(callId)).toBe("later");
    expect(await newProcess(await newNode()).adoption.resume(callId)).toBe("resumed");
  });

  test("a client that was answered and does not connect leaves the call to the next one", async () => {
    const owner = await newNode();
    const callId = await lostCall(owner);
    await newNode(owner.nodeId);
    const { adoption, live, timers } = newProcess(await newNode());
    expect(await adoption.resume(callId)).toBe("resumed");
    for (const fire of timers) fire();
    await vi.waitFor(
      async () => expect((await readHeldCall(current().db, callId, false))?.isGone).toBe(true),
      {
        timeout: 30_000,
      },
    );
    expect(live.size).toBe(0);
    expect(await newProcess(await newNode()).adoption.resume(callId)).toBe("resumed");
  });

  test("a call that is released because another process asks for it goes on there", async () => {
    const owner = await newNode();
    const callId = await lostCall(owner);
    await newNode(owner.nodeId);
    const one = newProcess(await newNode());
    expect(await one.adoption.resume(callId)).toBe("resumed");
    one.live.delete(callId);
    await one.adoption.left(callId);
    const two = newProcess(await newNode());
    expect(await two.adoption.resume(callId)).toBe("resumed");
    // The limit of the first one for its client does not concern the call any more.
    for (const fire of one.timers) fire();
    await one.adoption.left(callId);
    expect(await two.adoption.resume(callId)).toBe("resumed");
  });

  test("a call whose claim was stored though its answer was lost can be taken again", async () => {
    const owner = await newNode();
    const callId = await lostCall(owner);
    await newNode(owner.nodeId);
    const boot = await newNode();
    const network = losingAnswers(current().db);
    const { adoption, live } = newProcess(boot, "started", network.db);
    await expect(adoption.resume(callId)).rejects.toThrow("the connection was lost");
    // The claim is stored, and the call does not run here.
    expect((await readHeldCall(current().db, callId, false))?.owner.bootId).toBe(boot.bootId);
    expect(await adoption.resume(callId)).toBe("later");
    network.restore();
    await vi.waitFor(async () => expect(await adoption.resume(callId)).toBe("resumed"), { timeout: 30_000 });
    expect(live.size).toBe(1);
  });

  test("a call that is still leaving this process is not taken before it has left", async () => {
    const { db } = current();
    const boot = await newNode();
    const callId = await lostCall(boot);
    const { adoption, live, leaving, resumedMs } = newProcess(boot);
    leaving.add(callId);
    await giveUpCall(db, boot, callId);
    const asking = adoption.resume(callId);
    await new Promise((done) => setTimeout(done, 100));
    expect(resumedMs).toEqual([]);
    leaving.delete(callId);
    expect(await asking).toBe("resumed");
    expect(live.size).toBe(1);
  });

  test("a call that has no snapshot is gone", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const call = newCall({ nodeId: "nobody" });
    await insertCall(db, accountId, call);
    expect(await newProcess(await newNode()).adoption.resume(call.callId)).toBe("gone");
  });

  test("a call of this process that does not run here goes on, unless records of it are in the journal", async () => {
    const owner = await newNode();
    const [callId, waiting] = [await lostCall(owner), await lostCall(owner)];
    const { adoption, live, journaled } = newProcess(owner);
    journaled.add(waiting);
    expect(await adoption.resume(callId)).toBe("resumed");
    expect([...live]).toEqual([callId]);
    expect(await adoption.resume(waiting)).toBe("later");
    await adoption.giveUpLost(waiting);
    expect(await readHeldCall(current().db, waiting, false)).toMatchObject({ isGone: false });
  });

  test("a call of this process that does not run here is given up for another one, and a live one is not", async () => {
    const owner = await newNode();
    const [lost, running] = [await lostCall(owner), await lostCall(owner)];
    const { adoption, live } = newProcess(owner);
    live.add(running);
    await adoption.giveUpLost(lost);
    await adoption.giveUpLost(running);
    const other = newProcess(await newNode());
    expect(await other.adoption.resume(lost)).toBe("resumed");
    expect(await readHeldCall(current().db, running, false)).toMatchObject({ isGone: false });
  });

  test("a shutdown gives back what it has released before its client had connected", async () => {
    const owner = await newNode();
    const callId = await lostCall(owner);
    await newNode(owner.nodeId);
    const stopping = newProcess(await newNode());
    expect(await stopping.adoption.resume(callId)).toBe("resumed");
    await stopping.adoption.giveUpReleased();
    expect(await readHeldCall(current().db, callId, false)).toMatchObject({ isGone: false });
    stopping.live.delete(callId);
    await stopping.adoption.giveUpReleased();
    expect(await newProcess(await newNode()).adoption.resume(callId)).toBe("resumed");
  });
});
