import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { testTool } from "../testing/fake-tools.ts";
import { joinedCall } from "../testing/scenario.ts";
import { SNAPSHOT_VERSION, snapshotOf, stateOfSnapshot } from "./snapshot.ts";

/** Names of all members down to the third level; those of lists once. */
function shapeOf(value: unknown, path = "", depth = 0): string[] {
  if (typeof value !== "object" || value === null || depth === 3) return [path];
  if (Array.isArray(value)) {
    const [first = null] = value as readonly unknown[];
    return shapeOf(first, `${path}[]`, depth + 1);
  }
  return Object.entries(value).flatMap(([name, part]) => shapeOf(part, `${path}.${name}`, depth + 1));
}

/**
 * Of a call in the middle of an answer with a tool. Where this differs, the state has another shape: raise
 * `SNAPSHOT_VERSION` unless older snapshots can still be read, and write the new digest here.
 */
const SHAPE = { version: 1, digest: "c77e476d13b19d80" };

test("another shape of the state is another version", () => {
  const call = joinedCall({ stage: { tools: [testTool("book")] } });
  call.llm.script = [{ text: "One moment. I shall look that up for you.", calls: [{ name: "book" }] }];
  call
    .run(320)
    .says("Any rooms?", 640)
    .runUntil(({ reply }) => reply?.begun === true && reply.calls.length > 0);
  const names = shapeOf(snapshotOf(call.state).state).toSorted().join("\n");
  const digest = createHash("sha256").update(names).digest("hex").slice(0, 16);
  expect({ version: SNAPSHOT_VERSION, digest }).toEqual(SHAPE);
});

test("a snapshot of another version is not read", () => {
  const { state } = joinedCall();
  const snapshot = { ...snapshotOf(state), version: SNAPSHOT_VERSION + 1 };
  expect(() => stateOfSnapshot(state.plan, snapshot)).toThrow("of version 2, not 1");
});

test("the first stage is that of the plan, and a later one is in the snapshot", () => {
  const { state } = joinedCall();
  expect(snapshotOf(state).state.stage).toBeNull();
  const later = { ...state, stage: { ...state.stage, stageId: "second" } };
  expect(stateOfSnapshot(state.plan, snapshotOf(later)).stage.stageId).toBe("second");
  expect(stateOfSnapshot(state.plan, snapshotOf(state)).stage).toBe(state.plan.stage);
});
