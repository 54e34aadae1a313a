import { CompiledQuery, sql } from "kysely";
import { expect, it } from "vitest";
import { createAgent } from "../agents/agents.ts";
import type { CallFilter } from "./call-filter.ts";
import { listCalls, type CallSort } from "./call-list.ts";
import { matchLimits } from "./call-matches.ts";
import { insertCall } from "./calls.ts";
import type { Db } from "../database/db.ts";
import { newCall } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";

const first = { limit: 100, after: null, direction: "forward" } as const;

function replacing<Whole extends object>(whole: Whole, name: keyof Whole, member: unknown): Whole {
  return new Proxy(whole, {
    get(target, key) {
      if (key === name) return member;
      const own: unknown = Reflect.get(target, key, target);
      return typeof own === "function" ? (own.bind(target) as unknown) : own;
    },
  });
}

type PlanKind = "seqscan" | "sort" | "bitmapscan" | "indexscan";

/** Plans of the statements that `work` runs, as on tables too large for these kinds of plan nodes. */
async function plansOf(
  db: Db,
  avoided: readonly PlanKind[],
  work: (db: Db) => Promise<unknown>,
): Promise<string[]> {
  return db.query.transaction().execute(async (tx) => {
    for (const kind of avoided) await sql.raw(`set local enable_${kind} = off`).execute(tx);
    const statements: CompiledQuery[] = [];
    const executor = tx.getExecutor();
    const watched = replacing(executor, "executeQuery", async (statement: CompiledQuery) => {
      statements.push(statement);
      return executor.executeQuery(statement);
    });
    const query = replacing(tx, "getExecutor", () => watched);
    await work({ ...db, query });
    const plans: string[] = [];
    for (const statement of statements) {
      const explained = await tx.executeQuery<{ "QUERY PLAN": string }>(
        CompiledQuery.raw(`explain ${statement.sql}`, [...statement.parameters]),
      );
      plans.push(explained.rows.map((row) => row["QUERY PLAN"]).join("\n"));
    }
    return plans;
  });
}

const inOrder = ["seqscan", "sort", "bitmapscan"] as const;

const SORT_INDEXES = {
  created: "calls_by_creation",
  joined: "calls_by_join",
  ended: "calls_by_end",
  billedDuration: "calls_by_billed_duration",
  endReason: "calls_by_end_reason",
} as const;

describeOnBothDatabases("plans of call lists", (current) => {
  it("read every sort order, first and deep, both ways, out of its index without sorting", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    for (let count = 0; count < 4; count += 1) await insertCall(db, accountId, newCall());
    for (const [field, index] of Object.entries(SORT_INDEXES)) {
      for (const descending of [true, false]) {
        const sort = { field, descending } as CallSort;
        const start = await listCalls(db, accountId, {}, { ...first, limit: 2 }, sort);
        const { after = null } = start.next ?? {};
        expect(after).not.toBeNull();
        for (const place of [null, after]) {
          for (const direction of ["forward", "backward"] as const) {
            const page = { limit: 2, after: place, direction };
            const [rows = "", around = ""] = await plansOf(db, inOrder, (watched) =>
              listCalls(watched, accountId, {}, page, sort),
            );
            expect(rows).toMatch(new RegExp(`Index (?:Only )?Scan (?:Backward )?using ${index} `));
            expect(rows).not.toContain("Sort");
            if (place === null) continue;
            // The position is a bound of the index scan, not a filter over the rows before it.
            expect(rows).toMatch(/Index Cond: .*ROW/);
            expect(rows).not.toContain("Filter");
            expect(around).toContain(index);
            expect(around).toMatch(/Index Cond: .*ROW/);
          }
        }
      }
    }
  });

  it("look up agents, times and an agent's calls by indexes", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const { agentId } = await createAgent(db, accountId, { name: "a", callTemplate: null });
    await insertCall(db, accountId, newCall({ agentId }));
    const [ofAgent = ""] = await plansOf(db, inOrder, (watched) =>
      listCalls(watched, accountId, { agentIds: [agentId] }, first),
    );
    expect(ofAgent).toMatch(/using calls_by_agent /);
    expect(ofAgent).not.toContain("Sort");
    const range = { fromDate: "2026-01-01T00:00:00Z", toDate: "2026-02-01T00:00:00Z" };
    const [ofTime = ""] = await plansOf(db, inOrder, (watched) =>
      listCalls(watched, accountId, range, first),
    );
    expect(ofTime).toMatch(/using calls_by_creation /);
    expect(ofTime).toMatch(/Index Cond: .*created_at >= .*created_at <=/);
  });

  it("find texts by their trigrams, metadata, durations, times of day and ids by indexes", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    // Enough rows for indexes to be faster; durations of 0 to 3 s, a call every half minute.
    await sql`
      insert into calls (id, account_id, node_id, created_at, join_deadline_at, ended_at, end_reason, medium_kind,
        settings, sealed_plan, metadata, search_text, duration_ms)
      select gen_random_uuid(), ${accountId}::uuid, 'test', made_at, made_at, made_at, 'hangup', 'webRtc', '{}', '',
        jsonb_build_object('number', n), md5(n::text), n
      from (
        select n, '2026-01-01T00:00:00Z'::timestamptz + n * interval '30 s' as made_at from generate_series(0, 2999) as n
      ) as made`.execute(db.query);
    await sql`analyze calls`.execute(db.query);
    const limits = { ...matchLimits, windowRows: 1 };
    const found = async (filter: CallFilter): Promise<string> =>
      (
        await plansOf(db, [], (watched) => listCalls(watched, accountId, filter, first, undefined, limits))
      )[1] ?? "";
    const text = await found({ search: "taxi 12345" });
    expect(text).toMatch(/Bitmap Index Scan on calls_by_text[^]*Index Cond: \(search_text ~~ /);
    expect(text).toMatch(/(?:calls_active|calls_unfinished)/);
    expect(text).toMatch(/Index Cond: \(agent_id = agents\w*\.id\)/);
    expect(text).not.toContain("Seq Scan on calls");
    expect(await found({ search: "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11" })).toMatch(
      /calls_pkey[^]*Index Cond: \(id = '6f0c/,
    );
    expect(await found({ metadata: { a: "b" } })).toContain("Bitmap Index Scan on calls_by_metadata");
    expect(await found({ durationMaxMs: 0 })).toContain("calls_by_duration");
    expect(await found({ timeOfDayStart: "10:00:00", timeOfDayEnd: "10:01:00" })).toContain(
      "calls_by_time_of_day",
    );
  });
});
