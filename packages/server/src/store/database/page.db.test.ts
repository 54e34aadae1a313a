import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createAgent, deleteAgent, listAgents, type AgentRow } from "../agents/agents.ts";
import type { PagePosition } from "./page.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";

/** Lists walked per database: each costs some forty statements. */
const WALKS = 25;

describeOnBothDatabases("pages", (current) => {
  it("show what stays exactly once and in order, whatever is inserted and deleted meanwhile", async () => {
    const { db } = current();
    const change = fc.oneof(
      fc.record({ insert: fc.constantFrom("a", "b", "c") }),
      fc.record({ deleteAt: fc.nat() }),
    );
    const walk = fc.record({
      names: fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 }),
      changes: fc.array(fc.array(change, { maxLength: 2 }), { maxLength: 8 }),
      limit: fc.integer({ min: 1, max: 4 }),
      backward: fc.boolean(),
      sort: fc.record({
        field: fc.constantFrom("name", "created"),
        descending: fc.boolean(),
      }),
    });
    await fc.assert(
      fc.asyncProperty(walk, async ({ names, changes, limit, backward, sort }) => {
        const accountId = await newAccount(db);
        const create = async (name: string): Promise<string> =>
          (await createAgent(db, accountId, { name, callTemplate: null })).agentId;
        const present = await Promise.all(names.map(create));
        const staying = new Set(present);
        const seen: AgentRow[] = [];
        let position: PagePosition | null = { after: null, direction: backward ? "backward" : "forward" };
        for (let step = 0; position !== null; step += 1) {
          const page = await listAgents(db, accountId, {}, { limit, ...position }, sort);
          seen.push(...(backward ? page.rows.toReversed() : page.rows));
          position = backward ? page.previous : page.next;
          for (const each of changes[step] ?? []) {
            if ("insert" in each) present.push(await create(each.insert));
            else if (present.length > 0) {
              const agentId = present[each.deleteAt % present.length] ?? "";
              staying.delete(agentId);
              await deleteAgent(db, accountId, agentId);
            }
          }
        }
        const ids = seen.map(({ agentId }) => agentId);
        expect(new Set(ids).size).toBe(ids.length);
        for (const agentId of staying) expect(ids).toContain(agentId);
        const keys = seen.map(
          (agent) => `${sort.field === "name" ? agent.name : agent.createdAt} ${agent.agentId}`,
        );
        const ascending = sort.descending === backward;
        expect(keys).toEqual(ascending ? keys.toSorted() : keys.toSorted().toReversed());
      }),
      { numRuns: WALKS },
    );
  });

  it("lead back when everything beyond the position is gone", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const agents: AgentRow[] = [];
    for (const name of ["a", "b", "c"])
      agents.push(await createAgent(db, accountId, { name, callTemplate: null }));
    const sort = { field: "name", descending: false } as const;
    const start = { limit: 2, after: null, direction: "forward" } as const;
    const first = await listAgents(db, accountId, {}, start, sort);
    expect(first).toMatchObject({ total: 3, previous: null, next: { direction: "forward" } });
    await deleteAgent(db, accountId, agents[2]?.agentId ?? "");
    const empty = await listAgents(db, accountId, {}, { limit: 2, ...(first.next ?? start) }, sort);
    expect(empty).toEqual({
      rows: [],
      total: 2,
      totalIsExact: true,
      next: null,
      previous: { after: null, direction: "backward" },
    });
    const back = await listAgents(db, accountId, {}, { limit: 2, ...(empty.previous ?? start) }, sort);
    expect(back.rows.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(back).toMatchObject({ next: null, previous: null });
  });

  it("have neighbours only where there are rows", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    for (const name of ["a", "b", "c", "d"]) await createAgent(db, accountId, { name, callTemplate: null });
    const sort = { field: "name", descending: true } as const;
    const start = { limit: 2, after: null, direction: "forward" } as const;
    const first = await listAgents(db, accountId, {}, start, sort);
    const second = await listAgents(db, accountId, {}, { limit: 2, ...(first.next ?? start) }, sort);
    expect(second.rows.map(({ name }) => name)).toEqual(["b", "a"]);
    expect(second.next).toBeNull();
    const again = await listAgents(db, accountId, {}, { limit: 2, ...(second.previous ?? start) }, sort);
    expect(again).toEqual(first);
  });
});
