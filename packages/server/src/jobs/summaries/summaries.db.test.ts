import { NO_EMBEDDING } from "../testing/no-embedding.ts";
import { randomUUID } from "node:crypto";
import { beforeEach, expect, it } from "vitest";
import { callEnder } from "../../lifecycle/end/ending.ts";
import { JOB_DEFINITIONS, jobsToRun } from "../../app/job-kinds.ts";
import { unfinishedCallJob } from "../definitions/finish-call.ts";
import type { LlmEngine, LlmRequest } from "../../ports/llm.ts";
import { openFakeLlm } from "../../ports/testing/fake-llm.ts";
import { eraseOldTranscripts } from "../../store/calls/age-limits.ts";
import { listCallEvents } from "../../store/calls/call-events.ts";
import { getCall, insertCall, markJoined } from "../../store/calls/calls.ts";
import { fixedTime } from "../../store/database/database-time.ts";
import type { Db } from "../../store/database/db.ts";
import { deleteCall, getDeletedCall } from "../../store/calls/deleted-calls.ts";
import { appendMessage, type NewMessage } from "../../store/calls/messages.ts";
import { DEFAULT_METERING } from "../../store/accounts/metering.ts";
import { markEnded, newCall, newMessage } from "../../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../../store/testing/databases.ts";
import { openJobs } from "../jobs.ts";
import { noCarriers } from "../testing/no-carriers.ts";
import { callSummarizer, type SummaryOutcome } from "./summarize-call.ts";

const LIMIT = { timeout: 60_000, interval: 20 };
const never = new AbortController().signal;
const silent = { warn: () => undefined, error: () => undefined };
const written = { summary: "A guest booked a table for two.", shortSummary: "A booking." };
const good = () => openFakeLlm({ reply: JSON.stringify(written) });
const none = { summary: null, shortSummary: null };

describeOnBothDatabases("summaries", (current) => {
  const outcomes: SummaryOutcome[] = [];
  const note = (outcome: SummaryOutcome): void => void outcomes.push(outcome);
  beforeEach(() => {
    outcomes.length = 0;
  });

  async function endedCall(
    messages: readonly Partial<NewMessage>[],
    options: { readonly languageHint?: string; readonly end?: boolean } = {},
  ): Promise<{ accountId: string; callId: string; stageId: string }> {
    const { db } = current();
    const accountId = await newAccount(db);
    const settings = { systemPrompt: "Be kind.", temperature: 0, languageHint: options.languageHint ?? null };
    const call = newCall({ stage: { stageId: randomUUID(), settings }, createdAtMs: Date.now() - 60_000 });
    await insertCall(db, accountId, call);
    const { callId } = call;
    const { stageId } = call.stage;
    await markJoined(db, accountId, callId, { joinedAtMs: call.createdAtMs, clientVersion: null });
    for (const [index, message] of messages.entries()) {
      await appendMessage(db, accountId, callId, stageId, newMessage(index, message));
    }
    if (options.end !== false) {
      const end = { endReason: "hangup", endedAtMs: call.createdAtMs + 5_000 } as const;
      await markEnded(db, accountId, callId, { ...end, settlesLater: true });
    }
    return { accountId, callId, stageId };
  }

  const summarizer = (llm: LlmEngine, limitMs?: number) =>
    callSummarizer({
      db: current().db,
      llm,
      contextWindowTokens: 24_000,
      log: silent,
      ended: note,
      ...(limitMs === undefined ? {} : { limitMs }),
    });

  async function failures(db: Db, accountId: string, callId: string): Promise<readonly object[]> {
    const filter = { minimumSeverity: "debug", type: "summary.failed" } as const;
    const page = { after: null, direction: "forward", limit: 10 } as const;
    return (await listCallEvents(db, accountId, callId, filter, page)).rows;
  }

  it("are made of what was said, and can be searched", async () => {
    const { db } = current();
    const requested: LlmRequest[] = [];
    const llm = openFakeLlm({
      reply: (request) => {
        requested.push(request);
        return JSON.stringify(written);
      },
    });
    const call = await endedCall(
      [
        { role: "agent", text: "Good evening." },
        { text: "A table for two, please." },
        { role: "tool_call", text: '{"secret":"x"}', invocationId: "1", toolName: "book" },
        { role: "tool_result", text: "hidden", invocationId: "1", toolName: "book" },
        { role: "agent", text: "It is booked." },
      ],
      { languageHint: "de" },
    );
    await summarizer(llm)(call, never);
    expect(await getCall(db, call.accountId, call.callId)).toMatchObject(written);
    expect(requested[0]?.language).toBe("de");
    const lines = requested[0]?.messages[0]?.text.split("\n").slice(1, -1);
    expect(lines).toEqual([
      '{"agent":"Good evening."}',
      '{"caller":"A table for two, please."}',
      '{"agent":"It is booked."}',
    ]);
    // A second attempt sends no request.
    await summarizer(llm)(call, never);
    expect(requested).toHaveLength(1);
    expect(outcomes).toEqual(["written"]);
    expect(await failures(db, call.accountId, call.callId)).toEqual([]);
  });

  it("are not made where the caller said nothing, or the call continues", async () => {
    const { db } = current();
    const silentCall = await endedCall([{ role: "agent", text: "Good evening." }]);
    const running = await endedCall([{ text: "Hello." }], { end: false });
    for (const call of [silentCall, running]) {
      await summarizer(good())(call, never);
      expect(await getCall(db, call.accountId, call.callId)).toMatchObject(none);
      expect(await failures(db, call.accountId, call.callId)).toEqual([]);
    }
  });

  it.each([
    ["fails", () => openFakeLlm({ failure: () => new Error("no more credit") }), /no more credit/],
    ["says something else", () => openFakeLlm({ reply: "Hello!" }), /contained no summary/],
    ["takes too long", () => openFakeLlm({ firstTextDelayMs: 60_000 }), /took too long/],
    ["does not keep to its port", () => ({ ...openFakeLlm(), generate: endless }), /took too long/],
  ])("are null with a warning where the model %s", async (_, open, text) => {
    const { db } = current();
    const call = await endedCall([{ text: "Hello." }]);
    await summarizer(open(), 500)(call, never);
    expect(await getCall(db, call.accountId, call.callId)).toMatchObject(none);
    const event = { stageId: call.stageId, severity: "warning", type: "summary.failed" };
    const times = { callTimestampMs: 5_000, wallClockTimestampMs: 5_000 };
    expect(await failures(db, call.accountId, call.callId)).toMatchObject([{ ...event, ...times }]);
    expect(await failures(db, call.accountId, call.callId)).toMatchObject([
      { text: expect.stringMatching(text) },
    ]);
    expect(outcomes).toEqual(["failed"]);
    // It is over: a second attempt sends neither a request nor a notification.
    await summarizer(good())(call, never);
    expect(await getCall(db, call.accountId, call.callId)).toMatchObject(none);
    expect(await failures(db, call.accountId, call.callId)).toHaveLength(1);
  });

  it("are left to another attempt where the service stops", async () => {
    const { db } = current();
    const call = await endedCall([{ text: "Hello." }]);
    const stopping = new AbortController();
    const llm = openFakeLlm({
      firstTextDelayMs: 60_000,
      reply: () => {
        setImmediate(() => stopping.abort(new Error("the service is stopping")));
        return "";
      },
    });
    await expect(summarizer(llm)(call, stopping.signal)).rejects.toThrow("the service is stopping");
    expect(await failures(db, call.accountId, call.callId)).toEqual([]);
    await summarizer(good())(call, never);
    expect(await getCall(db, call.accountId, call.callId)).toMatchObject(written);
  });

  it("are not written where the call is deleted, or its words erased, meanwhile", async () => {
    const { db } = current();
    const deleting = await endedCall([{ text: "Hello." }]);
    const erasing = await endedCall([{ text: "Hello." }]);
    const during = (work: () => Promise<unknown>): LlmEngine => ({
      ...good(),
      async *generate(request, signal) {
        await work();
        yield* good().generate(request, signal);
      },
    });
    const settled = callSummarizer({
      db,
      llm: during(async () => {
        await db.query
          .updateTable("calls")
          .set({ billing_status: "BILLED" })
          .where("id", "=", deleting.callId)
          .execute();
        expect(await deleteCall(db, deleting.accountId, deleting.callId)).toBe("deleted");
      }),
      contextWindowTokens: 24_000,
      log: silent,
      ended: note,
    });
    await settled(deleting, never);
    expect(await getCall(db, deleting.accountId, deleting.callId)).toBeNull();
    expect(await failures(db, deleting.accountId, deleting.callId)).toEqual([]);
    expect(await getDeletedCall(db, deleting.accountId, deleting.callId)).toMatchObject({
      hadSummary: false,
    });
    await summarizer(during(() => eraseOldTranscripts(db, 1, fixedTime(Date.now() + 86_400_000))))(
      erasing,
      never,
    );
    expect(await getCall(db, erasing.accountId, erasing.callId)).toMatchObject(none);
  });

  it("are there when the call is billed, and never keep it from that", async () => {
    const { store, db } = current();
    const jobs = await openJobs({ store, definitions: JOB_DEFINITIONS, log: silent });
    const deliver = (): void => undefined;
    let llm: LlmEngine = good();
    const engine: LlmEngine = { ...llm, generate: (request, signal) => llm.generate(request, signal) };
    const summaries = { llm: () => engine, contextWindowTokens: 24_000, log: silent, ended: note };
    const endCall = callEnder({ db, jobs, metering: DEFAULT_METERING, deliver });
    const removeFiles = (): Promise<void> => Promise.resolve();
    const log = { ...silent, info: () => undefined };
    const basis = { db, jobs, metering: DEFAULT_METERING, deliver, removeFiles, log, nowMs: Date.now };
    const parts = { ...basis, carriers: noCarriers, embedding: NO_EMBEDDING };
    await jobs.start(jobsToRun({ ...parts, corpora: null, summaries }));
    try {
      const billed = async (): Promise<unknown> => {
        const call = await endedCall([{ text: "Hello." }], { end: false });
        const end = { endReason: "hangup", endedAtMs: Date.now() } as const;
        await endCall(call.accountId, call.callId, end);
        const read = () => getCall(db, call.accountId, call.callId);
        await expect.poll(async () => (await read())?.billingStatus, LIMIT).toBe("BILLED");
        return read();
      };
      expect(await billed()).toMatchObject(written);
      llm = openFakeLlm({ failure: () => new Error("no") });
      expect(await billed()).toMatchObject(none);
      expect(outcomes).toEqual(["written", "failed"]);
    } finally {
      await jobs.close();
    }
  });

  it("leave a trace where every attempt was cut off, and the call is billed", async () => {
    const { store, db } = current();
    const jobs = await openJobs({ store, definitions: JOB_DEFINITIONS, log: silent });
    const deliver = (): void => undefined;
    const llm = openFakeLlm({ failure: () => new Error("nobody asks") });
    const summaries = { llm: () => llm, contextWindowTokens: 24_000, log: silent, ended: note };
    const removeFiles = (): Promise<void> => Promise.resolve();
    const log = { ...silent, info: () => undefined };
    const basis = { db, jobs, metering: DEFAULT_METERING, deliver, removeFiles, log, nowMs: Date.now };
    const parts = { ...basis, carriers: noCarriers, embedding: NO_EMBEDDING };
    await jobs.start(jobsToRun({ ...parts, corpora: null, summaries }));
    try {
      const [cutOff, summarized] = [
        await endedCall([{ text: "Hello." }]),
        await endedCall([{ text: "Hi." }]),
      ];
      await summarizer(good())(summarized, never);
      for (const { accountId, callId } of [cutOff, summarized, cutOff]) {
        await jobs.send(db, unfinishedCallJob, { accountId, callId });
        jobs.wake(unfinishedCallJob);
        const status = async () => (await getCall(db, accountId, callId))?.billingStatus;
        await expect.poll(status, LIMIT).toBe("BILLED");
      }
      const texts = await failures(db, cutOff.accountId, cutOff.callId);
      expect(texts).toMatchObject([{ text: expect.stringMatching(/every attempt was cut off/) }]);
      expect(await failures(db, summarized.accountId, summarized.callId)).toEqual([]);
      expect(outcomes).toEqual(["written", "given_up"]);
    } finally {
      await jobs.close();
    }
  });
});

/** Does not react to a signal. */
function endless(): AsyncIterable<never> {
  const next = (): Promise<never> => new Promise(() => undefined);
  return { [Symbol.asyncIterator]: () => ({ next }) };
}
