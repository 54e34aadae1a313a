import { randomUUID } from "node:crypto";
import { CONFIGURED_CARRIERS } from "@parley/schema";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { describeOnBothDatabases, newAccount } from "../../store/testing/databases.ts";
import { intendDial, noteDialled } from "../../store/telephony/carrier-dials.ts";
import {
  carriersOf,
  configureCarriers,
  NUMBERS,
  openFakes,
  storeDialledCall,
  type Fakes,
} from "../../telephony/testing/telephony-account.ts";
import { hangUpHandler, hangUpJob, type CallToHangUp } from "./hang-up.ts";

const CALL_ID = "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11";

describeOnBothDatabases("the end of a call at its carrier", (current) => {
  let fakes: Fakes;
  let warnings: string[] = [];

  beforeAll(async () => {
    fakes = await openFakes();
  });
  afterAll(async () => {
    await Promise.all(CONFIGURED_CARRIERS.map((carrier) => fakes[carrier].stop()));
  });
  beforeEach(() => {
    warnings = [];
  });

  const hangUp = async (data: CallToHangUp): Promise<void> => {
    const log = { warn: (_fields: object, message: string) => void warnings.push(message) };
    const run = hangUpHandler({ db: current().db, carriers: carriersOf(fakes), log });
    const signal = new AbortController().signal;
    await run({ jobId: randomUUID(), data: hangUpJob.read(data), signal });
  };
  /** Has been answered, and goes on. */
  async function runningCall(accountId: string): Promise<string> {
    const { db } = current();
    const { callId } = await storeDialledCall(db, accountId, "telephony1");
    await intendDial(db, accountId, { callId, carrier: "telephony1", number: NUMBERS.to });
    const { carrier, account, placed } = fakes.telephony1;
    const stream = {
      streamUrl: "wss://voice.example/s",
      returnUrl: "https://voice.example/r",
      pauseSeconds: 0,
    };
    const intent = { ...NUMBERS, additionalParams: {}, stream, statusUrl: "https://voice.example/c" };
    const times = { instructionsUrl: "", ringTimeoutMs: 30_000, maxDurationMs: 60_000 };
    await carrier.dial(account, { ...intent, ...times }, new AbortController().signal);
    const id = placed().at(-1)?.id ?? "";
    await noteDialled(db, accountId, callId, id);
    return callId;
  }

  it("is that of the dial, or of the stream that the job names", async () => {
    const { accountId } = await configureCarriers(current().db, fakes);
    const callId = await runningCall(accountId);
    const id = fakes.telephony1.placed().at(-1)?.id ?? "";
    await hangUp({ accountId, callId });
    expect(fakes.telephony1.ended()).toContain(id);
    await runningCall(accountId);
    const carrierCallId = fakes.telephony1.placed().at(-1)?.id ?? "";
    await hangUp({ accountId, callId: CALL_ID, at: { carrier: "telephony1", carrierCallId } });
    expect(fakes.telephony1.ended()).toContain(carrierCallId);
    // It is over already.
    await hangUp({ accountId, callId: CALL_ID, at: { carrier: "telephony1", carrierCallId } });
    expect(warnings).toEqual([]);
  });

  it("is tried again when the carrier fails, and not without a configuration", async () => {
    const { db } = current();
    const { accountId } = await configureCarriers(db, fakes);
    const at = { carrier: "telephony1", carrierCallId: "CA1" } as const;
    fakes.telephony1.failWith({ kind: "answers", status: 503, body: "<html></html>" });
    await expect(hangUp({ accountId, callId: CALL_ID, at })).rejects.toThrow("503");
    fakes.telephony1.failWith(null);
    await hangUp({ accountId: await newAccount(db), callId: CALL_ID, at });
    expect(warnings).toHaveLength(1);
  });

  it.each([
    { at: {} },
    { at: null },
    { at: { carrier: "sip", carrierCallId: "x" } },
    { at: { carrier: "telephony1" } },
  ])("is refused as data of a job: %j", (wrong) => {
    expect(() => hangUpJob.read({ accountId: "a", callId: CALL_ID, ...wrong })).toThrow("names no call");
  });
});
