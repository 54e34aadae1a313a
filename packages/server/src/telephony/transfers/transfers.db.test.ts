import { randomUUID } from "node:crypto";
import { CONFIGURED_CARRIERS, type ConfiguredCarrier, type ToolOutcome } from "@parley/schema";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { NOW_MS } from "../../ports/testing/carriers-conformance.ts";
import type { TransferNews } from "../../ports/testing/transfer-news.ts";
import type { ToolInvocation } from "../../ports/tool-invoker.ts";
import { listCallEvents } from "../../store/calls/call-events.ts";
import { insertCall, markJoined } from "../../store/calls/calls.ts";
import { eraseTransfersOf, sweepTransfers } from "../../store/telephony/call-transfers.ts";
import { intendDial, noteDialled } from "../../store/telephony/carrier-dials.ts";
import { changeDiallingRules } from "../../store/telephony/dialling-rules.ts";
import { markEnded, newCall } from "../../store/testing/calls.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { CarrierReply } from "../api.ts";
import {
  carriersOf,
  configureCarriers,
  NUMBERS,
  openFakes,
  PUBLIC_URL,
  storeDialledCall,
  type Fakes,
} from "../testing/telephony-account.ts";
import { createTransfers, type TransferLimits } from "./transfer-calls.ts";
import { createTransferRequests } from "./transfer-requests.ts";
import { openTransferWaits } from "./transfer-waits.ts";

const TARGET = "+4930999999";
const LIMITS: TransferLimits = { pollMs: 50, startMs: 600_000, endMs: 600_000 };
const signal = new AbortController().signal;

describeOnBothDatabases("transfers", (current) => {
  let fakes: Fakes;
  const ended: string[] = [];
  const counted: string[] = [];

  beforeAll(async () => {
    fakes = await openFakes();
  });
  afterAll(async () => {
    await Promise.all(CONFIGURED_CARRIERS.map((carrier) => fakes[carrier].stop()));
  });

  /** Two processes of the service: callbacks reach the other one where `waits` differ. */
  function opened(limits: TransferLimits = LIMITS, sharesProcess = true) {
    const { db } = current();
    const waits = openTransferWaits();
    const basis = { db, carriers: carriersOf(fakes), publicUrl: () => PUBLIC_URL, nowMs: () => NOW_MS };
    const logger = { warn: () => undefined, info: () => undefined };
    const transfer = createTransfers({
      ...basis,
      logger,
      waits,
      limits,
      closing: new AbortController().signal,
      counted: (_carrier, outcome) => counted.push(outcome),
    });
    const requests = createTransferRequests({
      ...basis,
      logger,
      waits: sharesProcess ? waits : openTransferWaits(),
      liveCalls: { endCall: (callId) => ended.push(callId) > 0 },
    });
    return { transfer, requests };
  }

  /** A call that the service has dialled and that somebody has answered. */
  async function answeredCall(carrier: ConfiguredCarrier) {
    const { db } = current();
    const { accountId } = await configureCarriers(db, fakes);
    const { callId, joinToken } = await storeDialledCall(db, accountId, carrier);
    await changeDiallingRules(db, accountId, { allowedPrefixes: ["+4930"] });
    const { account, carrier: adapter, answer } = fakes[carrier];
    const outcome = await adapter.dial(account, intentOf(callId), signal);
    if (outcome.kind !== "placed") throw new Error(outcome.reason);
    await intendDial(db, accountId, { callId, carrier, number: NUMBERS.to });
    await noteDialled(db, accountId, callId, outcome.carrierCallId);
    await markJoined(db, accountId, callId, { joinedAtMs: NOW_MS - 5_000, clientVersion: null });
    answer(outcome.carrierCallId);
    return { carrier, accountId, callId, joinToken, carrierCallId: outcome.carrierCallId };
  }
  type Answered = Awaited<ReturnType<typeof answeredCall>>;

  const intentOf = (callId: string) => ({
    ...NUMBERS,
    additionalParams: {},
    stream: {
      streamUrl: `wss://voice.example/calls/${callId}/telephony/token`,
      returnUrl: `${PUBLIC_URL}/calls/${callId}/carrier_instructions`,
      pauseSeconds: 0,
    },
    statusUrl: `${PUBLIC_URL}/calls/${callId}/carrier_status`,
    instructionsUrl: `${PUBLIC_URL}/calls/${callId}/carrier_instructions`,
    ringTimeoutMs: 30_000,
    maxDurationMs: 3_600_000,
  });

  function invocation(
    { accountId, callId }: Pick<Answered, "accountId" | "callId">,
    tool: "coldTransfer" | "warmTransfer",
    values: Readonly<Record<string, unknown>> = { target: TARGET },
    fixed: Readonly<Record<string, unknown>> = {},
  ): ToolInvocation {
    const location = "body" as const;
    return {
      invocationId: randomUUID(),
      accountId,
      callId,
      toolName: tool,
      implementation: { kind: "builtIn", builtIn: tool },
      values: [
        ...Object.entries(values).map(([name, value]) => ({ name, value, location })),
        ...Object.entries(fixed).map(([name, value]) => ({ name, value, location, fixed: true as const })),
      ],
      timeoutMs: 120_000,
    };
  }

  /** Plays the carrier: sends a request about the transfer to the address that it was given, and checks the answer. */
  function carrierOf(call: Answered, { requests }: ReturnType<typeof opened>) {
    const fake = fakes[call.carrier];
    const idIn = async (): Promise<string> =>
      vi.waitFor(() => {
        const url = fake.redirected().findLast(({ id }) => id === call.carrierCallId)?.url;
        const transferId = /\/transfers\/([^/]+)\/instructions$/.exec(url ?? "")?.[1];
        if (transferId === undefined) throw new Error("the call was not redirected");
        return transferId;
      });
    const asks = async (step: string, news: TransferNews, id = call.carrierCallId): Promise<CarrierReply> => {
      const transferId = await idIn();
      const request = fake.sign(
        fake.transferFields(news, id),
        `${PUBLIC_URL}/transfers/${transferId}/${step}`,
      );
      const reply = await requests.transfer(transferId, step, request);
      if (reply.kind === "xml") {
        const place = step === "question" || step === "answer" ? "question" : "call";
        const isEmpty = reply.xml.endsWith("<Response></Response>");
        const isHangUp = reply.xml.includes("<Hangup/>") || reply.xml.includes("<Hangup></Hangup>");
        if (step !== "music" && !isEmpty && !isHangUp) expect(fake.problemsIn(reply.xml, place)).toEqual([]);
      }
      return reply;
    };
    return { asks, idIn };
  }

  const xmlOf = (reply: CarrierReply): string => {
    if (reply.kind !== "xml") throw new Error(`not XML: ${reply.kind}`);
    return reply.xml;
  };
  const textOf = (outcome: ToolOutcome): string =>
    outcome.kind === "failed" ? outcome.text : `${outcome.responseType} ${outcome.result}`;
  const eventsOf = async ({ accountId, callId }: Answered): Promise<string[]> => {
    const every = { minimumSeverity: "debug", type: null } as const;
    const page = { limit: 100, after: null, direction: "forward" } as const;
    return (await listCallEvents(current().db, accountId, callId, every, page)).rows.map(
      ({ type, text }) => `${type}: ${text}`,
    );
  };

  it.each(CONFIGURED_CARRIERS)("%s connects a blind transfer, which ends the call", async (carrier) => {
    const call = await answeredCall(carrier);
    const service = opened();
    const done = service.transfer(invocation(call, "coldTransfer"), signal);
    const { asks } = carrierOf(call, service);
    const dial = xmlOf(await asks("instructions", "instructions"));
    expect(dial).toContain(TARGET);
    expect(dial).toContain(NUMBERS.from);
    // The carrier has lost the answer, and asks again.
    expect(xmlOf(await asks("instructions", "instructions"))).toBe(dial);
    expect(await asks("progress", "answered")).toEqual({ kind: "done" });
    expect(textOf(await done)).toBe("hang-up ");
    expect(xmlOf(await asks("end", "completed"))).toContain("Hangup");
    expect(await eventsOf(call)).toEqual([
      "telephony.transferring: the caller is being transferred",
      "telephony.transferred: the caller was transferred",
    ]);
    const { db } = current();
    const times = await sql<{ atMs: number }>`
      select wall_clock_timestamp_ms as "atMs" from call_events where call_id = ${call.callId}`.execute(
      db.query,
    );
    expect(times.rows).toEqual([{ atMs: 5_000 }, { atMs: 5_000 }]);
    const dials = await sql<{ number: string; talkedMs: number }>`
      select number, talked_ms as "talkedMs" from carrier_dials where account_id = ${call.accountId}
      and call_id <> ${call.callId}`.execute(db.query);
    expect(dials.rows).toEqual([{ number: TARGET, talkedMs: 42_000 }]);
  });

  it.each(CONFIGURED_CARRIERS)("%s brings the caller back when nobody can be reached", async (carrier) => {
    for (const [news, words] of [
      ["busy", "the line was busy"],
      ["no_answer", "nobody answered"],
      ["failed", "the carrier could not connect the call"],
    ] as const) {
      const call = await answeredCall(carrier);
      const service = opened();
      const done = service.transfer(invocation(call, "coldTransfer"), signal);
      const { asks } = carrierOf(call, service);
      await asks("instructions", "instructions");
      const back = xmlOf(await asks("end", news));
      expect(back).toContain(`/calls/${call.callId}/${carrier}/${call.joinToken}`);
      expect(textOf(await done)).toBe(`The tool failed: ${words}`);
      // Twice, and a late answer: the caller is with the agent.
      expect(xmlOf(await asks("end", news))).toBe(back);
      await asks("progress", "answered");
      expect((await eventsOf(call)).at(-1)).toBe(`telephony.failed: the transfer has failed: ${words}`);
    }
  });

  it.each(CONFIGURED_CARRIERS)(
    "%s asks before a warm transfer, which is taken or declined",
    async (carrier) => {
      for (const [key, words] of [
        ["key_1", "hang-up "],
        ["key_2", "The tool failed: the called person did not take the call"],
      ] as const) {
        const call = await answeredCall(carrier);
        const service = opened();
        const values = { target: TARGET, context: "Jane wants a refund." };
        const done = service.transfer(invocation(call, "warmTransfer", values), signal);
        const { asks } = carrierOf(call, service);
        await asks("instructions", "instructions");
        await asks("progress", "answered");
        expect(xmlOf(await asks("question", "question"))).toContain("Jane wants a refund. Press 1");
        await (carrier === "telephony3" ? asks("progress", key) : asks("answer", key));
        const end = xmlOf(await asks("end", "completed"));
        expect(end.includes(call.joinToken)).toBe(key === "key_2");
        expect(textOf(await done)).toBe(words);
      }
    },
  );

  it("takes a blind transfer as connected when only its end was reported", async () => {
    const call = await answeredCall("telephony1");
    const service = opened();
    const done = service.transfer(invocation(call, "coldTransfer"), signal);
    const { asks } = carrierOf(call, service);
    await asks("instructions", "instructions");
    expect(xmlOf(await asks("end", "completed"))).toContain("Hangup");
    expect(textOf(await done)).toBe("hang-up ");
  });

  it("ends the call when the caller hangs up meanwhile", async () => {
    const call = await answeredCall("telephony2");
    const service = opened();
    const done = service.transfer(invocation(call, "coldTransfer"), signal);
    const { asks } = carrierOf(call, service);
    await asks("instructions", "instructions");
    expect(xmlOf(await asks("end", "caller_gone"))).toContain("Hangup");
    expect(ended).toContain(call.callId);
    expect(textOf(await done)).toBe("The tool failed: the caller has hung up");
  });

  it("learns of callbacks that came to another process", async () => {
    const call = await answeredCall("telephony1");
    const service = opened(LIMITS, false);
    const done = service.transfer(invocation(call, "coldTransfer"), signal);
    const { asks } = carrierOf(call, service);
    await asks("instructions", "instructions");
    await asks("end", "busy");
    expect(textOf(await done)).toBe("The tool failed: the line was busy");
  });

  it.each(CONFIGURED_CARRIERS)("stays with the agent when %s refuses the transfer", async (carrier) => {
    const fake = fakes[carrier];
    for (const fault of [
      { kind: "answers", status: 400, body: fake.refusal("not possible") },
      { kind: "answers", status: 503, body: "<html></html>" },
    ] as const) {
      const call = await answeredCall(carrier);
      fake.failWith(fault);
      const outcome = await opened().transfer(invocation(call, "coldTransfer"), signal);
      fake.failWith(null);
      expect(textOf(outcome)).toMatch(/^The tool failed: \w+ answered HTTP (?:400: not possible|503)/);
      expect((await eventsOf(call)).at(-1)).toMatch(/^telephony\.failed: the transfer has failed/);
    }
  });

  it("fails when the answer was lost and the carrier begins nothing, and then dials nobody", async () => {
    const call = await answeredCall("telephony1");
    const service = opened({ ...LIMITS, startMs: 1 });
    fakes.telephony1.failWith({ kind: "answers", status: 502, body: "<html></html>" });
    const outcome = await service.transfer(invocation(call, "coldTransfer"), signal);
    fakes.telephony1.failWith(null);
    expect(textOf(outcome)).toBe("The tool failed: the carrier has not begun the transfer");
  });

  it("gives up a called person who does not take the call, and not a blind transfer", async () => {
    for (const [tool, words] of [
      ["warmTransfer", "The tool failed: nobody has taken the call in time"],
      ["coldTransfer", "hang-up "],
    ] as const) {
      const call = await answeredCall("telephony1");
      const service = opened({ pollMs: 5, startMs: 600_000, endMs: 1 });
      expect(textOf(await service.transfer(invocation(call, tool), signal))).toBe(words);
      // What the carrier fetches after that brings the caller back.
      const { asks } = carrierOf(call, service);
      expect(xmlOf(await asks("instructions", "instructions"))).toContain(call.joinToken);
    }
  });

  it("ends the attempt at the carrier when the call ends, but not a connected one", async () => {
    for (const isConnected of [false, true]) {
      const call = await answeredCall("telephony1");
      const aborting = new AbortController();
      const service = opened({ ...LIMITS, pollMs: 600_000 }, false);
      const done = service.transfer(invocation(call, "coldTransfer"), aborting.signal);
      const { asks } = carrierOf(call, service);
      await asks("instructions", "instructions");
      if (isConnected) await asks("progress", "answered");
      aborting.abort(new Error("the call has ended"));
      if (isConnected) expect(textOf(await done)).toBe("hang-up ");
      else await expect(done).rejects.toThrow("the call has ended");
      expect(fakes.telephony1.ended().includes(call.carrierCallId)).toBe(!isConnected);
    }
  });

  it("refuses numbers that the model may not choose, and says so in an event", async () => {
    const call = await answeredCall("telephony1");
    const { db } = current();
    const { transfer } = opened();
    const other = await transfer(invocation(call, "coldTransfer", { target: "+19005550100" }), signal);
    expect(textOf(other)).toMatch(/^The tool failed: target has none of the prefixes/);
    await changeDiallingRules(db, call.accountId, { allowedPrefixes: [] });
    const unlisted = await transfer(invocation(call, "coldTransfer"), signal);
    expect(textOf(unlisted)).toMatch(
      /may be chosen by the model only where the account allows some prefixes/,
    );
    expect(await eventsOf(call)).toHaveLength(2);
    expect((await eventsOf(call))[0]).toMatch(
      /^telephony\.failed: the transfer was refused: target has none/,
    );
    expect(fakes.telephony1.redirected().filter(({ id }) => id === call.carrierCallId)).toEqual([]);
    expect(counted.filter((outcome) => outcome === "refused").length).toBeGreaterThanOrEqual(2);
  });

  it("counts transfers among the dialled calls of the day", async () => {
    const call = await answeredCall("telephony1");
    await changeDiallingRules(current().db, call.accountId, { maxCallsPerDay: 2 });
    const service = opened();
    const done = service.transfer(invocation(call, "coldTransfer"), signal);
    const { asks } = carrierOf(call, service);
    await asks("instructions", "instructions");
    await asks("end", "busy");
    await done;
    expect(textOf(await service.transfer(invocation(call, "coldTransfer"), signal))).toBe(
      "The tool failed: the account's limit of dialled calls within 24 hours is reached",
    );
  });

  it("runs one transfer of a call at a time", async () => {
    const call = await answeredCall("telephony1");
    const service = opened();
    const first = service.transfer(invocation(call, "coldTransfer"), signal);
    const second = await service.transfer(invocation(call, "warmTransfer"), signal);
    expect(textOf(second)).toBe("The tool failed: another transfer of this call is under way");
    const { asks } = carrierOf(call, service);
    await asks("instructions", "instructions");
    await asks("end", "busy");
    await first;
  });

  it("transfers incoming calls by the carrier's id in the webhook, and no others", async () => {
    const { db } = current();
    const { accountId } = await configureCarriers(db, fakes);
    await changeDiallingRules(db, accountId, { allowedPrefixes: ["+49"] });
    const outcome = await fakes.telephony1.carrier.dial(fakes.telephony1.account, intentOf("c"), signal);
    const CallSid = outcome.kind === "placed" ? outcome.carrierCallId : "";
    fakes.telephony1.answer(CallSid);
    const stored = async (mediumKind: string, requestContext: object | null) => {
      const call = newCall({ mediumKind, requestContext });
      await insertCall(db, accountId, call);
      return { accountId, callId: call.callId, joinToken: call.joinToken ?? "", carrierCallId: CallSid };
    };
    const call = await stored("telephony1", { telephony1: { CallSid, To: "+4930111111" } });
    const service = opened();
    const done = service.transfer(invocation(call, "coldTransfer"), signal);
    const { asks } = carrierOf({ ...call, carrier: "telephony1" }, service);
    expect(xmlOf(await asks("instructions", "instructions"))).toContain("+4930111111");
    await asks("progress", "answered");
    expect(textOf(await done)).toBe("hang-up ");
    for (const [other, words] of [
      [await stored("webRtc", null), "calls over webRtc cannot be transferred"],
      [await stored("telephony4", null), "calls over telephony4 cannot be transferred"],
      [
        await stored("telephony1", null),
        "the carrier's id of the call is not known, so the call cannot be transferred",
      ],
    ] as const) {
      expect(textOf(await service.transfer(invocation(other, "coldTransfer"), signal))).toBe(
        `The tool failed: ${words}`,
      );
    }
  });

  it("answers nobody but the account's carrier, about the call that is transferred", async () => {
    const call = await answeredCall("telephony1");
    const service = opened();
    const done = service.transfer(invocation(call, "coldTransfer"), signal);
    const { asks, idIn } = carrierOf(call, service);
    const transferId = await idIn();
    const fake = fakes.telephony1;
    const url = `${PUBLIC_URL}/transfers/${transferId}/instructions`;
    const fields = fake.transferFields("instructions", call.carrierCallId);
    const unsigned = { ...fake.sign(fields, url), headers: {} };
    const { requests } = service;
    for (const reply of [
      await requests.transfer(transferId, "instructions", unsigned),
      await requests.transfer(randomUUID(), "instructions", fake.sign(fields, url)),
      await requests.transfer(transferId, "other", fake.sign(fields, url)),
      await asks("instructions", "instructions", "another-call"),
      await asks("end", "busy", "another-call"),
    ]) {
      expect(reply).toEqual({ kind: "forbidden" });
    }
    // A question or an answer that nobody has asked for connects nobody.
    expect(xmlOf(await asks("question", "question"))).toContain("Hangup");
    expect(xmlOf(await asks("answer", "key_1"))).toContain("Hangup");
    await asks("instructions", "instructions");
    await asks("end", "busy");
    expect(textOf(await done)).toBe("The tool failed: the line was busy");
  });

  it("says goodbye where the call has ended while somebody was dialled", async () => {
    const call = await answeredCall("telephony3");
    const service = opened();
    const done = service.transfer(invocation(call, "coldTransfer"), signal);
    const { asks } = carrierOf(call, service);
    await asks("instructions", "instructions");
    const end = { endReason: "hangup", endedAtMs: Date.now() } as const;
    await markEnded(current().db, call.accountId, call.callId, end);
    expect(xmlOf(await asks("end", "busy"))).toContain("this call is over");
    await done;
  });

  it("plays hold music where the carrier can", async () => {
    const call = await answeredCall("telephony3");
    const service = opened();
    const music = { holdMusicUrl: "https://example.com/music.mp3" };
    const done = service.transfer(invocation(call, "coldTransfer", { target: TARGET }, music), signal);
    const { asks } = carrierOf(call, service);
    expect(xmlOf(await asks("instructions", "instructions"))).toContain("/music");
    const played = xmlOf(await asks("music", "instructions"));
    expect(fakes.telephony3.problemsIn(played, "music")).toEqual([]);
    expect(played).toContain(music.holdMusicUrl);
    await asks("end", "busy");
    await done;
  });

  it("erases the words and numbers of a transfer with its call", async () => {
    const { db } = current();
    const call = await answeredCall("telephony1");
    const service = opened();
    const done = service.transfer(invocation(call, "coldTransfer"), signal);
    const { asks } = carrierOf(call, service);
    await asks("instructions", "instructions");
    const stored = await sql`select * from call_transfers where call_id = ${call.callId}`.execute(db.query);
    expect(stored.rows).toHaveLength(1);
    expect(JSON.stringify(stored.rows)).not.toContain(TARGET);
    await eraseTransfersOf(db, call.accountId, call.callId);
    expect(textOf(await done)).toBe("The tool failed: the call was deleted");
    const left =
      await sql`select number from carrier_dials where account_id = ${call.accountId} and number = ${TARGET}`.execute(
        db.query,
      );
    expect(left.rows).toEqual([]);
    expect(await sweepTransfers(db)).toBe(false);
  });
});
