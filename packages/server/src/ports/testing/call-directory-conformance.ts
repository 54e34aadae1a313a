/** Conformance suite of call directories: the same for the fake and for the one over the database. */

import { expect, test } from "vitest";
import type { CallDirectory, CallOperation } from "../nodes/call-directory.ts";

/** A process of the deployment. */
export interface DirectoryNode {
  readonly directory: CallDirectory;
  /** What other processes have asked of its calls. Answered with `{ "by": <its name> }`. */
  readonly performed: readonly (readonly [callId: string, operation: CallOperation])[];
  /** It ends without a word, and its lease lapses. */
  readonly kill: () => Promise<void>;
}

export interface DirectorySubject {
  readonly openNode: (name: string) => Promise<DirectoryNode>;
  /** A call that nobody has joined, made by this process. */
  readonly makeCall: (node: DirectoryNode) => Promise<string>;
  readonly join: (callId: string) => Promise<void>;
  readonly end: (callId: string) => Promise<void>;
}

const UNKNOWN = "00000000-0000-4000-8000-000000000000";

export function describeCallDirectory(current: () => DirectorySubject): void {
  const open = async (): Promise<Nodes> => {
    const { openNode } = current();
    const [a, b, c] = [await openNode("a"), await openNode("b"), await openNode("c")];
    return { a, b, c };
  };

  test("a call that nobody has joined is kept ready by its node, and any may claim it", async () => {
    const { a, b, c } = await open();
    const callId = await current().makeCall(a);
    expect(await a.directory.ownerOf(callId)).toEqual({ state: "waiting", holder: "self" });
    expect(await b.directory.ownerOf(callId)).toEqual({ state: "waiting", holder: "other" });
    expect(await b.directory.claim(callId)).toBe(true);
    expect(await b.directory.claim(callId)).toBe(true);
    expect([await a.directory.claim(callId), await c.directory.claim(callId)]).toEqual([false, false]);
    expect(await b.directory.ownerOf(callId)).toEqual({ state: "waiting", holder: "self" });
    expect(await a.directory.ownerOf(callId)).toEqual({ state: "waiting", holder: "other" });
  });

  test("of many claims at once exactly one succeeds", async () => {
    const { a, b, c } = await open();
    for (let round = 0; round < 10; round += 1) {
      const callId = await current().makeCall(a);
      const nodes = [a, b, c];
      const claims = await Promise.all(nodes.map(({ directory }) => directory.claim(callId)));
      expect(claims.filter(Boolean)).toHaveLength(1);
      const winner = nodes[claims.indexOf(true)] ?? a;
      expect(await winner.directory.ownerOf(callId)).toEqual({ state: "waiting", holder: "self" });
    }
  });

  test("a claim that is given up is free again; only its holder can give it up", async () => {
    const { a, b, c } = await open();
    const callId = await current().makeCall(a);
    expect(await b.directory.claim(callId)).toBe(true);
    await c.directory.release(callId);
    expect(await c.directory.claim(callId)).toBe(false);
    await b.directory.release(callId);
    await b.directory.release(callId);
    expect(await c.directory.claim(callId)).toBe(true);
  });

  test("joined, ended and unknown calls cannot be claimed", async () => {
    const { a, b } = await open();
    const callId = await current().makeCall(a);
    expect(await a.directory.claim(callId)).toBe(true);
    await current().join(callId);
    expect(await b.directory.claim(callId)).toBe(false);
    await a.directory.release(callId);
    expect(await b.directory.ownerOf(callId)).toEqual({ state: "joined", holder: "other" });
    await current().end(callId);
    expect([await a.directory.claim(callId), await b.directory.claim(callId)]).toEqual([false, false]);
    expect((await b.directory.ownerOf(callId)).state).toBe("over");
    expect((await b.directory.ownerOf(UNKNOWN)).state).toBe("over");
    expect(await b.directory.claim(UNKNOWN)).toBe(false);
  });
  describeProcesses(current, open);
}

interface Nodes {
  readonly a: DirectoryNode;
  readonly b: DirectoryNode;
  readonly c: DirectoryNode;
}

function describeProcesses(current: () => DirectorySubject, open: () => Promise<Nodes>): void {
  test("the claim of a process that is gone does not count; its joined calls belong to nobody", async () => {
    const { a, b, c } = await open();
    const [waiting, joined] = [await current().makeCall(a), await current().makeCall(a)];
    expect([await b.directory.claim(waiting), await b.directory.claim(joined)]).toEqual([true, true]);
    await current().join(joined);
    await b.kill();
    expect(await c.directory.ownerOf(waiting)).toEqual({ state: "waiting", holder: "nobody" });
    expect(await c.directory.ownerOf(joined)).toEqual({ state: "joined", holder: "nobody" });
    expect([await c.directory.claim(waiting), await c.directory.claim(joined)]).toEqual([true, false]);
    expect(await c.directory.forward(joined, { kind: "end" })).toEqual({ kind: "no_owner" });
  });

  test("operations reach the process that has the call, and no other", async () => {
    const { a, b, c } = await open();
    const callId = await current().makeCall(a);
    expect(await b.directory.claim(callId)).toBe(true);
    const operation = { kind: "send", message: { type: "hang_up", message: "Grüße ✓" } };
    expect(await c.directory.forward(callId, operation)).toEqual({ kind: "answered", answer: { by: "b" } });
    expect(b.performed).toEqual([[callId, operation]]);
    expect([a.performed, c.performed]).toEqual([[], []]);
    // Its own calls are not asked of itself.
    expect(await b.directory.forward(callId, operation)).toEqual({ kind: "no_owner" });
    expect(await b.directory.forward(UNKNOWN, operation)).toEqual({ kind: "no_owner" });
  });
}
