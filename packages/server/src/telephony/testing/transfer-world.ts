/** Transfers over the fakes of the carriers, which play what the carriers request of the service. */

import { randomUUID } from "node:crypto";
import { mediumKindOf, type ConfiguredCarrier, type ToolOutcome } from "@parley/schema";
import { vi } from "vitest";
import type { CreateCallInput, CreateCallOutcome } from "../../lifecycle/api.ts";
import { NOW_MS } from "../../ports/testing/carriers-conformance.ts";
import type { TransferNews } from "../../ports/testing/transfer-news.ts";
import type { ToolInvocation } from "../../ports/tool-invoker.ts";
import { listCallEvents } from "../../store/calls/call-events.ts";
import { insertCall, markJoined } from "../../store/calls/calls.ts";
import type { Db } from "../../store/database/db.ts";
import { intendDial, noteDialled } from "../../store/telephony/carrier-dials.ts";
import { newCall } from "../../store/testing/calls.ts";
import { changeDiallingRules } from "../../store/telephony/dialling-rules.ts";
import type { CarrierReply } from "../api.ts";
import { createDialling } from "../dial-calls.ts";
import { createCallbacks } from "../callbacks.ts";
import type { CarrierLeg, TransferDeps, TransferLimits } from "../transfers/attempts.ts";
import { createConsultationAnswers } from "../transfers/consultation-answers.ts";
import { createTransfers } from "../transfers/transfer-calls.ts";
import { createTransferRequests } from "../transfers/transfer-requests.ts";
import { openTransferWaits } from "../transfers/transfer-waits.ts";
import {
  carriersOf,
  configureCarriers,
  NUMBERS,
  PUBLIC_URL,
  storeDialledCall,
  type Fakes,
} from "./telephony-account.ts";

/** Reached only when something is wrong; the machine may be busy. */
export const PATIENT = { timeout: 30_000, interval: 20 };

export const TARGET = "+4930999999";
export const LIMITS: TransferLimits = {
  pollMs: 50,
  startMs: 600_000,
  endMs: 600_000,
  consultationEndMs: 600_000,
};
/** The carrier reads it, so the agent itself does not talk with the called person. */
export const SPOKEN_BRIEF = {
  transferMessageTemplate: "You are called. {context} Press 1 to take the call.",
};
export const signal = new AbortController().signal;

export interface AnsweredCall {
  readonly carrier: ConfiguredCarrier;
  readonly accountId: string;
  readonly callId: string;
  readonly joinToken: string;
  readonly carrierCallId: string;
}

export const intentOf = (callId: string) => ({
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

export function invocation(
  { accountId, callId }: Pick<AnsweredCall, "accountId" | "callId">,
  tool: "coldTransfer" | "warmTransfer" | "acceptTransfer" | "refuseTransfer",
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

export function xmlOf(reply: CarrierReply): string {
  if (reply.kind !== "xml") throw new Error(`not XML: ${reply.kind}`);
  return reply.xml;
}

export function textOf(outcome: ToolOutcome): string {
  return outcome.kind === "failed" ? outcome.text : `${outcome.responseType} ${outcome.result}`;
}

export class TransferWorld {
  readonly ended: string[] = [];
  readonly counted: string[] = [];
  /** What called persons hear before they are hung up; empty: nothing. */
  readonly parted: string[] = [];
  readonly hungUp: CarrierLeg[] = [];
  /** The calls to persons to whom callers are transferred. */
  readonly consultations: { readonly callId: string; readonly input: CreateCallInput }[] = [];
  readonly #db: Db;
  readonly #fakes: Fakes;

  constructor(db: Db, fakes: Fakes) {
    this.#db = db;
    this.#fakes = fakes;
  }

  /** The service; callbacks reach another process of it where `sharesProcess` is false. */
  opened(limits: TransferLimits = LIMITS, sharesProcess = true) {
    const waits = openTransferWaits();
    const basis = {
      db: this.#db,
      carriers: carriersOf(this.#fakes),
      publicUrl: () => PUBLIC_URL,
      nowMs: () => NOW_MS,
      logger: { warn: () => undefined, info: () => undefined },
    };
    const hangUpLeg = (leg: CarrierLeg): void => void this.hungUp.push(leg);
    const endCall = (callId: string): boolean => this.ended.push(callId) > 0;
    const deps: TransferDeps = {
      ...basis,
      waits,
      limits,
      closing: signal,
      hangUpLeg,
      callLimits: { joinTimeoutMs: 3_600_000, maxDurationMs: 3_600_000 },
      createCall: (input) => this.#dialled(input),
      liveCalls: {
        endCall,
        endUnjoined: () => false,
        sendToCall: (_callId, message) => {
          this.parted.push(message.type === "hang_up" ? message.message : "");
          return "accepted";
        },
      },
      counted: (_carrier, outcome) => this.counted.push(outcome),
    };
    const { transfer: request } = createTransferRequests({
      ...basis,
      waits: sharesProcess ? waits : openTransferWaits(),
      liveCalls: { endCall },
      hangUpLeg,
    });
    const { noteStatus } = createCallbacks({
      ...basis,
      liveCalls: { endCall, endUnjoined: () => false, noteAnswerer: () => false },
      machineDetected: () => undefined,
      hangUp: () => Promise.resolve(),
    });
    return { transfer: createTransfers(deps), answer: createConsultationAnswers(deps), request, noteStatus };
  }

  /** Stores the call and dials, by the rules of the account; nothing runs it. */
  async #dialled(input: CreateCallInput): Promise<CreateCallOutcome> {
    const { accountId, request } = input;
    const basis = { db: this.#db, carriers: carriersOf(this.#fakes), closing: signal, nowMs: () => NOW_MS };
    const logger = { warn: () => undefined, error: () => undefined };
    const none = () => Promise.resolve();
    const dialling = { ...basis, logger, publicUrl: () => PUBLIC_URL, hangUp: none, warnCall: none };
    const medium = request.medium ?? {};
    const dial = await createDialling(dialling)(accountId, medium, "medium");
    if (dial === null) throw new Error("the call is not dialled");
    if ("kind" in dial) return dial;
    const mediumKind = mediumKindOf(medium);
    const call = newCall({ mediumKind, settings: { medium } });
    const { callId, joinToken } = call;
    const refused = await dial.admit(callId);
    if (refused !== null) return refused;
    await insertCall(this.#db, accountId, call);
    const times = { joinTimeoutMs: 30_000, maxDurationMs: 240_000 };
    const undialled = await dial.place({ callId, joinToken: joinToken ?? "", ...times });
    if (undialled !== null) return undialled;
    this.consultations.push({ callId, input });
    return { kind: "created", callId };
  }

  /** A call that the service has dialled and that somebody has answered. */
  async answeredCall(carrier: ConfiguredCarrier): Promise<AnsweredCall> {
    const db = this.#db;
    const { accountId } = await configureCarriers(db, this.#fakes);
    const { callId, joinToken } = await storeDialledCall(db, accountId, carrier);
    await changeDiallingRules(db, accountId, { allowedPrefixes: ["+4930"] });
    const { account, carrier: adapter, answer } = this.#fakes[carrier];
    const outcome = await adapter.dial(account, intentOf(callId), signal);
    if (outcome.kind !== "placed") throw new Error(outcome.reason);
    const { carrierCallId } = outcome;
    await intendDial(db, accountId, { callId, carrier, number: NUMBERS.to });
    await noteDialled(db, accountId, callId, carrierCallId);
    await markJoined(db, accountId, callId, { joinedAtMs: NOW_MS - 5_000, clientVersion: null });
    answer(carrierCallId);
    return { carrier, accountId, callId, joinToken, carrierCallId };
  }

  /** Plays the carrier: sends requests about the transfer to their addresses, and refuses instructions as it would. */
  carrierOf(call: AnsweredCall, { request }: Pick<ReturnType<TransferWorld["opened"]>, "request">) {
    const fake = this.#fakes[call.carrier];
    const idIn = (): Promise<string> =>
      vi.waitFor(() => {
        const url = fake.redirected().findLast(({ id }) => id === call.carrierCallId)?.url;
        const transferId = /\/transfers\/([^/]+)\/instructions$/.exec(url ?? "")?.[1];
        if (transferId === undefined) throw new Error("the call was not redirected");
        return transferId;
      }, PATIENT);
    const asks = async (step: string, news: TransferNews, id = call.carrierCallId): Promise<CarrierReply> => {
      const transferId = await idIn();
      const url = `${PUBLIC_URL}/transfers/${transferId}/${step}`;
      const reply = await request(transferId, step, fake.sign(fake.transferFields(news, id), url));
      if (reply.kind !== "xml") return reply;
      const problems = fake.problemsIn(reply.xml, PLACES.get(step) ?? "call");
      // Plivo skips an end of the call in the place of a question or of music.
      const refused = problems.filter((problem) => !problem.startsWith("Hangup cannot be used"));
      if (refused.length > 0) throw new Error(`${refused.join("; ")}: ${reply.xml}`);
      return reply;
    };
    return { asks, idIn };
  }

  async eventsOf({ accountId, callId }: Pick<AnsweredCall, "accountId" | "callId">): Promise<string[]> {
    const every = { minimumSeverity: "debug", type: null } as const;
    const page = { limit: 100, after: null, direction: "forward" } as const;
    const { rows } = await listCallEvents(this.#db, accountId, callId, every, page);
    return rows.map(({ type, text }) => `${type}: ${text}`);
  }
}

const PLACES = new Map<string, "question" | "music">([
  ["question", "question"],
  ["answer", "question"],
  ["music", "music"],
]);
