/** Plivo (telephony3): calls by its REST interface; the carrier fetches its instructions when a call is answered. */

import type { Carrier, CarrierAccount, CarrierFinding, DialIntent } from "../../ports/carriers.ts";
import { callIdIn, statusOf } from "./call-status.ts";
import {
  askCarrier,
  basicAuth,
  checkBy,
  dialBy,
  hangUpBy,
  idAt,
  mergedParams,
  refusedCheck,
  refusedHere,
  secondsOf,
  textAt,
  type AnswerReading,
  type CarrierAnswer,
  type CarrierHttp,
  type CarrierPost,
} from "./carrier-http.ts";
import { headerOf, readFields, readForm } from "./form.ts";
import { isSignedByPlivo } from "./signatures.ts";
import { HANG_UP_XML, plivoStream, sayAndHangUp } from "./stream-xml.ts";
import { openPlivoTransfers } from "./transfers/open-transfers.ts";

export const PLIVO_URL = "https://api.plivo.com";
const CARRIER = "Plivo";

const RING_SECONDS = { least: 5, most: 600 } as const;
const DAY_SECONDS = 86_400;

export function openPlivo(http: CarrierHttp): Carrier {
  return {
    async dial(account, intent, signal) {
      // The carrier would dial each of the numbers.
      if (intent.to.includes("<")) {
        const reason = "outgoing.to must be one number";
        return refusedHere(reason);
      }
      const request = post(account, "/Call/", JSON.stringify(paramsOf(intent)));
      return dialBy(() => askCarrier(http, request, signal), readingOf(account));
    },
    async hangUp(account, carrierCallId, signal) {
      const id = encodeURIComponent(carrierCallId);
      const reading = readingOf(account);
      // An answered call has another resource than a request that is queued or rings.
      const answered = await hangUpBy(
        () => askCarrier(http, remove(account, `/Call/${id}/`), signal),
        reading,
      );
      if (answered.kind === "failed") return answered;
      return hangUpBy(() => askCarrier(http, remove(account, `/Request/${id}/`), signal), reading);
    },
    check: (account, _place, signal) => checkAccount(http, account, signal),
    claims: (headers) => headerOf(headers, "x-plivo-signature-v3") !== "",
    isSigned({ secrets }, { url, headers, body }) {
      const params = readForm(body);
      const signatures = headerOf(headers, "x-plivo-signature-v3");
      const nonce = headerOf(headers, "x-plivo-signature-v3-nonce");
      return (
        params !== null && isSignedByPlivo(secrets["authToken"] ?? "", { signatures, nonce }, url, params)
      );
    },
    readFields: ({ body }) => readFields(body),
    readCallId: (fields) => callIdIn(fields.get("CallUUID") ?? fields.get("RequestUUID")),
    readStatus(fields) {
      const isMachine = fields.get("Machine")?.toLowerCase() === "true";
      return statusOf({
        id: fields.get("CallUUID") ?? fields.get("RequestUUID"),
        status: fields.get("CallStatus"),
        answeredBy: isMachine ? "machine" : undefined,
        seconds: fields.get("Duration"),
        detail: [fields.get("HangupCause"), fields.get("HangupCauseName")],
      });
    },
    connectTo: plivoStream,
    hangUpXml: HANG_UP_XML,
    sayAndHangUp: (sentence) => sayAndHangUp("Speak", sentence),
    transfers: openPlivoTransfers({
      http,
      readingOf,
      redirection: (account, carrierCallId, url) => {
        const body = { legs: "aleg", aleg_url: url, aleg_method: "POST" };
        return post(account, `/Call/${encodeURIComponent(carrierCallId)}/`, JSON.stringify(body));
      },
    }),
  };
}

function paramsOf(intent: DialIntent): Record<string, unknown> {
  const { statusUrl, instructionsUrl, ringTimeoutMs, maxDurationMs, additionalParams } = intent;
  const detects = "machine_detection" in additionalParams;
  const defaults = {
    ring_url: statusUrl,
    ring_method: "POST",
    hangup_url: statusUrl,
    hangup_method: "POST",
    ring_timeout: secondsOf(ringTimeoutMs, RING_SECONDS.least, RING_SECONDS.most),
    time_limit: secondsOf(maxDurationMs, 1, DAY_SECONDS),
    ...(detects ? { machine_detection_url: statusUrl, machine_detection_method: "POST" } : {}),
  };
  const controlled = {
    to: intent.to,
    from: intent.from,
    answer_url: instructionsUrl,
    answer_method: "POST",
  };
  return mergedParams(defaults, additionalParams, controlled);
}

/** Trailing slashes matter to the carrier. */
function post(account: CarrierAccount, path: string, body: string): CarrierPost {
  const { headers, path: whole } = remove(account, path);
  return { method: "POST", path: whole, headers: { ...headers, "content-type": "application/json" }, body };
}

function remove({ settings, secrets }: CarrierAccount, path: string): CarrierPost {
  const { authId = "" } = settings;
  return {
    method: "DELETE",
    path: `/v1/Account/${encodeURIComponent(authId)}${path}`,
    headers: { authorization: basicAuth(authId, secrets["authToken"] ?? "") },
    body: null,
  };
}

function readingOf({ secrets }: CarrierAccount): AnswerReading {
  return {
    carrier: CARRIER,
    callIdOf: (json) => idAt(json, "request_uuid") ?? idAt(json, "request_uuid", 0),
    reasonOf: (json) => textAt(json, "error") ?? textAt(json, "error", "error") ?? textAt(json, "message"),
    secrets: Object.values(secrets),
  };
}

function checkAccount(
  http: CarrierHttp,
  account: CarrierAccount,
  signal: AbortSignal,
): Promise<readonly CarrierFinding[]> {
  const reading = readingOf(account);
  const request = { ...remove(account, "/"), method: "GET" } as const;
  return checkBy(
    () => askCarrier(http, request, signal),
    reading,
    (answer) => findingsOf(answer, reading),
  );
}

function findingsOf(answer: CarrierAnswer, reading: AnswerReading): readonly CarrierFinding[] {
  if (answer.status === 401 || answer.status === 404) {
    const message =
      "Plivo does not know this pair of authId and authToken. Copy both from the overview page of the Plivo Console.";
    return [{ severity: "error", field: "authToken", message }];
  }
  if (answer.status !== 200) return [refusedCheck(answer, reading)];
  const credits = Number(textAt(answer.json, "cash_credits") ?? Number.NaN);
  if (!(credits <= 0)) return [];
  const message = "The Plivo account has no credits left, so its calls fail.";
  return [{ severity: "warning", field: "authId", message }];
}
