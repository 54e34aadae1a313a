import { randomUUID } from "node:crypto";
import type { EndReason } from "@parley/schema";
import { expect, it } from "vitest";
import { createAgent } from "../agents/agents.ts";
import { appendCallEvent } from "./call-events.ts";
import type { CallFilter } from "./call-filter.ts";
import { listCalls, type CallSort } from "./call-list.ts";
import { insertCall, markJoined } from "./calls.ts";
import type { Db } from "../database/db.ts";
import { markEnded, newCall } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";

const all = { limit: 100, after: null, direction: "forward" } as const;

interface Given {
  readonly name: string;
  readonly created: string;
  readonly joinedMs?: number;
  readonly endReason?: EndReason;
  readonly metadata?: Record<string, string>;
  readonly agentId?: string;
}

async function insertCalls(db: Db, accountId: string, given: readonly Given[]): Promise<void> {
  for (const { name, created, joinedMs, endReason, metadata, agentId } of given) {
    const createdAtMs = Date.parse(created);
    const call = newCall({ createdAtMs, metadata: { name, ...metadata }, agentId: agentId ?? null });
    await insertCall(db, accountId, call);
    const joinedAtMs = createdAtMs + 1_000;
    if (joinedMs !== undefined) {
      await markJoined(db, accountId, call.callId, { joinedAtMs, clientVersion: null });
    }
    if (endReason !== undefined) {
      const endedAtMs = joinedAtMs + (joinedMs ?? 0);
      await markEnded(db, accountId, call.callId, { endReason, endedAtMs });
    }
  }
}

describeOnBothDatabases("lists of calls", (current) => {
  async function prepared(): Promise<{
    readonly accountId: string;
    readonly agentIds: readonly string[];
    readonly names: (filter: CallFilter, sort?: CallSort) => Promise<string[]>;
  }> {
    const { db } = current();
    const accountId = await newAccount(db);
    const agents = [
      await createAgent(db, accountId, { name: "Bäcker", callTemplate: null }),
      await createAgent(db, accountId, { name: "Metzger", callTemplate: null }),
    ];
    const [baker = "", butcher = ""] = agents.map((agent) => agent.agentId);
    await insertCalls(db, accountId, [
      {
        name: "a",
        created: "2026-01-01T00:00:00.000Z",
        joinedMs: 5_000,
        endReason: "hangup",
        agentId: baker,
      },
      { name: "b", created: "2026-01-01T23:59:59.999Z", joinedMs: 60_000, endReason: "timeout" },
      { name: "c", created: "2026-01-02T12:00:00.500Z", endReason: "unjoined", agentId: butcher },
      { name: "d", created: "2026-01-03T06:30:00.000Z", joinedMs: 0 },
      { name: "e", created: "2026-01-04T22:15:00.000Z", metadata: { order: "Straße 50%_x" } },
    ]);
    const names = async (filter: CallFilter, sort?: CallSort): Promise<string[]> => {
      const page = await listCalls(db, accountId, filter, all, sort);
      expect(page.total).toBe(page.rows.length);
      return page.rows.map((row) => row.metadata["name"] ?? "");
    };
    return { accountId, agentIds: [baker, butcher], names };
  }

  it("lists newest first", async () => {
    const { names } = await prepared();
    expect(await names({})).toEqual(["e", "d", "c", "b", "a"]);
  });

  it("filters by agents", async () => {
    const { names, agentIds } = await prepared();
    expect(await names({ agentIds: [agentIds[0] ?? ""] })).toEqual(["a"]);
    expect(await names({ agentIds })).toEqual(["c", "a"]);
    expect(await names({ agentIds: [] })).toEqual([]);
  });

  it("filters by joined time, inclusive, a running call by its time until now", async () => {
    const { names } = await prepared();
    expect(await names({ durationMinMs: 5_000, durationMaxMs: 60_000 })).toEqual(["b", "a"]);
    expect(await names({ durationMinMs: 5_001 })).toEqual(["d", "b"]);
    expect(await names({ durationMaxMs: 0 })).toEqual(["e", "c"]);
  });

  it("filters by creation, inclusive, whatever the offset", async () => {
    const { names } = await prepared();
    expect(await names({ fromDate: "2026-01-01T23:59:59.999Z", toDate: "2026-01-02T12:00:00.500Z" })).toEqual(
      ["c", "b"],
    );
    expect(await names({ toDate: "2026-01-01T02:00:00+02:00" })).toEqual(["a"]);
  });

  it("filters by time of day, inclusive to the second, also across midnight", async () => {
    const { names } = await prepared();
    expect(await names({ timeOfDayStart: "06:30:00", timeOfDayEnd: "12:00:00" })).toEqual(["d", "c"]);
    expect(await names({ timeOfDayStart: "22:15:00" })).toEqual(["e", "b"]);
    expect(await names({ timeOfDayEnd: "00:00:00" })).toEqual(["a"]);
    expect(await names({ timeOfDayStart: "22:15:00", timeOfDayEnd: "00:00:00" })).toEqual(["e", "b", "a"]);
  });

  it("filters by metadata, all of it", async () => {
    const { names } = await prepared();
    expect(await names({ metadata: { name: "e" } })).toEqual(["e"]);
    expect(await names({ metadata: { name: "e", order: "Straße 50%_x" } })).toEqual(["e"]);
    expect(await names({ metadata: { name: "a", order: "Straße 50%_x" } })).toEqual([]);
    expect(await names({ metadata: { nothing: "x\u0000" } })).toEqual([]);
  });

  it("filters by status, end reason and errors", async () => {
    const { db } = current();
    const { accountId, agentIds, names } = await prepared();
    expect(await names({ status: "waiting" })).toEqual(["e"]);
    expect(await names({ status: "running" })).toEqual(["d"]);
    expect(await names({ status: "ended" })).toEqual(["c", "b", "a"]);
    expect(await names({ endReason: "hangup" })).toEqual(["a"]);
    expect(await names({ endReason: "hangup", status: "running" })).toEqual([]);
    expect(await names({ endReason: "unjoined", agentIds })).toEqual(["c"]);
    expect(await names({ endReason: "unjoined", toDate: "2026-01-01T00:00:00Z" })).toEqual([]);
    expect(await names({ hasErrors: true })).toEqual([]);
    const [, d] = (await listCalls(db, accountId, {}, all)).rows;
    const fault = {
      stageId: d?.callId ?? "",
      callTimestampMs: 0,
      wallClockTimestampMs: null,
      type: "llm.failed",
      text: "",
      extras: null,
    };
    const key = randomUUID();
    const once = { ...fault, severity: "warning" } as const;
    expect(await appendCallEvent(db, accountId, d?.callId ?? "", once, key)).toBe(true);
    expect(await appendCallEvent(db, accountId, d?.callId ?? "", once, key)).toBe(false);
    expect(await names({ hasErrors: true })).toEqual(["d"]);
    expect(await names({ hasErrors: true, status: "ended" })).toEqual([]);
    expect(await names({ hasErrors: false }, { field: "ended", descending: false })).toEqual([
      "a",
      "b",
      "c",
      "e",
    ]);
  });

  it("searches agents' names, metadata values and whole ids", async () => {
    const { db } = current();
    const { accountId, names } = await prepared();
    expect(await names({ search: "BÄCK" })).toEqual(["a"]);
    expect(await names({ search: "STRASSE" })).toEqual([]);
    expect(await names({ search: "strAße 50%" })).toEqual(["e"]);
    expect(await names({ search: "0%_y" })).toEqual([]);
    const [first] = (await listCalls(db, accountId, {}, all)).rows;
    expect(await names({ search: first?.callId.toUpperCase() })).toEqual(["e"]);
    expect(await names({ search: first?.callId.slice(0, 30) })).toEqual([]);
  });

  it("combines filters", async () => {
    const { names } = await prepared();
    expect(await names({ fromDate: "2026-01-01T12:00:00Z", durationMinMs: 1, search: "b" })).toEqual(["b"]);
  });

  it.each([
    ["created", ["a", "b", "c", "d", "e"]],
    ["joined", ["a", "b", "d", "e|c"]],
    ["ended", ["a", "b", "c", "d|e"]],
    ["billedDuration", ["c|d|e", "a", "b"]],
    ["endReason", ["d|e", "a", "b", "c"]],
  ] as const)("sorts by %s both ways", async (field, groups) => {
    const { names } = await prepared();
    for (const descending of [false, true]) {
      const sorted = await names({}, { field, descending });
      const ordered = descending ? groups.toReversed() : groups;
      let offset = 0;
      for (const group of ordered) {
        const members = group.split("|").sort();
        expect(sorted.slice(offset, offset + members.length).sort()).toEqual(members);
        offset += members.length;
      }
    }
  });

  it("pages by every sort field, forwards and backwards, each call once", async () => {
    const { db } = current();
    const { accountId } = await prepared();
    for (const field of ["created", "joined", "ended", "billedDuration", "endReason"] as const) {
      for (const descending of [false, true]) {
        const sort = { field, descending };
        const whole = (await listCalls(db, accountId, {}, all, sort)).rows.map((row) => row.callId);
        const forwards: string[] = [];
        let page = await listCalls(db, accountId, {}, { limit: 2, after: null, direction: "forward" }, sort);
        expect(page.previous).toBeNull();
        forwards.push(...page.rows.map((row) => row.callId));
        while (page.next !== null) {
          page = await listCalls(db, accountId, {}, { limit: 2, ...page.next }, sort);
          forwards.push(...page.rows.map((row) => row.callId));
        }
        expect(forwards).toEqual(whole);
        const backwards = page.rows.map((row) => row.callId);
        while (page.previous !== null) {
          page = await listCalls(db, accountId, {}, { limit: 2, ...page.previous }, sort);
          backwards.unshift(...page.rows.map((row) => row.callId));
        }
        expect(backwards).toEqual(whole);
      }
    }
  });

  it("isolates accounts, also with the agent of another", async () => {
    const { db } = current();
    const { agentIds } = await prepared();
    const stranger = await newAccount(db);
    expect((await listCalls(db, stranger, {}, all)).total).toBe(0);
    expect((await listCalls(db, stranger, { agentIds }, all)).total).toBe(0);
  });
});
