/** Binds the carriers to the store, the calls and the jobs. */

import { CONFIGURED_CARRIERS } from "@parley/schema";
import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import { hangUpJob } from "../../jobs/definitions/hang-up.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import type { LeftCall } from "../../joins/find-join.ts";
import type { CreateCall, CreateCallInput } from "../../lifecycle/api.ts";
import type { PrepareDial } from "../../lifecycle/create/dialling.ts";
import { openGuardedClient } from "../../net/guarded-fetch.ts";
import { messageOf } from "../../pacing/error-text.ts";
import type { Carriers } from "../../ports/carriers.ts";
import { openCarriers } from "../../providers/carriers/carriers.ts";
import { CONSULTATION_TOOLS } from "../../plan/tool-plan.ts";
import type { ToolInvoker } from "../../ports/tool-invoker.ts";
import type { CallDirectory } from "../../ports/nodes/call-directory.ts";
import type { LiveCalls } from "../../runner/live-calls.ts";
import type { Store } from "../../store/opening/open-store.ts";
import type { CarrierRequests } from "../../telephony/api.ts";
import { noteInCall } from "../../telephony/call-notes.ts";
import { createCarrierRequests } from "../../telephony/carrier-requests.ts";
import { createDialling } from "../../telephony/dial-calls.ts";
import { watchEndedDials } from "../../telephony/ended-dials.ts";
import type { CarrierLeg } from "../../telephony/transfers/attempts.ts";
import { createConsultationAnswers } from "../../telephony/transfers/consultation-answers.ts";
import { watchLeftTransfers } from "../../telephony/transfers/left-transfers.ts";
import { createTransfers } from "../../telephony/transfers/transfer-calls.ts";
import { openTransferWaits } from "../../telephony/transfers/transfer-waits.ts";
import { carrierCallsAnywhere } from "../directory/calls-anywhere.ts";
import type { Metrics } from "../metrics.ts";

export interface CarrierParts {
  readonly config: Pick<Config, "carrierAddresses" | "maxJoinTimeoutMs" | "maxCallDurationMs">;
  readonly store: Store;
  readonly jobs: Pick<Jobs, "send" | "wake">;
  readonly liveCalls: LiveCalls;
  readonly directory: CallDirectory;
  readonly publicUrl: () => string;
  readonly metrics: Pick<Metrics, "telephony">;
  readonly logger: Logger;
}

export interface OpenedCarriers {
  readonly carriers: Carriers;
  readonly prepareDial: PrepareDial;
  /** Runs the tools that transfer calls, and those by which a called person takes a call or declines it. */
  readonly transfer: ToolInvoker["invoke"];
  readonly requests: (createCall: CreateCall) => CarrierRequests;
  /** Never throws. */
  readonly hangUpLeft: (call: LeftCall) => void;
}

/**
 * The addresses are the carriers' own or the operator's, so they may be private. Requests to carriers are aborted with
 * the stack; the outcome of a dial is then unknown.
 */
export function openCarrierCalls(opened: AsyncDisposableStack, parts: CarrierParts): OpenedCarriers {
  const { config, store, jobs, liveCalls, publicUrl, metrics, logger } = parts;
  const { db } = store;
  // A callback comes to any node.
  const carrierCalls = carrierCallsAnywhere(parts);
  const closing = new AbortController();
  opened.defer(() => closing.abort(new Error("the service is stopping")));
  const carriers = openCarriers(openGuardedClient({ allowed: true }), config.carrierAddresses);
  const watching = watchEndedDials({ db, liveCalls, logger });
  opened.defer(() => watching.stop());
  const hangUp = async (accountId: string, callId: string): Promise<void> => {
    await jobs.send(db, hangUpJob, { accountId, callId });
    jobs.wake(hangUpJob);
  };
  const basis = { db, carriers, publicUrl, hangUp, nowMs: Date.now, closing: closing.signal, logger };
  const waits = openTransferWaits();
  const { transferEnded, machineDetected } = metrics.telephony;
  const prepareDial = createDialling({
    ...basis,
    async warnCall(accountId, callId, text) {
      const note = { severity: "warning", type: "telephony.failed", text, extras: null } as const;
      await noteInCall(db, accountId, callId, note);
    },
  });
  const hangUpLeg = ({ accountId, callId, ...at }: CarrierLeg): void => {
    jobs
      .send(db, hangUpJob, { accountId, callId, at })
      .then(() => jobs.wake(hangUpJob))
      .catch((error: unknown) => {
        logger.warn(
          { callId, error: messageOf(error) },
          "the end of a call at its carrier could not be queued",
        );
      });
  };
  const sweeping = watchLeftTransfers({ ...basis, hangUpLeg });
  opened.defer(() => sweeping.stop());
  // Calls run tools only after `requests` was called.
  let create: CreateCall = () => Promise.reject(new Error("the service is starting"));
  const transfers = {
    ...basis,
    waits,
    liveCalls: carrierCalls,
    hangUpLeg,
    createCall: (input: CreateCallInput) => create(input),
    callLimits: { joinTimeoutMs: config.maxJoinTimeoutMs, maxDurationMs: config.maxCallDurationMs },
    counted: transferEnded,
  };
  return {
    carriers,
    prepareDial,
    transfer: chosenByTool(createTransfers(transfers), createConsultationAnswers(transfers)),
    hangUpLeft({ carrier, ...call }) {
      const configured = CONFIGURED_CARRIERS.find((name) => name === carrier);
      if (configured !== undefined) hangUpLeg({ ...call, carrier: configured });
    },
    requests(createCall) {
      create = createCall;
      const requests = { ...basis, waits, machineDetected, createCall, hangUpLeg };
      return createCarrierRequests({ ...requests, liveCalls: carrierCalls });
    },
  };
}

const ANSWERS: ReadonlySet<string> = new Set(CONSULTATION_TOOLS);

function chosenByTool(transfer: ToolInvoker["invoke"], answer: ToolInvoker["invoke"]): ToolInvoker["invoke"] {
  return (call, signal) => {
    const { implementation } = call;
    const isAnswer = implementation.kind === "builtIn" && ANSWERS.has(implementation.builtIn);
    return isAnswer ? answer(call, signal) : transfer(call, signal);
  };
}
