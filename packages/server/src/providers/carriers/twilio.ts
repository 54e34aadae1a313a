/** Twilio (telephony1): calls by its REST interface of 2010, with the instructions in the request. */

import type { Carrier, CarrierAccount, CarrierFinding, DialIntent } from "../../ports/carriers.ts";
import { callIdIn, statusOf } from "./call-status.ts";
import {
  askCarrier,
  basicAuth,
  checkBy,
  cleaned,
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
import { isSignedByTwilio } from "./signatures.ts";
import { HANG_UP_XML, sayAndHangUp, twilioStream } from "./stream-xml.ts";
import { openTwilioTransfers } from "./transfers/open-transfers.ts";

export const TWILIO_URL = "https://api.twilio.com";
const CARRIER = "Twilio";

/** The carrier adds about 5 s to the time that a phone rings; its bounds are 5 s and 600 s. */
const ADDED_RING_MS = 5_000;
const RING_SECONDS = { least: 5, most: 600 } as const;
const DAY_SECONDS = 86_400;

export function openTwilio(http: CarrierHttp): Carrier {
  return {
    async dial(account, intent, signal) {
      const body = formOf(paramsOf(intent));
      if (typeof body !== "string") {
        const reason = `additionalParams.${body.unfit} must be a text, a number, true or false, or a list of these`;
        return refusedHere(reason);
      }
      return dialBy(() => askCarrier(http, post(account, "/Calls.json", body), signal), readingOf(account));
    },
    hangUp(account, carrierCallId, signal) {
      // Also ends calls that are queued or ringing.
      const path = `/Calls/${encodeURIComponent(carrierCallId)}.json`;
      const request = post(account, path, "Status=completed");
      return hangUpBy(() => askCarrier(http, request, signal), readingOf(account));
    },
    check: (account, _place, signal) => checkAccount(http, account, signal),
    claims: (headers) => headerOf(headers, "x-twilio-signature") !== "",
    isSigned({ secrets }, { url, headers, body }) {
      const isForm = /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(headerOf(headers, "content-type"));
      const params = isForm ? readForm(body) : null;
      if (isForm && params === null) return false;
      const signature = headerOf(headers, "x-twilio-signature");
      return isSignedByTwilio(secrets["authToken"] ?? "", signature, { url, params, body });
    },
    readFields: ({ body }) => readFields(body),
    readCallId: (fields) => callIdIn(fields.get("CallSid")),
    readStatus: (fields) =>
      statusOf({
        id: fields.get("CallSid"),
        status: fields.get("CallStatus"),
        answeredBy: fields.get("AnsweredBy"),
        seconds: fields.get("CallDuration"),
        detail: [fields.get("ErrorCode"), fields.get("ErrorMessage"), fields.get("SipResponseCode")],
      }),
    connectTo: twilioStream,
    hangUpXml: HANG_UP_XML,
    sayAndHangUp: (sentence) => sayAndHangUp("Say", sentence),
    transfers: openTwilioTransfers({
      http,
      readingOf,
      redirection: (account, carrierCallId, url) =>
        post(
          account,
          `/Calls/${encodeURIComponent(carrierCallId)}.json`,
          new URLSearchParams({ Url: url, Method: "POST" }).toString(),
        ),
    }),
  };
}

function paramsOf(intent: DialIntent): Record<string, unknown> {
  const { statusUrl, ringTimeoutMs, maxDurationMs, additionalParams } = intent;
  const detects = Object.keys(additionalParams).some((name) => name.toLowerCase() === "machinedetection");
  const defaults = {
    StatusCallback: statusUrl,
    StatusCallbackMethod: "POST",
    StatusCallbackEvent: ["initiated", "ringing", "answered", "completed"],
    Timeout: secondsOf(ringTimeoutMs - ADDED_RING_MS, RING_SECONDS.least, RING_SECONDS.most),
    TimeLimit: secondsOf(maxDurationMs, 1, DAY_SECONDS),
    // The person called does not wait in silence for the result.
    ...(detects ? { AsyncAmd: "true", AsyncAmdStatusCallback: statusUrl } : {}),
  };
  const controlled = { To: intent.to, From: intent.from, Twiml: twilioStream(intent.stream) };
  return mergedParams(defaults, additionalParams, controlled);
}

/** Lists repeat the name. */
function formOf(params: Readonly<Record<string, unknown>>): string | { readonly unfit: string } {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const one of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
      if (typeof one !== "string" && typeof one !== "number" && typeof one !== "boolean")
        return { unfit: name };
      form.append(name, String(one));
    }
  }
  return form.toString();
}

function post({ settings, secrets }: CarrierAccount, path: string, body: string | null): CarrierPost {
  const { accountSid = "" } = settings;
  return {
    method: body === null ? "GET" : "POST",
    path: `/2010-04-01/Accounts/${encodeURIComponent(accountSid)}${path}`,
    headers: {
      authorization: basicAuth(accountSid, secrets["authToken"] ?? ""),
      ...(body === null ? {} : { "content-type": "application/x-www-form-urlencoded" }),
    },
    body,
  };
}

function readingOf({ secrets }: CarrierAccount): AnswerReading {
  return {
    carrier: CARRIER,
    callIdOf: (json) => idAt(json, "sid"),
    reasonOf(json) {
      const message = textAt(json, "message");
      const code = textAt(json, "code");
      return message === null || code === null ? message : `${message} (error ${code})`;
    },
    secrets: Object.values(secrets),
  };
}

function checkAccount(
  http: CarrierHttp,
  account: CarrierAccount,
  signal: AbortSignal,
): Promise<readonly CarrierFinding[]> {
  const reading = readingOf(account);
  const request = post(account, ".json", null);
  return checkBy(
    () => askCarrier(http, request, signal),
    reading,
    (answer) => findingsOf(answer, reading),
  );
}

function findingsOf(answer: CarrierAnswer, reading: AnswerReading): readonly CarrierFinding[] {
  if (answer.status === 401 || answer.status === 404) {
    const message =
      "Twilio does not know this pair of accountSid and authToken. Copy both from the start page of the Twilio Console; a key of the API does not work here, because it signs no webhooks.";
    return [{ severity: "error", field: "authToken", message }];
  }
  if (answer.status !== 200) return [refusedCheck(answer, reading)];
  const status = textAt(answer.json, "status");
  if (status !== "active") {
    const message = `Twilio says that the account is ${cleaned(status ?? "unknown", reading.secrets)}, so it makes no calls.`;
    return [{ severity: "error", field: "accountSid", message }];
  }
  if (textAt(answer.json, "type") !== "Trial") return [];
  const message = "This is a trial account: Twilio calls only the numbers that are verified there.";
  return [{ severity: "warning", field: "accountSid", message }];
}
