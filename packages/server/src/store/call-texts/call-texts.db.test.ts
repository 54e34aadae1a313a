import * as fc from "fast-check";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { createAgent } from "../agents/agents.ts";
import { eraseOldTranscripts } from "../calls/age-limits.ts";
import { appendCallEvent, type NewCallEvent } from "../calls/call-events.ts";
import type { CallFilter } from "../calls/call-filter.ts";
import { listCalls } from "../calls/call-list.ts";
import { getCall, insertCall, markJoined, type NewCall } from "../calls/calls.ts";
import { deleteCall } from "../calls/deleted-calls.ts";
import { appendMessage } from "../calls/messages.ts";
import { fixedTime } from "../database/database-time.ts";
import type { Db } from "../database/db.ts";
import type { PagePosition, PageRows, PositionColumns } from "../database/page.ts";
import { markEnded, newCall, newMessage } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";
import { indexDueTexts } from "./index-texts.ts";
import { pageOfSaid, saidLimits, type SaidShape } from "./said-calls.ts";

const first = { limit: 100, after: null, direction: "forward" } as const;
const START_MS = Date.parse("2026-03-01T00:00:00Z");

type Said = readonly (readonly ["user" | "agent", string])[];

async function say(db: Db, accountId: string, call: NewCall, said: Said, from = 0): Promise<void> {
  for (const [place, [role, text]] of said.entries()) {
    const message = newMessage(from + place, { role, text });
    await appendMessage(db, accountId, call.callId, call.stage.stageId, message);
  }
}

async function talk(db: Db, accountId: string, said: Said, changes: Partial<NewCall> = {}): Promise<NewCall> {
  const call = newCall(changes);
  await insertCall(db, accountId, call);
  await markJoined(db, accountId, call.callId, { joinedAtMs: call.createdAtMs, clientVersion: null });
  await say(db, accountId, call, said);
  const end = { endReason: "hangup", endedAtMs: call.createdAtMs + 5_000 } as const;
  await markEnded(db, accountId, call.callId, end);
  return call;
}

async function indexAll(db: Db, callsPerSpan?: number): Promise<void> {
  while (await indexDueTexts(db, callsPerSpan));
}

function turn(stageId: string, firstPlayedMs: number | null): NewCallEvent {
  return {
    stageId,
    callTimestampMs: 0,
    wallClockTimestampMs: 0,
    severity: "info",
    type: "turn.completed",
    text: "answered",
    extras: { firstPlayedMs },
  };
}

describeOnBothDatabases("transcripts of calls", (current) => {
  const found = async (accountId: string, transcriptSearch: string, filter: CallFilter = {}) => {
    const page = await listCalls(current().db, accountId, { ...filter, transcriptSearch }, first);
    expect([page.total, page.totalIsExact]).toEqual([page.rows.length, true]);
    return page.rows.map(({ callId }) => callId);
  };

  it("are searched by all words of both sides, in any case and language, in ended calls of the account", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const refund = await talk(
      db,
      accountId,
      [
        ["agent", "Good evening."],
        ["user", "I'd like a REFUND, please, for order 4711"],
      ],
      { initialMessages: [newMessage(7, { text: "zebra", timespan: null, wallClockTimespan: null })] },
    );
    const german = await talk(db, accountId, [["user", "Ich möchte die Straße ändern; 東京都へ"]], {
      createdAtMs: refund.createdAtMs + 1_000,
    });
    const other = await talk(db, await newAccount(db), [["user", "refund"]]);
    const running = newCall();
    await insertCall(db, accountId, running);
    await say(db, accountId, running, [["user", "refund"]]);
    expect(await found(accountId, "refund")).toEqual([]);
    await indexAll(db);
    expect(await found(accountId, "refund")).toEqual([refund.callId]);
    expect(await found(accountId, "Please EVENING ref 4711")).toEqual([refund.callId]);
    expect(await found(accountId, "refund street")).toEqual([]);
    expect(await found(accountId, "re")).toEqual([]);
    expect(await found(accountId, "zebra")).toEqual([]);
    expect(await found(accountId, "STRASSE")).toEqual([]);
    expect(await found(accountId, "STRAßE möchte")).toEqual([german.callId]);
    expect(await found(accountId, "東京")).toEqual([german.callId]);
    expect(await found(accountId, "京東")).toEqual([]);
    expect(await found(accountId, "' & ! | :* \\")).toEqual([]);
    expect(await found(other.callId, "refund")).toEqual([]);
    await say(db, accountId, refund, [["user", "And a late word: aftermath"]], 10);
    await indexAll(db);
    expect(await found(accountId, "aftermath evening")).toEqual([refund.callId]);
  });

  it("give lists the first words, and the median time of replies", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const call = newCall();
    await insertCall(db, accountId, call);
    await markJoined(db, accountId, call.callId, { joinedAtMs: call.createdAtMs, clientVersion: null });
    await say(db, accountId, call, [
      ["agent", "Welcome"],
      ["user", " "],
      ["user", `Hello ${"there ".repeat(100)}`],
    ]);
    for (const ms of [900.4, null, 300, 700]) {
      await appendCallEvent(db, accountId, call.callId, turn(call.stage.stageId, ms));
    }
    await markEnded(db, accountId, call.callId, { endReason: "hangup", endedAtMs: call.createdAtMs + 9 });
    const silent = await talk(db, accountId, [["agent", "Anybody?"]]);
    expect(await getCall(db, accountId, call.callId)).toMatchObject({
      firstWords: null,
      medianReplyMs: null,
    });
    await indexAll(db);
    const row = await getCall(db, accountId, call.callId);
    expect([row?.firstWords?.slice(0, 11), row?.firstWords?.length]).toEqual(["Hello there", 200]);
    expect(row?.medianReplyMs).toBe(700);
    expect(await getCall(db, accountId, silent.callId)).toMatchObject({
      firstWords: "Anybody?",
      medianReplyMs: null,
    });
  });

  it("are no longer searched when they are erased by age or with their call", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const day = 86_400_000;
    const old = await talk(db, accountId, [["user", "vermilion"]], { createdAtMs: START_MS });
    const unindexed = await talk(db, accountId, [["user", "vermilion"]], { createdAtMs: START_MS + 1 });
    await sql`delete from call_texts_due where call_id = ${unindexed.callId}`.execute(db.query);
    const young = await talk(db, accountId, [["user", "vermilion"]], { createdAtMs: START_MS + 8 * day });
    await indexAll(db);
    expect(await found(accountId, "vermilion")).toEqual([young.callId, old.callId]);
    await sql`insert into call_texts_due values (${unindexed.callId}, now())`.execute(db.query);
    await eraseOldTranscripts(db, 7, fixedTime(START_MS + 9 * day));
    await indexAll(db);
    expect(await found(accountId, "vermilion")).toEqual([young.callId]);
    expect((await getCall(db, accountId, old.callId))?.firstWords).toBeNull();
    expect(await deleteCall(db, accountId, young.callId)).toBe("deleted");
    const left = await sql`select 1 from call_texts where account_id = ${accountId}`.execute(db.query);
    expect(left.rows).toEqual([]);
  });

  it("are searched together with other filters", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const { agentId } = await createAgent(db, accountId, { name: "Porter", callTemplate: null });
    const said: Said = [["user", "hello taxi"]];
    const one = await talk(db, accountId, said, {
      agentId,
      createdAtMs: START_MS,
      metadata: { color: "red" },
    });
    const two = await talk(db, accountId, said, {
      createdAtMs: START_MS + 1_000,
      metadata: { color: "blue" },
    });
    const fault = { ...turn(two.stage.stageId, null), type: "llm.failed", severity: "warning" } as const;
    expect(await appendCallEvent(db, accountId, two.callId, fault)).toBe(true);
    await indexAll(db);
    expect(await found(accountId, "taxi", { agentIds: [agentId] })).toEqual([one.callId]);
    expect(await found(accountId, "taxi", { agentIds: [agentId], endReason: "timeout" })).toEqual([]);
    expect(await found(accountId, "taxi", { endReason: "hangup", status: "ended" })).toHaveLength(2);
    expect(await found(accountId, "taxi", { status: "running" })).toEqual([]);
    expect(await found(accountId, "taxi", { hasErrors: true })).toEqual([two.callId]);
    expect(await found(accountId, "taxi", { hasErrors: false })).toEqual([one.callId]);
    expect(await found(accountId, "taxi", { metadata: { color: "red" } })).toEqual([one.callId]);
    expect(await found(accountId, "taxi", { search: "blu" })).toEqual([two.callId]);
    expect(await found(accountId, "taxi", { durationMinMs: 6_000 })).toEqual([]);
    expect(await found(accountId, "taxi", { fromDate: "2026-03-01T00:00:01Z" })).toEqual([two.callId]);
    expect(await found(accountId, "boat", { metadata: { color: "red" } })).toEqual([]);
    const order = { field: "ended", descending: true } as const;
    await expect(listCalls(db, accountId, { transcriptSearch: "taxi" }, first, order)).rejects.toThrow(
      "sort",
    );
  });

  const WORDS = ["alpha", "beta", "gamma"] as const;
  const aWalk = fc.record({
    calls: fc.array(
      fc.record({
        minute: fc.nat({ max: 20 }),
        words: fc.subarray([...WORDS]),
        color: fc.constantFrom("red", "blue"),
      }),
      { minLength: 1, maxLength: 12 },
    ),
    search: fc.subarray([...WORDS], { minLength: 1, maxLength: 2 }),
    color: fc.option(fc.constantFrom("red", "blue")),
    minutes: fc.option(fc.nat({ max: 15 })),
    comparedCalls: fc.constantFrom(0, 3, 100),
    limit: fc.integer({ min: 1, max: 4 }),
    descending: fc.boolean(),
    callsPerSpan: fc.integer({ min: 1, max: 4 }),
    gone: fc.nat(),
  });

  it("have pages that show each match once and in order, there and back, whatever the spans are", async () => {
    const { db } = current();
    await fc.assert(
      fc.asyncProperty(aWalk, async ({ calls, search, color, minutes, limit, descending, ...rest }) => {
        const accountId = await newAccount(db);
        const made: { readonly id: string; readonly atMs: number; readonly matches: boolean }[] = [];
        const fromMs = START_MS + (minutes ?? 0) * 60_000;
        for (const { minute, words, color: own } of calls) {
          const createdAtMs = START_MS + minute * 60_000;
          const call = await talk(db, accountId, [["user", words.join(" ")]], {
            createdAtMs,
            metadata: { color: own },
          });
          const matches = search.every((word) => words.includes(word)) && (color ?? own) === own;
          made.push({ id: call.callId, atMs: createdAtMs, matches: matches && createdAtMs >= fromMs });
          // In small portions, so that spans end between them.
          if (made.length % 3 === 0) await indexAll(db, rest.callsPerSpan);
        }
        await indexAll(db, rest.callsPerSpan);
        const [gone] = made.splice(rest.gone % made.length, 1);
        await sql`delete from calls where id = ${gone?.id ?? ""}`.execute(db.query);
        const time = minutes === null ? [] : [sql`calls.created_at >= ${new Date(fromMs)}::timestamptz`];
        const others = color === null ? [] : [sql`calls.metadata ->> 'color' = ${color}`];
        const shape: SaidShape = {
          accountId,
          search: search.join(" "),
          facts: {},
          time,
          along: [sql`calls.account_id = ${accountId}`, ...time],
          others,
          ways: [others],
          descending,
        };
        const limits = {
          ...saidLimits,
          countedMatches: 3,
          spansAtOnce: 2,
          lookedUpSpans: 2,
          comparedCalls: rest.comparedCalls,
        };
        const expected = made
          .filter(({ matches }) => matches)
          .sort((a, b) => (a.atMs - b.atMs || (a.id < b.id ? -1 : 1)) * (descending ? -1 : 1))
          .map(({ id }) => id);
        const walk = async (direction: PagePosition["direction"], from: PagePosition): Promise<string[]> => {
          const seen: string[] = [];
          let position: PagePosition | null = from;
          while (position !== null) {
            const page = await pageOfSaid(db, shape, { ...position, limit }, limits);
            const ids = page.rows.map((row) => String(row.page_id));
            expect(page.totalIsExact ? page.total : Math.max(page.total, expected.length)).toBe(
              expected.length,
            );
            seen.push(...(direction === "forward" ? ids : ids.toReversed()));
            const back: PagePosition | null = direction === "forward" ? page.previous : page.next;
            expect(position.after === null && back !== null).toBe(false);
            position = direction === "forward" ? page.next : page.previous;
            // The link back leads to all that was before this page.
            const before: string[] = [];
            for (let at = back; at !== null;) {
              const earlier: PageRows<PositionColumns> = await pageOfSaid(
                db,
                shape,
                { ...at, limit },
                limits,
              );
              const own = earlier.rows.map((row) => String(row.page_id));
              before.push(...(direction === "forward" ? own.toReversed() : own));
              at = direction === "forward" ? earlier.previous : earlier.next;
            }
            expect(before.toReversed()).toEqual(seen.slice(0, seen.length - ids.length));
          }
          return seen;
        };
        expect(await walk("forward", { after: null, direction: "forward" })).toEqual(expected);
        const backward = await walk("backward", { after: null, direction: "backward" });
        expect(backward.toReversed()).toEqual(expected);
      }),
      { numRuns: 12 },
    );
  });
});
