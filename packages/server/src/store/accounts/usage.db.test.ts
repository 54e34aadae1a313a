import type { EndReason } from "@parley/schema";
import { beforeAll, expect, it } from "vitest";
import { createAgent, deleteAgent } from "../agents/agents.ts";
import type { CallFilter } from "../calls/call-filter.ts";
import { insertCall, markJoined, removeUnstartedCall } from "../calls/calls.ts";
import { deleteCall } from "../calls/deleted-calls.ts";
import { markEnded, newCall } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";
import { readAgentUsage, readBilledDays, readCallUsage } from "./usage.ts";

interface Given {
  readonly created: string;
  /** Undefined: the call was not joined. */
  readonly joinedMs?: number;
  /** Undefined: the call is running. */
  readonly endReason?: EndReason;
  readonly agent?: 0 | 1;
  readonly isDeleted?: boolean;
}

const given: readonly Given[] = [
  { created: "2026-01-01T00:00:00.000Z", joinedMs: 5_000, endReason: "hangup", agent: 0 },
  { created: "2026-01-01T00:59:59.999Z", joinedMs: 60_000, endReason: "system_error", agent: 1 },
  { created: "2026-01-01T23:59:59.999Z", joinedMs: 6_001, endReason: "timeout", agent: 0, isDeleted: true },
  { created: "2026-01-02T12:30:00.000Z", endReason: "unjoined" },
  { created: "2026-01-02T12:31:00.000Z", joinedMs: 1_000, agent: 1 },
  { created: "2026-01-02T12:32:00.000Z" },
  { created: "2026-01-03T07:00:00.000Z", joinedMs: 120_000, endReason: "connection_error", isDeleted: true },
];

const limits = { days: 100, hours: 100 };

describeOnBothDatabases("usage", (current) => {
  let accountId = "";
  let agentIds: readonly [string, string] = ["", ""];

  beforeAll(async () => {
    const { db } = current();
    accountId = await newAccount(db);
    const baker = await createAgent(db, accountId, { name: "baker", callTemplate: null });
    const abbot = await createAgent(db, accountId, { name: "Abbot", callTemplate: null });
    agentIds = [baker.agentId, abbot.agentId];
    for (const { created, joinedMs, endReason, agent, isDeleted } of given) {
      const createdAtMs = Date.parse(created);
      const agentId = agent === undefined ? null : agentIds[agent];
      const call = newCall({ createdAtMs, agentId, metadata: { day: created.slice(0, 10) } });
      await insertCall(db, accountId, call);
      const joinedAtMs = createdAtMs + 1_000;
      if (joinedMs !== undefined) {
        await markJoined(db, accountId, call.callId, { joinedAtMs, clientVersion: null });
      }
      if (endReason !== undefined) {
        const endedAtMs = joinedAtMs + (joinedMs ?? 0);
        await markEnded(db, accountId, call.callId, { endReason, endedAtMs });
      }
      if (isDeleted === true) await deleteCall(db, accountId, call.callId);
    }
    const removed = newCall();
    await insertCall(db, accountId, removed);
    await removeUnstartedCall(db, accountId, removed.callId);
    await deleteAgent(db, accountId, abbot.agentId);
  });

  it("is listed by hour and day of creation, deleted and running calls included", async () => {
    const { all, days, hours } = await readCallUsage(current().db, accountId, {}, limits);
    expect(all).toEqual({ calls: 7, joined: 5, errors: 2, durationMs: 191_001, billedMs: 138_000 });
    const first = { calls: 2, joined: 2, errors: 1, durationMs: 65_000, billedMs: 6_000 };
    const last = { calls: 1, joined: 1, errors: 1, durationMs: 120_000, billedMs: 120_000 };
    expect(days).toEqual([
      {
        at: "2026-01-01T00:00:00.000Z",
        calls: 3,
        joined: 3,
        errors: 1,
        durationMs: 71_001,
        billedMs: 18_000,
      },
      {
        at: "2026-01-02T00:00:00.000Z",
        calls: 3,
        joined: 1,
        errors: 0,
        durationMs: 0,
        billedMs: 0,
      },
      { at: "2026-01-03T00:00:00.000Z", ...last },
    ]);
    expect(hours.map(({ at, calls }) => [at, calls])).toEqual([
      ["2026-01-01T00:00:00.000Z", 2],
      ["2026-01-01T23:00:00.000Z", 1],
      ["2026-01-02T12:00:00.000Z", 3],
      ["2026-01-03T07:00:00.000Z", 1],
    ]);
    expect(hours[0]).toMatchObject(first);
  });

  it("cuts long lists at the old end, and not the sum", async () => {
    const cut = await readCallUsage(current().db, accountId, {}, { days: 1, hours: 2 });
    expect(cut.days.map(({ at }) => at)).toEqual(["2026-01-03T00:00:00.000Z"]);
    expect(cut.hours.map(({ at }) => at)).toEqual(["2026-01-02T12:00:00.000Z", "2026-01-03T07:00:00.000Z"]);
    expect(cut.all.calls).toBe(7);
  });

  // Whole hours and a count of every call must give the same figures: a filter that matches all calls forces the count.
  const filters: readonly [string, CallFilter, number][] = [
    ["nothing", {}, 7],
    ["the first day", { toDate: "2026-01-01T23:59:59.999Z" }, 3],
    ["one hour", { fromDate: "2026-01-02T12:00:00.000Z", toDate: "2026-01-02T12:59:59.999Z" }, 3],
    ["a time to come", { fromDate: "2030-01-01T00:00:00.000Z" }, 0],
  ];

  it.each(filters)("is the same counted by the hour and by the call: %s", async (_, filter, calls) => {
    const { db } = current();
    const byHour = await readCallUsage(db, accountId, filter, limits);
    const byCall = await readCallUsage(db, accountId, { ...filter, durationMinMs: 0 }, limits);
    expect(byHour).toEqual(byCall);
    expect(byHour.all.calls).toBe(calls);
    const ofAgents = { ...filter, agentIds };
    expect(await readCallUsage(db, accountId, ofAgents, limits)).toEqual(
      await readCallUsage(db, accountId, { ...ofAgents, durationMinMs: 0 }, limits),
    );
    expect(await readAgentUsage(db, accountId, filter, 100)).toEqual(
      await readAgentUsage(db, accountId, { ...filter, durationMinMs: 0 }, 100),
    );
  });

  it("counts by every filter of call lists", async () => {
    const count = async (filter: CallFilter): Promise<number> =>
      (await readCallUsage(current().db, accountId, filter, limits)).all.calls;
    expect(await count({ agentIds: [agentIds[0]] })).toBe(2);
    expect(await count({ fromDate: "2026-01-01T00:00:00.001Z" })).toBe(6);
    expect(await count({ toDate: "2026-01-02T12:30:59.999Z" })).toBe(4);
    expect(await count({ durationMinMs: 60_000, durationMaxMs: 120_000 })).toBe(2);
    expect(await count({ timeOfDayStart: "12:31:00", timeOfDayEnd: "12:31:59" })).toBe(1);
    // Erased text is not found.
    expect(await count({ metadata: { day: "2026-01-01" } })).toBe(2);
    expect(await count({ metadata: { day: "2026-01-03" } })).toBe(0);
    expect(await count({ metadata: { day: "2026-01-02" } })).toBe(3);
    expect(await count({ voiceId: agentIds[0] })).toBe(0);
    expect(await count({ search: "baker" })).toBe(1);
    expect(await count({ search: "nothing like it" })).toBe(0);
  });

  it("is listed by agent, deleted ones by their last name", async () => {
    const rows = await readAgentUsage(current().db, accountId, {}, 100);
    expect(rows).toEqual([
      {
        agentId: agentIds[1],
        agentName: "Abbot",
        at: "2026-01-01T00:00:00.000Z",
        calls: 1,
        billedMs: 0,
      },
      {
        agentId: agentIds[1],
        agentName: "Abbot",
        at: "2026-01-02T00:00:00.000Z",
        calls: 1,
        billedMs: 0,
      },
      {
        agentId: agentIds[0],
        agentName: "baker",
        at: "2026-01-01T00:00:00.000Z",
        calls: 2,
        billedMs: 18_000,
      },
    ]);
    const newest = await readAgentUsage(current().db, accountId, {}, 1);
    expect(newest.map(({ at }) => at)).toEqual(["2026-01-02T00:00:00.000Z"]);
  });

  it("tells billed days", async () => {
    const { db } = current();
    expect(await readBilledDays(db, accountId, {}, 100)).toEqual([
      { at: "2026-01-01T00:00:00.000Z", billedMs: 18_000, sipBilledMs: 0 },
      { at: "2026-01-02T00:00:00.000Z", billedMs: 0, sipBilledMs: 0 },
      { at: "2026-01-03T00:00:00.000Z", billedMs: 120_000, sipBilledMs: 0 },
    ]);
    const until = { toDate: "2026-01-01T23:59:59.999Z" };
    expect((await readBilledDays(db, accountId, until, 100)).map(({ billedMs }) => billedMs)).toEqual([
      18_000,
    ]);
    expect((await readBilledDays(db, accountId, {}, 1)).map(({ billedMs }) => billedMs)).toEqual([120_000]);
  });

  it("is of one account", async () => {
    const { db } = current();
    const stranger = await newAccount(db);
    const nothing = { calls: 0, joined: 0, errors: 0, durationMs: 0, billedMs: 0 };
    for (const filter of [{}, { durationMinMs: 0 }, { agentIds }]) {
      const usage = await readCallUsage(db, stranger, filter, limits);
      expect(usage).toMatchObject({ all: nothing, days: [], hours: [] });
      expect(await readAgentUsage(db, stranger, filter, 100)).toEqual([]);
    }
    expect(await readBilledDays(db, stranger, {}, 100)).toEqual([]);
  });

  it("counts calls that end at the same time", async () => {
    const { db } = current();
    const busy = await newAccount(db);
    const createdAtMs = Date.parse("2026-02-02T02:00:00.000Z");
    const calls = Array.from({ length: 40 }, () => newCall({ createdAtMs }));
    await Promise.all(
      calls.map(async (call) => {
        await insertCall(db, busy, call);
        await markJoined(db, busy, call.callId, { joinedAtMs: createdAtMs, clientVersion: null });
        const end = { endReason: "hangup", endedAtMs: createdAtMs + 6_000 } as const;
        await Promise.all([markEnded(db, busy, call.callId, end), markEnded(db, busy, call.callId, end)]);
      }),
    );
    const { all } = await readCallUsage(db, busy, {}, limits);
    expect(all).toMatchObject({ calls: 40, durationMs: 240_000, billedMs: 240_000 });
  });
});
