import type { EndReason } from "@parley/schema";
import * as fc from "fast-check";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { createAgent, deleteAgent, updateAgent } from "../agents/agents.ts";
import type { CallFilter } from "./call-filter.ts";
import { listCalls, type CallSort } from "./call-list.ts";
import { matchLimits, type MatchLimits } from "./call-matches.ts";
import { setCallSummaries } from "./call-summaries.ts";
import { insertCall, markJoined, removeUnstartedCall, type CallRow } from "./calls.ts";
import { removeAccount } from "../accounts/accounts.ts";
import type { Db } from "../database/db.ts";
import type { PagePosition, PageRows } from "../database/page.ts";
import { markEnded, newCall } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";

/** Lists walked per database: each costs some fifty statements. */
const WALKS = 100;

const first = { limit: 100, after: null, direction: "forward" } as const;

/** Limits so small that lists of ten calls use every strategy that lists of a million calls use. */
const smallLimits: MatchLimits = {
  windowRows: 3,
  unindexedWindowRows: 3,
  unindexedWindows: 2,
  countedMatches: 4,
  countingRows: 6,
};

interface ModelCall {
  readonly callId: string;
  readonly createdAtMs: number;
  readonly agent: number | null;
  readonly joinedAtMs: number | null;
  readonly endReason: EndReason | null;
  readonly durationMs: number;
  readonly billedMs: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly summary: string | null;
  readonly hasErrors: boolean;
}

const DAY_MS = 86_400_000;
const START_MS = Date.parse("2026-03-01T00:00:00Z");
const AGENT_NAMES = ["Ärztehaus", "Hotel Lux"];

const aCall = fc.record({
  day: fc.integer({ min: 0, max: 3 }),
  hour: fc.integer({ min: 0, max: 3 }),
  agent: fc.constantFrom(null, 0, 1),
  ending: fc.constantFrom("going on", "unjoined", "hangup", "timeout"),
  durationMs: fc.constantFrom(1_000, 6_000, 9_000),
  color: fc.constantFrom("red", "green", "Lux"),
  summary: fc.constantFrom(null, "Asked for a taxi.", "Ünlü 7 LUX"),
  hasErrors: fc.boolean(),
});
type GivenCall = typeof aCall extends fc.Arbitrary<infer Given> ? Given : never;

const someFilter = fc.record({
  agentIds: fc.subarray([0, 1], { minLength: 1 }),
  durationMinMs: fc.constantFrom(1, 6_000),
  durationMaxMs: fc.constantFrom(0, 6_000),
  fromDate: fc.constantFrom("2026-03-01T02:00:00Z", "2026-03-02T00:00:00Z"),
  toDate: fc.constantFrom("2026-03-03T01:00:00Z"),
  timeOfDay: fc.constantFrom(["01:00:00", "02:00:00"] as const, ["03:00:00", "00:00:00"] as const),
  color: fc.constantFrom("red", "green"),
  search: fc.constantFrom("lux", "taxi", "ünlü", "haus", "a", "7", "zebra"),
  endReason: fc.constantFrom("unjoined", "hangup"),
  status: fc.constantFrom("waiting", "running", "ended"),
  hasErrors: fc.boolean(),
});
type WholeFilter = typeof someFilter extends fc.Arbitrary<infer Given> ? Given : never;
const filterNames: (keyof WholeFilter)[] = [
  "search",
  "agentIds",
  "durationMinMs",
  "durationMaxMs",
  "fromDate",
  "toDate",
  "timeOfDay",
  "color",
  "endReason",
  "status",
  "hasErrors",
];

/** Few filters at a time, or nothing would match. */
const aFilter = fc
  .tuple(someFilter, fc.boolean(), fc.subarray(filterNames, { maxLength: 2 }))
  .map(([whole, isSearch, names]): Partial<WholeFilter> => {
    const kept: readonly string[] = isSearch ? [...names.slice(0, 1), "search"] : names;
    return Object.fromEntries(Object.entries(whole).filter(([name]) => kept.includes(name)));
  });
type GivenFilter = Partial<WholeFilter>;

async function insertModelCall(
  db: Db,
  accountId: string,
  agentIds: readonly string[],
  given: GivenCall,
): Promise<ModelCall> {
  const createdAtMs = START_MS + given.day * DAY_MS + given.hour * 3_600_000;
  const isJoined = given.ending === "hangup" || given.ending === "timeout";
  const metadata = { color: given.color };
  const agentId = given.agent === null ? null : (agentIds[given.agent] ?? null);
  const call = newCall({ createdAtMs, agentId, metadata });
  await insertCall(db, accountId, call);
  const { callId } = call;
  const joinedAtMs = isJoined ? createdAtMs + 1_000 : null;
  const durationMs = isJoined ? given.durationMs : 0;
  if (joinedAtMs !== null) await markJoined(db, accountId, callId, { joinedAtMs, clientVersion: null });
  const endReason = given.ending === "going on" ? null : given.ending;
  if (endReason !== null) {
    const endedAtMs = (joinedAtMs ?? createdAtMs) + durationMs;
    await markEnded(db, accountId, callId, { endReason, endedAtMs });
  }
  if (given.summary !== null) {
    await setCallSummaries(db, accountId, callId, { shortSummary: null, summary: given.summary });
  }
  if (given.hasErrors) await sql`update calls set has_errors = true where id = ${callId}`.execute(db.query);
  return {
    callId,
    createdAtMs,
    agent: given.agent,
    joinedAtMs,
    endReason,
    durationMs,
    billedMs: endReason === null ? 0 : Math.ceil(durationMs / 6_000) * 6_000,
    metadata,
    summary: given.summary,
    hasErrors: given.hasErrors,
  };
}

function matches(call: ModelCall, filter: GivenFilter): boolean {
  const { agentIds, durationMinMs, durationMaxMs, fromDate, toDate, timeOfDay, color, search } = filter;
  const { endReason, status, hasErrors } = filter;
  const time = new Date(call.createdAtMs).toISOString().slice(11, 19);
  const texts = [...Object.values(call.metadata), call.summary ?? "", AGENT_NAMES[call.agent ?? -1] ?? ""];
  return (
    (agentIds === undefined || (call.agent !== null && agentIds.includes(call.agent))) &&
    call.durationMs >= (durationMinMs ?? 0) &&
    call.durationMs <= (durationMaxMs ?? Infinity) &&
    call.createdAtMs >= (fromDate === undefined ? 0 : Date.parse(fromDate)) &&
    call.createdAtMs <= (toDate === undefined ? Infinity : Date.parse(toDate)) &&
    (timeOfDay === undefined ||
      (timeOfDay[0] <= timeOfDay[1]
        ? time >= timeOfDay[0] && time <= timeOfDay[1]
        : time >= timeOfDay[0] || time <= timeOfDay[1])) &&
    (color === undefined || call.metadata["color"] === color) &&
    (endReason === undefined || call.endReason === endReason) &&
    (status === undefined || (call.endReason === null ? "waiting" : "ended") === status) &&
    (hasErrors === undefined || call.hasErrors === hasErrors) &&
    (search === undefined || texts.some((text) => text.toLowerCase().includes(search)))
  );
}

function sortKey(call: ModelCall, field: CallSort["field"]): string {
  const number = (value: number | null): string => String(value ?? 9e15).padStart(16, "0");
  const value = {
    created: number(call.createdAtMs),
    joined: number(call.joinedAtMs),
    ended: number(call.endReason === null ? null : (call.joinedAtMs ?? call.createdAtMs) + call.durationMs),
    billedDuration: number(call.billedMs),
    endReason: (call.endReason ?? "").padEnd(16),
  }[field];
  return `${value} ${call.callId}`;
}

const aWalk = fc.record({
  calls: fc.array(aCall, { maxLength: 14 }),
  changes: fc.array(fc.array(fc.oneof(aCall, fc.nat()), { maxLength: 2 }), { maxLength: 10 }),
  limit: fc.integer({ min: 1, max: 4 }),
  backward: fc.boolean(),
  sort: fc.record({
    field: fc.constantFrom("created", "joined", "ended", "billedDuration", "endReason"),
    descending: fc.boolean(),
  }),
  filter: aFilter,
});

describeOnBothDatabases("pages of calls", (current) => {
  it("show what stays exactly once and in order, with every filter and sort, whatever changes meanwhile", async () => {
    const { db } = current();
    await fc.assert(
      fc.asyncProperty(aWalk, async ({ calls, changes, limit, backward, sort, filter }) => {
        const accountId = await newAccount(db);
        const agents: string[] = [];
        for (const name of AGENT_NAMES) {
          agents.push((await createAgent(db, accountId, { name, callTemplate: null })).agentId);
        }
        const present: ModelCall[] = [];
        for (const given of calls) present.push(await insertModelCall(db, accountId, agents, given));
        const staying = new Set(present);
        const everInserted = [...present];
        const seen: string[] = [];
        const requested = filterOf(filter, agents);
        const read = async (place: PagePosition): Promise<PageRows<CallRow>> =>
          listCalls(db, accountId, requested, { limit, ...place }, sort, smallLimits);
        const start: PagePosition = { after: null, direction: backward ? "backward" : "forward" };
        let position: PagePosition | null = start;
        for (let step = 0; position !== null; step += 1) {
          const page = await read(position);
          const matching = present.filter((call) => matches(call, filter)).length;
          expect([matching, page.total >= 0]).toEqual(
            page.totalIsExact ? [page.total, true] : [Math.max(matching, page.total), true],
          );
          expect(page.totalIsExact || !isKnown(filter)).toBe(true);
          const ids = page.rows.map((row) => row.callId);
          seen.push(...(backward ? ids.toReversed() : ids));
          position = backward ? page.previous : page.next;
          for (const change of changes[step] ?? []) {
            if (typeof change === "number") {
              const [gone] = present.splice(change % Math.max(1, present.length), 1);
              if (gone === undefined) continue;
              staying.delete(gone);
              await sql`delete from calls where id = ${gone.callId}`.execute(db.query);
            } else {
              const inserted = await insertModelCall(db, accountId, agents, change);
              present.push(inserted);
              everInserted.push(inserted);
            }
          }
        }
        expect(new Set(seen).size).toBe(seen.length);
        const expected = [...staying].filter((call) => matches(call, filter)).map((call) => call.callId);
        expect(expected.filter((callId) => !seen.includes(callId))).toEqual([]);
        const shown = seen.flatMap((id) => everInserted.find(({ callId }) => callId === id) ?? []);
        expect(shown.filter((call) => !matches(call, filter))).toEqual([]);
        const inOrder = (calls: readonly ModelCall[]): string[] => {
          const keys = calls.map((call) => sortKey(call, sort.field)).toSorted();
          return sort.descending === backward ? keys : keys.toReversed();
        };
        expect(shown.map((call) => sortKey(call, sort.field))).toEqual(inOrder(shown));

        // Forward and back again, without changes in between.
        const left = inOrder(present.filter((call) => matches(call, filter))).map((key) =>
          key.split(" ").at(-1),
        );
        const idsOf = ({ rows }: PageRows<CallRow>): string[] => {
          const ids = rows.map((row) => row.callId);
          return backward ? ids.toReversed() : ids;
        };
        const aheadOf = (page: PageRows<CallRow>): PagePosition | null =>
          backward ? page.previous : page.next;
        const behindOf = (page: PageRows<CallRow>): PagePosition | null =>
          backward ? page.next : page.previous;
        let page = await read(start);
        expect(backward ? page.next : page.previous).toBeNull();
        const there = idsOf(page);
        for (let ahead = aheadOf(page); ahead !== null; ahead = aheadOf(page)) {
          page = await read(ahead);
          there.push(...idsOf(page));
        }
        expect(there).toEqual(left);
        const back = idsOf(page);
        for (let behind = behindOf(page); behind !== null; behind = behindOf(page)) {
          page = await read(behind);
          back.unshift(...idsOf(page));
        }
        expect(back).toEqual(left);
      }),
      { numRuns: WALKS },
    );
  });

  it("find a call by its agent's present or last name, its summaries and its id, whether it continues or not", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const { agentId } = await createAgent(db, accountId, { name: "Früher", callTemplate: null });
    const ended = newCall({ agentId });
    const goesOn = newCall({ agentId, metadata: { key: "Wert" } });
    for (const call of [ended, goesOn]) await insertCall(db, accountId, call);
    const end = { endReason: "unjoined", endedAtMs: Date.now() } as const;
    await markEnded(db, accountId, ended.callId, end);
    const found = async (search: string): Promise<string[]> => {
      const all = await listCalls(db, accountId, { search }, first);
      // The same with indexes alone.
      const limits = { ...matchLimits, windowRows: 1, unindexedWindowRows: 1 };
      // A bounded scan without an index does not find all matches at once.
      const other =
        search.length < 3 ? all : await listCalls(db, accountId, { search }, first, undefined, limits);
      expect(other).toEqual(all);
      return all.rows.map((row) => row.callId).sort();
    };
    const both = [ended.callId, goesOn.callId].sort();
    expect(await found("FRÜH")).toEqual(both);
    await updateAgent(db, accountId, agentId, { name: "Später" });
    expect(await found("früher")).toEqual([]);
    expect(await found("spät")).toEqual(both);
    await deleteAgent(db, accountId, agentId);
    expect(await found("spät")).toEqual(both);
    expect(await found("wert")).toEqual([goesOn.callId]);
    expect(await found("we")).toEqual([goesOn.callId]);
    const summaries = { shortSummary: "Kurz und gut", summary: "Lang erzählt" };
    expect(await setCallSummaries(db, accountId, ended.callId, summaries)).toBe(true);
    expect(await found("GUT")).toEqual([ended.callId]);
    expect(await found("erzählt")).toEqual([ended.callId]);
    expect(await found("gutlang")).toEqual([]);
    expect(await found(ended.callId.toUpperCase())).toEqual([ended.callId]);
    expect(await setCallSummaries(db, await newAccount(db), ended.callId, summaries)).toBe(false);
  });

  it("of a search that no index serves are filled by several scans, up to their limit", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const calls = Array.from({ length: 9 }, (_, index) =>
      newCall({ createdAtMs: START_MS - index * 1_000, metadata: { key: index % 4 === 3 ? "q7" : "none" } }),
    );
    for (const call of calls) await insertCall(db, accountId, call);
    const wanted = [calls[3]?.callId, calls[7]?.callId];
    const read = async (unindexedWindows: number, limit: number): Promise<PageRows<CallRow>> => {
      const limits = { ...matchLimits, unindexedWindowRows: 2, unindexedWindows };
      return listCalls(db, accountId, { search: "7" }, { ...first, limit }, undefined, limits);
    };
    const idsOf = ({ rows }: PageRows<CallRow>): string[] => rows.map(({ callId }) => callId);
    const whole = await read(5, 2);
    expect([idsOf(whole), whole.total, whole.totalIsExact, whole.next]).toEqual([wanted, 2, true, null]);
    const part = await read(2, 2);
    expect(idsOf(part)).toEqual(wanted.slice(0, 1));
    expect(part.next).not.toBeNull();
    // It does not scan on when the page is full.
    const one = await read(5, 1);
    expect([idsOf(one), one.next === null]).toEqual([wanted.slice(0, 1), false]);
  });

  it("count an account's calls right while they are created, removed and deleted at the same time", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const other = await newAccount(db);
    const calls = Array.from({ length: 60 }, () => newCall());
    await Promise.all(
      calls.map(async (call, index) => {
        await insertCall(db, index % 2 === 0 ? accountId : other, call);
        if (index % 3 === 0) await removeUnstartedCall(db, index % 2 === 0 ? accountId : other, call.callId);
      }),
    );
    const totals = async (): Promise<number[]> => [
      (await listCalls(db, accountId, {}, { ...first, limit: 1 })).total,
      (await listCalls(db, other, {}, { ...first, limit: 1 })).total,
    ];
    expect(await totals()).toEqual([20, 20]);
    await sql`delete from calls where account_id = ${accountId} and id = any(${calls
      .slice(0, 30)
      .map(({ callId }) => callId)}::uuid[])`.execute(db.query);
    expect(await totals()).toEqual([10, 20]);
    await expect(
      db.query.transaction().execute(async (tx) => {
        await insertCall({ ...db, query: tx }, accountId, newCall());
        throw new Error("change of mind");
      }),
    ).rejects.toThrow("change of mind");
    expect(await totals()).toEqual([10, 20]);
    await sql`update calls set ended_at = now(), end_reason = 'hangup' where account_id = ${other}`.execute(
      db.query,
    );
    expect(await removeAccount(db, other)).toBe(true);
    for (const table of ["call_counts", "call_counts_of_agents", "call_counts_of_hours"]) {
      const left = await sql`select 1 from ${sql.table(table)} where account_id = ${other}`.execute(db.query);
      expect([table, left.rows]).toEqual([table, []]);
    }
  });
});

function filterOf(
  { agentIds, timeOfDay, color, ...same }: GivenFilter,
  agents: readonly string[],
): CallFilter {
  return {
    ...same,
    agentIds: agentIds?.map((index) => agents[index] ?? ""),
    timeOfDayStart: timeOfDay?.[0],
    timeOfDayEnd: timeOfDay?.[1],
    metadata: color === undefined ? undefined : { color },
  };
}

/** Whether counters or an index alone provide the number of calls. */
function isKnown(filter: GivenFilter): boolean {
  const names = Object.keys(filter);
  const ofTime = names.every((name) => ["fromDate", "toDate"].includes(name));
  const ofAgents = names.every((name) => name === "agentIds");
  const ofOneAgent = names.every((name) => ["agentIds", "fromDate", "toDate"].includes(name));
  return ofTime || ofAgents || (ofOneAgent && filter.agentIds?.length === 1);
}
