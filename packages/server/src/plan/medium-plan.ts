/** Compiles the medium of a call into its plan: rates, buffers, keys, and what its carrier does. */

import {
  DEFAULT_CLIENT_BUFFER_MS,
  isCarrierKind,
  MEDIUM_TRAITS,
  dialledBy,
  mediumKindOf,
  parseDurationMs,
} from "@parley/schema";
import type { CallMedium, CarrierKind, DtmfHandling } from "@parley/schema";
import type { DigitsPlan, MediumPlan } from "./plan.ts";

/** A shorter buffer than one frame cannot be kept filled (D119). */
const MIN_CLIENT_BUFFER_MS = 20;
/** A shorter wait would end calls over a network's hiccups (D120). */
const MIN_MEDIA_IDLE_MS = 10_000;

const URGENCIES = {
  URGENCY_IMMEDIATE: "immediate",
  URGENCY_SOON: "soon",
  URGENCY_LATER: "later",
} as const;

/** Of G.722, the first codec that is offered. */
const SIP_RATE_HZ = 16_000;
/** Opus is encoded and decoded at this rate. */
const WEB_RTC_RATE_HZ = 16_000;
/** @param isIncoming the call came to the service by its carrier */
export function mediumPlan(medium: CallMedium, isIncoming: boolean): MediumPlan {
  const kind = mediumKindOf(medium);
  if (isCarrierKind(kind)) {
    const isInstructed = isIncoming || dialledBy(medium) !== null;
    return carrierPlan(kind, medium, isInstructed);
  }
  if (kind === "webRtc") {
    return {
      kind: "webRtc",
      inputSampleRateHz: WEB_RTC_RATE_HZ,
      outputSampleRateHz: WEB_RTC_RATE_HZ,
      clientBufferSizeMs: MIN_CLIENT_BUFFER_MS,
      // The transport itself detects when nothing arrives any more.
      mediaIdleTimeoutMs: null,
    };
  }
  if (kind === "sip") {
    return {
      kind,
      inputSampleRateHz: SIP_RATE_HZ,
      outputSampleRateHz: SIP_RATE_HZ,
      clientBufferSizeMs: MIN_CLIENT_BUFFER_MS,
      // The transport itself detects when nothing arrives any more.
      mediaIdleTimeoutMs: null,
      digits: digitsPlan({}),
    };
  }
  const socket = medium.serverWebSocket;
  if (socket === undefined) throw new RangeError(`no plan for a call over ${kind}`);
  const { mediaIdleTimeout, clientBufferSizeMs = DEFAULT_CLIENT_BUFFER_MS } = socket;
  return {
    kind: "serverWebSocket",
    inputSampleRateHz: socket.inputSampleRate,
    outputSampleRateHz: socket.outputSampleRate ?? socket.inputSampleRate,
    clientBufferSizeMs: Math.max(MIN_CLIENT_BUFFER_MS, clientBufferSizeMs),
    mediaIdleTimeoutMs:
      mediaIdleTimeout === undefined
        ? null
        : Math.max(MIN_MEDIA_IDLE_MS, Math.round(parseDurationMs(mediaIdleTimeout))),
  };
}

/**
 * The parameter of the carrier by which it reports when the greeting of an answering machine has ended, or, at one, that a
 * machine has answered: the service then finds the beep itself.
 */
function detectsMessageEnd(medium: CallMedium): boolean {
  const plivo = medium.telephony3?.outgoing?.additionalParams?.["machine_detection"];
  if (plivo !== undefined) return plivo === true || plivo === "true";
  const params =
    medium.telephony1?.outgoing?.additionalParams ?? medium.telephony2?.outgoing?.additionalParams;
  return Object.entries(params ?? {}).some(
    ([name, value]) => name.toLowerCase() === "machinedetection" && value === "DetectMessageEnd",
  );
}

/** @param isInstructed the service writes the carrier's instructions */
function carrierPlan(kind: CarrierKind, medium: CallMedium, isInstructed: boolean): MediumPlan {
  const { rates, aheadMs } = MEDIUM_TRAITS[kind];
  return {
    kind,
    inputSampleRateHz: rates.inputHz,
    outputSampleRateHz: rates.outputHz,
    clientBufferSizeMs: aheadMs,
    // A dead connection is noticed by its pings; a carrier may send nothing while the line is silent.
    mediaIdleTimeoutMs: null,
    digits: digitsPlan(medium[kind]?.dtmfHandling ?? {}),
    ...(detectsMessageEnd(medium) ? { detectsMessageEnd: true } : {}),
    ...(isInstructed ? { returns: true } : {}),
  };
}

/** Unless the request says otherwise, keys are a message at once (D124). */
function digitsPlan({ ignore, userTextMessage: message }: DtmfHandling): DigitsPlan {
  if (ignore === true) return { kind: "ignored" };
  const { text = "{digits}", urgency = "URGENCY_IMMEDIATE" } = message ?? {};
  return { kind: "text", text, urgency: URGENCIES[urgency] };
}
