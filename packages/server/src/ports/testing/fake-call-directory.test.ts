import { randomUUID } from "node:crypto";
import { describe } from "vitest";
import type { CallOperation } from "../nodes/call-directory.ts";
import {
  describeCallDirectory,
  type DirectoryNode,
  type DirectorySubject,
} from "./call-directory-conformance.ts";
import { FakeNodes } from "./fake-call-directory.ts";

function openSubject(): DirectorySubject {
  const nodes = new FakeNodes();
  const names = new Map<DirectoryNode, string>();
  const set = async (callId: string, state: "joined" | "over"): Promise<void> => {
    const call = nodes.calls.get(callId);
    if (call !== undefined) call.state = state;
  };
  return {
    openNode: async (name) => {
      const id = `${name} ${randomUUID()}`;
      const performed: [string, CallOperation][] = [];
      const directory = nodes.open(id, async (callId, operation) => {
        performed.push([callId, operation]);
        return { by: name };
      });
      const node = { directory, performed, kill: async () => nodes.stop(id) };
      names.set(node, id);
      return node;
    },
    makeCall: async (node) => {
      const callId = randomUUID();
      nodes.calls.set(callId, { state: "waiting", claimedBy: null, node: names.get(node) ?? "" });
      return callId;
    },
    join: (callId) => set(callId, "joined"),
    end: (callId) => set(callId, "over"),
  };
}

describe("the fake call directory", () => {
  const subject = openSubject();
  describeCallDirectory(() => subject);
});
