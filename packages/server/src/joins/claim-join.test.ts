import { describe, expect, it } from "vitest";
import { FakeNodes, type FakeCall } from "../ports/testing/fake-call-directory.ts";
import type { JoinState, StartOutcome } from "../runner/live-calls.ts";
import { claimJoin, joinedElsewhere, yieldCall, type ClaimDeps } from "./claim-join.ts";
import { JoiningCalls } from "./joining-calls.ts";

const CALL = "call";

interface FakeNode extends ClaimDeps {
  readonly joining: JoiningCalls;
  readonly states: Map<string, JoinState>;
  /** The call has ended its wait for a join at this node. */
  readonly joined: Set<string>;
  capacity: "free" | "full" | "draining";
  outcome: StartOutcome | "over";
  adopts: "resumed" | "later" | "gone";
  drains: boolean;
  /** Joined calls that are lost here can be continued elsewhere. */
  handsOver: boolean;
}

function openWorld(call: Partial<FakeCall> = {}) {
  const nodes = new FakeNodes();
  nodes.calls.set(CALL, { state: "waiting", claimedBy: null, node: "a", ...call });
  const open = (name: string): FakeNode => {
    const states = new Map<string, JoinState>();
    const joined = new Set<string>();
    const directory = nodes.open(name, (callId, { kind }) =>
      kind === "yield" ? yieldCall(node, callId) : Promise.resolve(null),
    );
    const leave = async (callId: string): Promise<boolean> => {
      if (states.get(callId) !== "joinable" || joined.has(callId)) return false;
      return states.delete(callId);
    };
    const node: FakeNode = {
      directory,
      joining: new JoiningCalls(),
      isDraining: () => node.drains,
      drains: false,
      handsOver: false,
      states,
      joined,
      capacity: "free",
      outcome: "started",
      adopts: "later",
      leave,
      liveCalls: {
        joinState: (callId) => states.get(callId) ?? "not_live",
        handOver: async (callId) => {
          if (states.get(callId) === "connected") return "joined";
          if (!states.has(callId)) return "gone";
          if (!node.handsOver) return "kept";
          states.delete(callId);
          return "handed_over";
        },
        capacity: () => node.capacity,
        release: leave,
      },
      async startWaiting(callId) {
        if (node.outcome === "started") states.set(callId, "joinable");
        return node.outcome;
      },
      adopt: async () => node.adopts,
      giveUpLost: async () => undefined,
    };
    return node;
  };
  return { nodes, a: open("a"), b: open("b"), c: open("c"), call: nodes.calls.get(CALL)! };
}

describe("a join of a call that nobody has joined", () => {
  it("is had by the node that it reaches, which starts the call", async () => {
    const { a, b, call } = openWorld();
    a.states.set(CALL, "joinable");
    expect(await claimJoin(b, CALL)).toBe("ok");
    expect(call).toMatchObject({ claimedBy: "b", node: "b" });
    expect(b.states.get(CALL)).toBe("joinable");
  });

  it("starts nothing where the call is kept ready", async () => {
    const { a, call } = openWorld();
    a.states.set(CALL, "joinable");
    a.outcome = "over";
    expect(await claimJoin(a, CALL)).toBe("ok");
    expect(call.claimedBy).toBe("a");
  });

  it("of two nodes at once is had by one, and the other answers as for a second join", async () => {
    const { a, b } = openWorld();
    a.states.set(CALL, "joinable");
    const joinAt = (node: FakeNode) =>
      node.joining.during(CALL, async () => {
        const found = await claimJoin(node, CALL);
        // It is connected some time later, such as when the stream of a carrier has begun.
        for (let turns = 0; turns < 50; turns += 1) await Promise.resolve();
        return found;
      });
    const found = await Promise.all([joinAt(a), joinAt(b)]);
    expect(found.toSorted()).toEqual(["joined", "ok"]);
  });

  it("is left to others by a node that is being stopped, also where it waits", async () => {
    const { a, call } = openWorld();
    a.states.set(CALL, "joinable");
    a.drains = true;
    expect(await claimJoin(a, CALL)).toBe("draining");
    expect(call.claimedBy).toBeNull();
  });

  it("is had by the next node when the first one was not connected after all", async () => {
    const { a, b, call } = openWorld();
    a.states.set(CALL, "joinable");
    expect(await claimJoin(a, CALL)).toBe("ok");
    expect(await claimJoin(b, CALL)).toBe("ok");
    expect(a.states.has(CALL)).toBe(false);
    expect(call).toMatchObject({ claimedBy: "b", node: "b" });
  });

  it("is had where the claim belongs to a node that is gone", async () => {
    const { nodes, a, b, call } = openWorld({ claimedBy: "a" });
    a.states.set(CALL, "joinable");
    nodes.stop("a");
    expect(await claimJoin(b, CALL)).toBe("ok");
    expect(call.claimedBy).toBe("b");
  });

  it("learns that it is connected elsewhere, or was", async () => {
    const { a, b } = openWorld({ claimedBy: "a" });
    a.states.set(CALL, "connected");
    expect(await claimJoin(b, CALL)).toBe("joined");
    a.states.set(CALL, "joinable");
    a.joined.add(CALL);
    expect(await claimJoin(b, CALL)).toBe("elsewhere");
  });

  it.each(["full", "draining"] as const)("is left to others by a node that is %s", async (capacity) => {
    const { b, call } = openWorld();
    b.capacity = capacity;
    expect(await claimJoin(b, CALL)).toBe(capacity);
    expect(call.claimedBy).toBeNull();
    // One that is here already takes no further place.
    b.states.set(CALL, "joinable");
    expect(await claimJoin(b, CALL)).toBe("ok");
  });

  it.each<[StartOutcome | "over", string]>([
    ["full", "full"],
    ["over", "gone"],
  ])("gives the claim up when the call does not start: %s", async (outcome, found) => {
    const { b, call } = openWorld();
    b.outcome = outcome;
    expect(await claimJoin(b, CALL)).toBe(found);
    expect(call.claimedBy).toBeNull();
    expect(b.joining.has(CALL)).toBe(false);
  });

  it("gives the claim up when the call cannot be read", async () => {
    const { b, call } = openWorld();
    const failing = { ...b, startWaiting: () => Promise.reject(new Error("damaged")) };
    await expect(claimJoin(failing, CALL)).rejects.toThrow("damaged");
    expect(call.claimedBy).toBeNull();
  });

  it("is refused for now where the node that has it does not answer", async () => {
    const { nodes, b } = openWorld({ claimedBy: "a" });
    nodes.silent.add("a");
    expect(await claimJoin(b, CALL)).toBe("elsewhere");
  });

  it("is gone after its end", async () => {
    expect(await claimJoin(openWorld({ state: "over" }).b, CALL)).toBe("gone");
  });
});

describe("a join of a joined call that does not run here", () => {
  it("is refused for now where it runs elsewhere or its node is gone, and never gone before its end", async () => {
    const { nodes, a, b } = openWorld({ state: "joined", claimedBy: "a" });
    a.states.set(CALL, "connected");
    expect(await claimJoin(b, CALL)).toBe("joined");
    expect(await joinedElsewhere(b, CALL)).toBe("joined");
    a.states.set(CALL, "joinable");
    a.joined.add(CALL);
    expect(await joinedElsewhere(b, CALL)).toBe("elsewhere");
    a.states.clear();
    expect(await joinedElsewhere(b, CALL)).toBe("orphaned");
    nodes.silent.add("a");
    expect(await joinedElsewhere(b, CALL)).toBe("orphaned");
    nodes.stop("a");
    expect(await joinedElsewhere(b, CALL)).toBe("orphaned");
    b.adopts = "resumed";
    expect(await joinedElsewhere(b, CALL)).toBe("lost");
  });

  it("is handed over by the node that has it where its client is lost, and continued here", async () => {
    const { a, b } = openWorld({ state: "joined", claimedBy: "a" });
    a.states.set(CALL, "joinable");
    a.joined.add(CALL);
    a.handsOver = true;
    b.adopts = "resumed";
    // It was made here, and kept ready until this node learns of the join.
    b.states.set(CALL, "joinable");
    expect(await joinedElsewhere(b, CALL)).toBe("lost");
    expect([a.states.has(CALL), b.states.has(CALL)]).toEqual([false, false]);
  });

  it("is left to others by a node that is being stopped", async () => {
    const { a, b } = openWorld({ state: "joined", claimedBy: "a" });
    a.states.set(CALL, "joinable");
    b.drains = true;
    expect(await joinedElsewhere(b, CALL)).toBe("draining");
    expect(a.states.has(CALL)).toBe(true);
  });

  it("is gone where its end is being stored here", async () => {
    const { a } = openWorld({ state: "joined", claimedBy: "a" });
    a.adopts = "gone";
    expect(await joinedElsewhere(a, CALL)).toBe("gone");
  });
});
